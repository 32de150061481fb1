package html

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// mostCurves is how many distributions a reader can tell apart in one plot.
const mostCurves = 6

// distribution is what a step's histogram holds.
type distribution struct {
	title  string
	points []plot.Point
	// without are those without the generator's own delay; none if that is not visible.
	without []plot.Point
}

// tails are of all requests that ended and, where some responses were not as expected, of
// the expected ones.
func tails(list []v1beta1.StepStatus, archived []*archive.Step) []figure {
	figures := tail("Response time by percentile", distributions(list, archived))
	return append(figures, tail("Response time of expected responses by percentile", expectedDistributions(list, archived))...)
}

// tail draws response times by percentile on HdrHistogram's scale, of some steps if
// there are many: the first, the last, and those evenly between.
func tail(title string, all []distribution) []figure {
	if len(all) == 0 {
		return nil
	}
	some := spaceOut(all, mostCurves)
	var values []float64
	nines := 1.0
	lines := make([]plot.Line, len(some))
	for i, d := range some {
		strength := mostCurves - 1 // of the only one, and of the last
		if len(some) > 1 {
			strength = i * (mostCurves - 1) / (len(some) - 1)
		}
		lines[i] = plot.Line{Label: shortened(d.title, 12), Class: "curve" + strconv.Itoa(strength), Points: d.points, Other: d.without}
		for _, p := range d.points {
			values = append(values, p.Y)
			nines = max(nines, plot.Nines(p.X))
		}
		for _, p := range d.without {
			values = append(values, p.Y)
		}
	}
	note := "Each further nine takes the same room. A line ends where its samples end."
	if len(some) < len(all) {
		note += fmt.Sprintf(" %d of %d steps are drawn; the table has all.", len(some), len(all))
	}
	return []figure{drawn(title, note, title+", a line for each step. The table beside it has the figures.",
		plot.Figure{X: tailAxis(nines), Y: timeAxis(values), Lines: lines})}
}

// distributions are those of the steps whose histogram can be read.
func distributions(list []v1beta1.StepStatus, archived []*archive.Step) []distribution {
	var all []distribution
	for _, step := range measured(list) {
		if step.Result.Histogram == "" {
			continue
		}
		h, err := measure.DecodeHistogram(step.Result.Histogram, 0)
		if err != nil || h.Count() < 2 {
			continue // the table has what the status says
		}
		all = append(all, distribution{report.Title(step), pointsOf(h), without(step, archived)})
	}
	return all
}

// without are the response times of a step without the generator's own delay, if that is
// visible: as its archive has them or, without one, the quantiles of the status.
func without(step *v1beta1.StepStatus, archived []*archive.Step) []plot.Point {
	r := step.Result
	if !report.AreVisible(r.ResponseTime, r.WithoutGenerator) {
		return nil
	}
	for _, a := range archived {
		if a.Name != step.Name {
			continue
		}
		if h := ideally(a); h != nil && h.Count() == r.WithoutGenerator.Samples {
			return pointsOf(h)
		}
	}
	return coarse(r.WithoutGenerator)
}

// expectedWithout are the same of the expected responses, of which the archive does not have
// them.
func expectedWithout(r *v1beta1.StepResult) []plot.Point {
	if !report.AreVisible(r.ExpectedResponseTime, r.ExpectedWithoutGenerator) {
		return nil
	}
	return coarse(r.ExpectedWithoutGenerator)
}

// pointsOf are the percentiles of a histogram. The longest time is none.
func pointsOf(h *measure.Histogram) (points []plot.Point) {
	for _, p := range h.Percentiles() {
		if p.Share < 1 {
			points = append(points, plot.Point{X: p.Share, Y: p.Time.Seconds()})
		}
	}
	return points
}

// coarse are the percentiles that a status has.
func coarse(l *v1beta1.Latency) (points []plot.Point) {
	add := func(share float64, at *metav1.Duration) {
		if at != nil {
			points = append(points, plot.Point{X: share, Y: at.Seconds()})
		}
	}
	add(0, l.Min)
	for _, q := range metric.Quantiles() {
		add(q.Times().Share(), *q.Times().Field(l))
	}
	return points
}

