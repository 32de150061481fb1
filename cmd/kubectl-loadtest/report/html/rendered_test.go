package html_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// TestInABrowser shows the pages of LoadTests in every state, on a wide screen and
// on a phone, in light and dark.
func TestInABrowser(t *testing.T) {
	all, pages := states(t), contents(t)
	pages["unguarded"], pages["several"] = unguarded(t, pages["hostile"]), several(t)
	wide := browse(t, pages, "1000px")
	for name, lt := range all {
		t.Run(name, func(t *testing.T) { showsTheStatus(t, lt, wide[name]) })
	}
	rowsAre(t, wide["secure"], "TLS handshakes", [][]string{{"100 users", "1250", "1200", "2ms", "11ms", "1250", "30"}})
	rowsAre(t, wide["passed"], "TLS handshakes", nil)
	rowsAre(t, wide["several"], "Loads", [][]string{{"readers", "Passed"}, {"writers", "ended"}})
	if !strings.Contains(wide["several"].Text, "Load writers of sale, which ended it") || strings.Contains(wide["several"].Text, "Load readers of sale, which") {
		t.Error("the page does not say which load the run ended")
	}
	for name := range all {
		if name != "long" && name != "hostile" { // whose texts are the same everywhere
			eachSentenceOnce(t, name, wide[name].Prose)
		}
	}
	phone := browse(t, pages, "390px", "--blink-settings=preferredColorScheme=0")
	for name := range pages {
		sound(t, name+", wide", wide[name])
		sound(t, name+", phone", phone[name])
		if wide[name].Paper == phone[name].Paper {
			t.Errorf("%s: the paper is %s in light and dark", name, wide[name].Paper)
		}
	}
}

// eachSentenceOnce holds that a page says nothing twice: no sentence of more than six words.
func eachSentenceOnce(t *testing.T, name, prose string) {
	t.Helper()
	seen := map[string]bool{}
	for _, line := range strings.FieldsFunc(prose, func(r rune) bool { return r == '\n' || r == '\t' }) {
		for sentence := range strings.SplitSeq(line, ". ") {
			sentence = strings.TrimRight(squeezed(sentence), ".")
			if len(strings.Fields(sentence)) <= 6 {
				continue
			}
			if seen[sentence] {
				t.Errorf("%s: the page says twice: %q", name, sentence)
			}
			seen[sentence] = true
		}
	}
}

// sound is what holds for every page.
func sound(t *testing.T, name string, page rendered) {
	t.Helper()
	if page.Broken != "" || len(page.Foreign) > 0 {
		t.Errorf("%s: a foreign script ran (%q), or there are elements of a stranger: %q", name, page.Broken, page.Foreign)
	}
	if len(page.Dangling) > 0 || !page.Alive {
		t.Errorf("%s: links lead to no section: %q; the page's own script runs: %t", name, page.Dangling, page.Alive)
	}
	if len(page.Twice) > 0 {
		t.Errorf("%s: several elements have the id %q", name, page.Twice)
	}
	for _, section := range page.Folded {
		if section != "Conditions" && section != "Manifest" {
			t.Errorf("%s: %q is folded, or a section is not that should be", name, section)
		}
	}
	if len(page.Unnamed) > 0 {
		t.Errorf("%s: a screen reader has no name or scope for %q", name, page.Unnamed)
	}
	if page.Overflow > 0 {
		t.Errorf("%s: the page is %g pixels wider than the screen", name, page.Overflow)
	}
	shown := 0
	for _, p := range page.Plots {
		if !p.Hidden {
			shown++
		}
	}
	if 2*shown != len(page.Plots) {
		t.Errorf("%s: %d of %d plots are visible, want one of two shapes of each", name, shown, len(page.Plots))
	}
}

