package progress

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
)

// The marks at the beginning of a line that say how a step or threshold stands.
const (
	MarkGood    = "✓"
	MarkBad     = "✗"
	MarkDoubt   = "?"
	MarkRunning = "●"
	MarkAhead   = "·"
)

// View is the state of a run for a screen of that size: the block, and under it the
// ladder, the failures of the current step, the thresholds and what needs attention, as
// far as there is room.
func View(lt *v1beta1.LoadTest, now time.Time, width, height int) []string {
	lines := Block(lt, now, width)
	if text := Left(&lt.Status, now); text != "" {
		lines = append(lines, "  "+text)
	}
	rest := [][]string{thresholds(&lt.Status), failing(lt), attention(&lt.Status)}
	room := height - len(lines)
	for _, section := range rest {
		room -= len(section)
	}
	const fewest = 5 // a blank line, the heads, and three steps
	lines = append(lines, ladder(&lt.Status, width, max(room, fewest))...)
	for _, section := range rest {
		lines = append(lines, section...)
	}
	for i := range lines {
		lines[i] = cut(lines[i], width)
	}
	return lines[:min(len(lines), max(height, 1))]
}

// Left is how long the steps that are planned still take, "" while none runs.
func Left(s *v1beta1.LoadTestStatus, now time.Time) string {
	var sum time.Duration
	running := false
	for i := range s.Steps {
		step := &s.Steps[i]
		switch step.State {
		case v1beta1.StepRunning:
			running = true
			if step.StartTime != nil {
				sum += max(Length(&step.Load)-max(now.Sub(step.StartTime.Time), 0), 0)
			}
		case v1beta1.StepPending:
			sum += Length(&step.Load)
		}
	}
	if !running || sum <= 0 {
		return ""
	}
	text := "about " + sum.Round(time.Second).String() + " left"
	if s.Search != nil {
		text += " of this probe"
	}
	return text
}

// The columns of the ladder, by their place among report.RungHeads: all of them, and
// those for a screen of the usual width.
var (
	wide   = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	narrow = []int{0, 2, 4, 5, 7, 9}
)

const wideFrom = 100

// ladder is a table of the steps, those around the current one if there is no room for
// all.
func ladder(s *v1beta1.LoadTestStatus, width, room int) []string {
	columns := narrow
	if width >= wideFrom {
		columns = wide
	}
	rows, current := steps(s)
	if len(rows) == 0 {
		return nil
	}
	const around = 2 // the blank line and the heads
	show := min(max(room-around, 1), len(rows))
	first := min(max(current-show/2, 0), len(rows)-show)
	table := append([]row{{" ", report.RungHeads}}, rows[first:first+show]...)
	return append([]string{""}, layOut(table, columns)...)
}

// row is a line of the ladder: its mark, and the cells of a rung.
type row struct {
	mark  string
	cells []string
}

// steps are the rows of all steps but pauses, and the place of the current one.
func steps(s *v1beta1.LoadTestStatus) (rows []row, current int) {
	rungs := report.Rungs(s)
	for i := range s.Steps {
		step := &s.Steps[i]
		if step.Load.IsPause() {
			continue
		}
		if i <= int(s.CurrentStep) {
			current = len(rows)
		}
		cells := []string{report.Title(step), "", "", "", "", "", "", "", "", ""}
		if step.Result != nil {
			cells, rungs = rungs[0].Cells(), rungs[1:]
		}
		rows = append(rows, row{mark(step), cells})
	}
	return rows, current
}

func mark(step *v1beta1.StepStatus) string {
	switch {
	case step.State == v1beta1.StepPending:
		return MarkAhead
	case step.State == v1beta1.StepSkipped:
		return " "
	case step.ThresholdState == v1beta1.ThresholdFailed:
		return MarkBad
	case step.State == v1beta1.StepRunning:
		return MarkRunning
	case step.State == v1beta1.StepCut || step.ThresholdState == v1beta1.ThresholdInconclusive:
		return MarkDoubt
	}
	return MarkGood
}

// layOut lays the rows out in columns, all but the first to the right.
func layOut(rows []row, columns []int) []string {
	widths := make([]int, len(columns))
	for _, r := range rows {
		for i, column := range columns {
			widths[i] = max(widths[i], utf8.RuneCountInString(r.cells[column]))
		}
	}
	lines := make([]string, len(rows))
	for n, r := range rows {
		line := fmt.Sprintf("%s %-*s", r.mark, widths[0], r.cells[columns[0]])
		for i, column := range columns[1:] {
			line += fmt.Sprintf("  %*s", widths[i+1], r.cells[column])
		}
		lines[n] = strings.TrimRight(line, " ")
	}
	return lines
}

// failing are the failures of the current step by their class.
func failing(lt *v1beta1.LoadTest) []string {
	step := Current(lt)
	if step == nil || step.Result == nil || step.Result.Failed == 0 {
		return nil
	}
	var parts []string
	for _, class := range report.Failures(&step.Result.Counts) {
		if class.Count > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", class.Name, class.Count))
		}
	}
	return []string{"", "Failures  " + strings.Join(parts, " · ")}
}

// thresholds are how they stand, those that are breached first.
func thresholds(s *v1beta1.LoadTestStatus) []string {
	if len(s.Thresholds) == 0 {
		return nil
	}
	marks := map[v1beta1.ThresholdState]string{
		v1beta1.ThresholdFailed: MarkBad, v1beta1.ThresholdInconclusive: MarkDoubt,
		v1beta1.ThresholdPassed: MarkGood, v1beta1.ThresholdPending: MarkAhead,
	}
	order := []v1beta1.ThresholdState{v1beta1.ThresholdFailed, v1beta1.ThresholdInconclusive, v1beta1.ThresholdPassed, v1beta1.ThresholdPending}
	sorted := slices.Clone(s.Thresholds)
	slices.SortStableFunc(sorted, func(a, b v1beta1.ThresholdStatus) int {
		return slices.Index(order, a.State) - slices.Index(order, b.State)
	})
	lines := []string{""}
	for i := range sorted {
		t := &sorted[i]
		text := t.Message
		if text == "" {
			text = fmt.Sprintf("%s: %s", report.ThresholdName(t), t.Limit)
		}
		lines = append(lines, marks[t.State]+" "+text)
	}
	return lines
}

func attention(s *v1beta1.LoadTestStatus) []string {
	var lines []string
	for _, notice := range report.Attention(s) {
		lines = append(lines, MarkDoubt+" "+notice.Message)
	}
	if len(lines) > 0 {
		lines = append([]string{""}, lines...)
	}
	return lines
}