// ideally is what the archive of a step has of all its requests without the generator's own
// delay; nil if it has not all. Of a request that has none they are the same, or nothing
// ended, unless they are omitted.
func ideally(a *archive.Step) *measure.Histogram {
	if slices.Contains(a.Omitted, archive.OmittedWithoutGenerator) || slices.Contains(a.Omitted, archive.OmittedLost) {
		return nil
	}
	sum := measure.NewHistogram()
	for i := range a.Requests {
		of := a.Requests[i].WithoutGenerator
		if of == nil {
			of = a.Requests[i].Response
		}
		h, err := of.Decode()
		if err != nil || sum.Merge(h) != nil {
			return nil
		}
	}
	return sum
}

// expectedDistributions are those of the expected responses, of the steps of which they
// are known. Without a step in which they are others than all, there is none.
func expectedDistributions(list []v1beta1.StepStatus, archived []*archive.Step) []distribution {
	expected := map[string]*archive.Histogram{}
	for _, a := range archived {
		if a.Expected != nil {
			expected[a.Name] = a.Expected
		}
	}
	if len(expected) == 0 {
		return nil
	}
	var all []distribution
	for _, step := range measured(list) {
		if h, ok := expected[step.Name]; ok {
			if of, err := h.Decode(); err == nil && of.Count() > 1 {
				all = append(all, distribution{report.Title(step), pointsOf(of), expectedWithout(step.Result)})
			}
		} else if l := step.Result.ResponseTime; l != nil && l.Samples == step.Result.Outcomes.Success {
			all = append(all, distributions([]v1beta1.StepStatus{*step}, archived)...)
		}
	}
	return all
}

func spaceOut[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	some := make([]T, most)
	for i := range some {
		some[i] = all[i*(len(all)-1)/(most-1)]
	}
	return some
}

func tailAxis(nines float64) plot.Axis {
	axis := plot.Axis{Title: "percentile", Scale: plot.Tail(nines), Ticks: []plot.Tick{{At: 0, Label: "0"}, {At: 0.5, Label: "p50"}}}
	share, label := 0.9, "p90"
	for n := 1.0; n <= nines+1e-9; n++ {
		axis.Ticks = append(axis.Ticks, plot.Tick{At: share, Label: label})
		share += 9 * (1 - share) / 10
		if label = "p99"; n > 1 {
			label = "p99." + strings.Repeat("9", int(n)-1)
		}
	}
	return axis
}

// twoLines has what is in parentheses below the rest, where columns are many.
func twoLines(text string) string { return strings.Replace(text, " (", "\n(", 1) }

// inParentheses says what the second value of a cell is, if there is one in the table.
func inParentheses(twice bool) string {
	if !twice {
		return ""
	}
	return "In parentheses: without the generator's delay." // of each table that has two
}

// ofAll and ofExpected are the response times of all requests that ended, and of expected
// responses alone, where those are others.
func ofAll(r *v1beta1.StepResult) *v1beta1.Latency      { return r.ResponseTime }
func ofExpected(r *v1beta1.StepResult) *v1beta1.Latency { return r.ExpectedResponseTime }

// ofAllWithout and ofExpectedWithout are the same without the generator's own delay; nil if
// they do not differ.
func ofAllWithout(r *v1beta1.StepResult) *v1beta1.Latency      { return r.WithoutGenerator }
func ofExpectedWithout(r *v1beta1.StepResult) *v1beta1.Latency { return r.ExpectedWithoutGenerator }

// quantiles have a row for each step.
func quantiles(title string, list []v1beta1.StepStatus, of, other func(*v1beta1.StepResult) *v1beta1.Latency) table {
	t := table{Title: title, Heads: []string{"step", "samples"}, Words: 1}
	for _, q := range report.Quantiles(&v1beta1.Latency{}) {
		t.Heads = append(t.Heads, q.Name)
	}
	for _, step := range measured(list) {
		l := of(step.Result)
		if l == nil {
			continue
		}
		row := []string{report.Title(step), count(l.Samples)}
		for _, b := range report.Brackets(l, other(step.Result)) {
			row = append(row, twoLines(b.Text(duration)))
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) > 0 {
		t.Note = strings.TrimSpace(unknown + ": too few samples. " + inParentheses(report.AnyVisible(list)))
	}
	return t
}