// showsTheStatus compares what is visible with what the status says.
func showsTheStatus(t *testing.T, lt *v1beta1.LoadTest, page rendered) {
	s := &lt.Status
	verdict := string(s.Verdict)
	if verdict == "" {
		verdict = string(s.Phase)
	}
	if s.Phase != "" && squeezed(page.Verdict) != squeezed(verdict) {
		t.Errorf("the verdict reads %q, want %q", page.Verdict, verdict)
	}
	if want := report.Judgement(s); squeezed(page.Sentence) != squeezed(want) {
		t.Errorf("the reason reads %q, want %q", page.Sentence, want)
	}
	if list := report.Attention(s); len(list) != len(page.Attention) {
		t.Errorf("%d attention lines, want %d", len(page.Attention), len(list))
	}
	steps := measuredSteps(s)
	rowsAre(t, page, "thresholds", thresholdRows(s))
	rowsAre(t, page, "outcomes", outcomeRows(steps))
	rowsAre(t, page, "Response time by step", quantileRows(steps, func(r *v1beta1.StepResult) (l, without *v1beta1.Latency) { return r.ResponseTime, r.WithoutGenerator }))
	rowsAre(t, page, "Response time of expected responses", quantileRows(steps, func(r *v1beta1.StepResult) (l, without *v1beta1.Latency) {
		return r.ExpectedResponseTime, r.ExpectedWithoutGenerator
	}))
	rowsAre(t, page, "Audits", auditRows(s))
	barsAre(t, page, steps)
	marksAre(t, s, page, slices.DeleteFunc(steps, func(s *v1beta1.StepStatus) bool { return s.Side == v1beta1.SideControl }))
	rest := strings.Join(strings.Fields(page.Text), "")
	for _, c := range s.Conditions {
		for sentence := range strings.SplitSeq(c.Message, ". ") {
			if !strings.Contains(rest, strings.Join(strings.Fields(sentence), "")) {
				t.Errorf("condition %s is missing: %q", c.Type, sentence)
			}
		}
	}
}

func measuredSteps(s *v1beta1.LoadTestStatus) []*v1beta1.StepStatus {
	var steps []*v1beta1.StepStatus
	for i := range s.Steps {
		if s.Steps[i].Result != nil {
			steps = append(steps, &s.Steps[i])
		}
	}
	return steps
}

// squeezed has no space that a browser may have folded.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

func thresholdRows(s *v1beta1.LoadTestStatus) [][]string {
	var rows [][]string
	messages := report.ThresholdResults(s)
	for i, t := range s.Thresholds {
		name := t.Name
		if t.Default {
			name += " (default)"
		}
		rows = append(rows, []string{string(t.State), name, t.Step, report.Observed(&t), t.Limit, messages[i]})
	}
	return rows
}

func outcomeRows(steps []*v1beta1.StepStatus) [][]string {
	var rows [][]string
	for _, step := range steps {
		row := []string{report.Title(step), ""}
		for _, n := range []int64{step.Result.Due, step.Result.Expected, step.Result.Failed, step.Result.InFlight, step.Result.Unsent, step.Result.Late} {
			row = append(row, fmt.Sprint(n))
		}
		rows = append(rows, row)
	}
	return rows
}

