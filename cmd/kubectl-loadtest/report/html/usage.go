package html

import (
	"fmt"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// usageOverTime draws what the target's containers used of processors, beside their limits, of the
// steps whose archives have it.
func usageOverTime(all []timeline, x plot.Axis, spans []plot.Span) []figure {
	var lines []plot.Line
	var values []float64
	join := joinedUsage(all)
	latest := map[string]int{} // the last line of a container, which is labelled
	add := func(label, class string, points []plot.Point) {
		for _, p := range points {
			values = append(values, p.Y)
		}
		latest[label] = len(lines)
		lines = append(lines, plot.Line{Name: label, Class: class, Points: points})
	}
	for _, l := range all {
		for i := range l.archived.Usage {
			u := &l.archived.Usage[i]
			if len(u.Points) == 0 {
				continue
			}
			name, class := shortened(u.Container, 24), "soft"
			if i == 0 {
				class = "main"
			}
			add(name, class, usagePoints(u, l.from, join))
			if limit := float64(u.CPULimitMillis) / 1000; limit > 0 {
				add("limit of "+name, "faint", []plot.Point{{X: l.from, Y: limit}, {X: l.to, Y: limit}})
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	for label, i := range latest {
		lines[i].Label = label
	}
	y := rateAxis([]float64{slices.Max(append(values, 0.001))}) // linear: none stands at 0
	y.Title = "processors"
	return []figure{drawn("CPU of the target over time",
		"The highest of all pods, for each container. "+report.UsageNote+" A point stands in the middle of the time that it is of.",
		"Processors that the target's containers used over time, beside their limits. The table of usage has mean and highest of each step.",
		plot.Figure{X: x, Y: y, Lines: lines, Spans: spans})}
}

// joinedUsage is how many points are drawn as one: 1, unless there are too many.
func joinedUsage(all []timeline) int {
	n := 0
	for _, l := range all {
		for i := range l.archived.Usage {
			n += len(l.archived.Usage[i].Points)
		}
	}
	return max(n-1, 0)/mostMoments + 1
}

// usagePoints are those of a container in a step that began at a time; of so many that are joined,
// the highest.
func usagePoints(u *archive.Usage, from float64, join int) (points []plot.Point) {
	for part := range slices.Chunk(u.Points, join) {
		most := int64(0)
		for _, p := range part {
			most = max(most, p.CPUMillis)
		}
		middle := float64(part[0].FromMillis+part[len(part)-1].ToMillis) / 2000
		points = append(points, plot.Point{X: from + middle, Y: float64(most) / 1000})
	}
	return points
}

func usage(s *v1beta1.LoadTestStatus) table {
	return table{Title: "Usage of the target's pods", Note: report.UsageNote, Words: 2, Heads: report.UsageHeads, Rows: report.Usage(s)}
}

func queries(s *v1beta1.LoadTestStatus) table {
	return table{Title: "Queries", Note: fmt.Sprintf("What the administrator's Prometheus answered of the window of each step; %s: nothing, or there is no limit.", unknown),
		Words: 2, Heads: report.QueryHeads, Rows: report.Queries(s)}
}
