package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Rung is a step that was measured, in a row of a table.
type Rung struct {
	Title, Due, Sent, Unsent, Failed, Goodput, P50, P95, P99, Judged string
}

// RungHeads are the heads of a rung's columns, in the order of Cells.
var RungHeads = []string{"step", "due", "sent", "unsent", "failed", "goodput", "p50", "p95", "p99", "thresholds"}

// Cells are a rung's columns, in the order of RungHeads.
func (r *Rung) Cells() []string {
	return []string{r.Title, r.Due, r.Sent, r.Unsent, r.Failed, r.Goodput, r.P50, r.P95, r.P99, r.Judged}
}

// Rungs are the steps that have a result, in order. A cell is "–" where nothing is
// known.
func Rungs(s *v1beta1.LoadTestStatus) []Rung {
	var list []Rung
	for i := range s.Steps {
		if s.Steps[i].Result != nil {
			list = append(list, rung(&s.Steps[i]))
		}
	}
	return list
}

// Bracketed are the same, with two values of a time if the generator's own delay is visible
// in it.
func Bracketed(s *v1beta1.LoadTestStatus, write func(*metav1.Duration) string) []Rung {
	list := Rungs(s)
	n := 0
	for i := range s.Steps {
		r := s.Steps[i].Result
		if r == nil {
			continue
		}
		if r.ResponseTime != nil {
			row := &list[n]
			for _, b := range Brackets(r.ResponseTime, r.WithoutGenerator) {
				switch b.Name {
				case "p50":
					row.P50 = b.Text(write)
				case "p95":
					row.P95 = b.Text(write)
				case "p99":
					row.P99 = b.Text(write)
				}
			}
		}
		n++
	}
	return list
}

// AnyBracketed says whether a time of a table of steps has two values.
func AnyBracketed(list []Rung) bool {
	return slices.ContainsFunc(list, func(r Rung) bool { return strings.Contains(r.P50+r.P95+r.P99, "(") })
}

func rung(step *v1beta1.StepStatus) Rung {
	r := step.Result
	row := Rung{
		Title: Title(step), Due: fmt.Sprint(r.Due), Sent: fmt.Sprint(r.Sent),
		Unsent: known(text.Percent(r.Offered())),
		Failed: known(text.Percent(r.Failed-r.Undecided, r.Sent-r.InFlight)),
		P50:    unknown, P95: unknown, P99: unknown,
		Goodput: known(text.Rate(r.Goodput)),
		Judged:  judged(step),
	}
	if l := r.ResponseTime; l != nil {
		row.P50, row.P95, row.P99 = Brief(l.P50), Brief(l.P95), Brief(l.P99)
	}
	return row
}

// judged is what the thresholds say of a step, and whether it lacks something.
func judged(step *v1beta1.StepStatus) string {
	said := known(string(ThresholdState(step)))
	switch step.State {
	case v1beta1.StepCut:
		return said + ", cut"
	case v1beta1.StepRunning:
		return said + ", running"
	}
	return said
}

// ThresholdState is the worst result of a step, of the thresholds with inRepetitions, too.
func ThresholdState(step *v1beta1.StepStatus) v1beta1.ThresholdState {
	order := []v1beta1.ThresholdState{v1beta1.ThresholdPending, v1beta1.ThresholdPassed, v1beta1.ThresholdInconclusive, v1beta1.ThresholdFailed}
	worst := step.ThresholdState
	for _, r := range step.Repeated {
		if slices.Index(order, r.State) > slices.Index(order, worst) {
			worst = r.State
		}
	}
	return worst
}

const unknown = "–"

func known(text string) string {
	if text == "" {
		return unknown
	}
	return text
}

// Brief is a time in two or three digits, "–" if it is not known.
func Brief(d *metav1.Duration) string {
	if d == nil {
		return unknown
	}
	return text.Short(d.Duration)
}

// ladder is a table of the steps, where there are several.
func (p *page) ladder() {
	rungs := Bracketed(&p.lt.Status, Brief)
	if len(rungs) < 2 {
		return
	}
	title := "Steps"
	if AnyBracketed(rungs) {
		title += " (" + InParentheses + ")"
	}
	p.line("")
	p.line("%s", title)
	rows := make([][]string, len(rungs))
	for i := range rungs {
		rows[i] = rungs[i].Cells()
	}
	p.table(RungHeads, rows)
}

// table has its columns as wide as their widest cell, all but the first to the right.
func (p *page) table(heads []string, rows [][]string) {
	for _, line := range aligned(heads, rows) {
		p.line("%s", line)
	}
}

// aligned are the lines of a table, the heads first.
func aligned(heads []string, rows [][]string) []string {
	rows = append([][]string{heads}, rows...)
	widths := make([]int, len(heads))
	for _, cells := range rows {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, len(rows))
	for n, cells := range rows {
		lines[n] = fmt.Sprintf("  %-*s", widths[0], cells[0])
		for i, cell := range cells[1:] {
			lines[n] += fmt.Sprintf("   %*s", widths[i+1], cell)
		}
	}
	return lines
}