func quantileRows(steps []*v1beta1.StepStatus, of func(*v1beta1.StepResult) (l, without *v1beta1.Latency)) [][]string {
	var rows [][]string
	for _, step := range steps {
		l, without := of(step.Result)
		if l == nil {
			continue
		}
		row := []string{report.Title(step), fmt.Sprint(l.Samples)}
		if without == nil {
			without = l
		}
		times := func(l *v1beta1.Latency) []*metav1.Duration {
			return []*metav1.Duration{l.Min, l.Mean, l.P50, l.P75, l.P90, l.P95, l.P99, l.P999, l.P9999, l.Longest}
		}
		for i, d := range times(l) {
			if d == nil {
				row = append(row, "–")
				continue
			}
			cell := strings.ReplaceAll(text.Short(d.Duration), "us", "µs")
			if apart := d.Duration - times(without)[i].Duration; apart >= time.Millisecond && 50*apart > d.Duration {
				cell += "(" + strings.ReplaceAll(text.Short(times(without)[i].Duration), "us", "µs") + ")"
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

func auditRows(s *v1beta1.LoadTestStatus) [][]string {
	var rows [][]string
	results := report.AuditResults(s)
	for i, a := range s.Audits {
		rows = append(rows, []string{a.Name, string(a.State), results[i], fmt.Sprint(*a.Before), fmt.Sprint(*a.After), fmt.Sprint(*a.Change),
			fmt.Sprint(a.Acknowledged), fmt.Sprint(*a.Unknown)})
	}
	return rows
}

// rowsAre compares a table, in which numbers are grouped and units stand apart.
func rowsAre(t *testing.T, page rendered, name string, want [][]string) {
	t.Helper()
	var got [][]string
	for _, table := range page.Tables {
		if table.Name == name {
			got = table.Rows
		}
	}
	if len(got) != len(want) {
		t.Errorf("table %q has %d rows, want %d", name, len(got), len(want))
		return
	}
	for i := range want {
		for j := range want[i] {
			cell := squeezed(got[i][j])
			plain := strings.ReplaceAll(strings.ReplaceAll(cell, ",", ""), " ", "")
			if cell != squeezed(want[i][j]) && plain != want[i][j] {
				t.Errorf("table %q, row %d, column %d: %q, want %q", name, i, j, cell, want[i][j])
			}
		}
	}
}

// barsAre compares the widths in pixels with the counts.
func barsAre(t *testing.T, page rendered, steps []*v1beta1.StepStatus) {
	t.Helper()
	for i, step := range steps {
		r, full := step.Result, 0.0
		var parts []int64
		for _, n := range []int64{r.Outcomes.Success, r.Expected - r.Outcomes.Success, r.Failed, r.InFlight, r.Unsent} {
			if n > 0 {
				parts = append(parts, n)
			}
		}
		for _, w := range page.Bars[i] {
			full += w
		}
		if len(parts) != len(page.Bars[i]) {
			t.Errorf("the bar of step %s has %d parts, want %d", step.Name, len(page.Bars[i]), len(parts))
			continue
		}
		for j, n := range parts {
			if want := float64(n) / float64(r.Due); math.Abs(page.Bars[i][j]/full-want) > 0.01 {
				t.Errorf("part %d of the bar of step %s is %.3f of it, want %.3f", j, step.Name, page.Bars[i][j]/full, want)
			}
		}
	}
}

// marksAre compares the plots of the ladder: a mark for each step that has the
// figure, from the left to the right with the load, and the rule at the last load
// that was sustained.
func marksAre(t *testing.T, s *v1beta1.LoadTestStatus, page rendered, steps []*v1beta1.StepStatus) {
	t.Helper()
	for _, p := range page.Plots {
		if p.Hidden || !strings.HasPrefix(p.Label, "Goodput") {
			continue
		}
		var with []*v1beta1.StepStatus
		for _, step := range steps {
			if text.Rate(step.Result.Goodput) != "" {
				with = append(with, step)
			}
		}
		if len(p.Marks) != len(with) {
			t.Errorf("%d marks of goodput, want %d", len(p.Marks), len(with))
			continue
		}
		for i := 1; i < len(with); i++ {
			if with[i].Load.Users > with[i-1].Load.Users && p.Marks[i] <= p.Marks[i-1] {
				t.Errorf("step %s is not to the right of step %s", with[i].Name, with[i-1].Name)
			}
		}
		for i, step := range with {
			if s.MaxSustainedUsers != nil && step.Load.Users == *s.MaxSustainedUsers && (len(p.Rules) != 1 || math.Abs(p.Rules[0]-p.Marks[i]) > 1) {
				t.Errorf("the rule stands at %v, step %s at %g", p.Rules, step.Name, p.Marks[i])
			}
		}
	}
}

// TestContrast holds text against paper and boxes, by the formula of WCAG 2.
func TestContrast(t *testing.T) {
	for _, theme := range themes(t) {
		for _, ink := range []string{"ink", "soft", "accent", "good", "bad", "unsure"} {
			for _, ground := range []string{"paper", "wash"} {
				a, b := luminance(t, theme[ink]), luminance(t, theme[ground])
				if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 4.5 {
					t.Errorf("%s %s on %s %s has a contrast of %.2f, want 4.5", ink, theme[ink], ground, theme[ground], ratio)
				}
			}
		}
	}
}

func luminance(t *testing.T, color string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatalf("colour %q: %v", color, err)
		}
		if c := float64(n) / 255; c <= 0.03928 {
			sum += weight * c / 12.92
		} else {
			sum += weight * math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return sum
}
