package html

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// mostCurves is how many distributions a reader can tell apart in one plot.
const mostCurves = 6

// distribution is what a step's histogram holds.
type distribution struct {
	title  string
	points []measure.Percentile
}

// tails are of all requests that ended and, where some responses were not as expected, of
// the expected ones.
func tails(list []v1alpha1.StepStatus, archived []*archive.Step) []figure {
	figures := tail("Response time by percentile", distributions(list))
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
		lines[i] = plot.Line{Label: shortened(d.title, 12), Class: "curve" + strconv.Itoa(i*(mostCurves-1)/max(len(some)-1, 1))}
		for _, p := range d.points {
			if p.Share >= 1 {
				continue // the longest time is no percentile
			}
			lines[i].Points = append(lines[i].Points, plot.Point{X: p.Share, Y: p.Time.Seconds()})
			values = append(values, p.Time.Seconds())
			nines = max(nines, plot.Nines(p.Share))
		}
	}
	note := "Each further nine has the room of the one before. A line ends where the samples do."
	if len(some) < len(all) {
		note += fmt.Sprintf(" %d of %d steps are drawn; the table has all.", len(some), len(all))
	}
	return []figure{drawn(title, note, title+", a line for each step. The table beside it has the figures.",
		plot.Figure{X: tailAxis(nines), Y: timeAxis(values), Lines: lines})}
}

// distributions are those of the steps whose histogram can be read.
func distributions(list []v1alpha1.StepStatus) []distribution {
	var all []distribution
	for _, step := range measured(list) {
		if step.Result.Histogram == "" {
			continue
		}
		h, err := measure.DecodeHistogram(step.Result.Histogram, 0)
		if err != nil || h.Count() < 2 {
			continue // the table has what the status says
		}
		all = append(all, distribution{report.Title(step), h.Percentiles()})
	}
	return all
}

// expectedDistributions are those of the expected responses, of the steps of which they
// are known. Without a step in which they are others than all, there is none.
func expectedDistributions(list []v1alpha1.StepStatus, archived []*archive.Step) []distribution {
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
				all = append(all, distribution{report.Title(step), of.Percentiles()})
			}
		} else if l := step.Result.ResponseTime; l != nil && l.Samples == step.Result.Expected {
			all = append(all, distributions([]v1alpha1.StepStatus{*step})...)
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

// ofAll and ofExpected are the response times of all requests that ended, and of expected
// responses alone, where those are others.
func ofAll(r *v1alpha1.StepResult) *v1alpha1.Latency      { return r.ResponseTime }
func ofExpected(r *v1alpha1.StepResult) *v1alpha1.Latency { return r.ExpectedResponseTime }

// quantiles have a row for each step.
func quantiles(title string, list []v1alpha1.StepStatus, of func(*v1alpha1.StepResult) *v1alpha1.Latency) table {
	t := table{Title: title, Heads: []string{"step", "samples"}, Words: 1}
	for _, q := range report.Quantiles(&v1alpha1.Latency{}) {
		t.Heads = append(t.Heads, q.Name)
	}
	for _, step := range measured(list) {
		l := of(step.Result)
		if l == nil {
			continue
		}
		row := []string{report.Title(step), count(l.Samples)}
		for _, q := range report.Quantiles(l) {
			if q.Time == nil {
				row = append(row, unknown)
			} else {
				row = append(row, spaced(q.Time.Duration))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) > 0 {
		t.Note = unknown + ": too few samples."
	}
	return t
}
