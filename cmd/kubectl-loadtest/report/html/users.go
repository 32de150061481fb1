package html

import (
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
)

// usersOverTime draws how many users took part, of the steps whose load has users for a
// duration. A burst has none over time: each of its users leaves when it has sent its requests.
func usersOverTime(all []timeline, x plot.Axis, spans []plot.Span) []figure {
	var lines []plot.Line
	var values []float64
	for _, l := range all {
		load := &l.step.Load
		if load.Users == 0 || load.IsBurst() {
			continue
		}
		last := usersAt(load, l.to-l.from)
		lines = append(lines, plot.Line{Class: "main", Name: "users", Points: []plot.Point{{X: l.from, Y: float64(load.Users)}, {X: l.to, Y: last}}})
		values = append(values, float64(load.Users), last)
	}
	if len(lines) == 0 {
		return nil
	}
	y := rateAxis([]float64{slices.Max(values)})
	y.Title = "users"
	return []figure{drawn("Users over time", "Users who took part, as the load of each step has them.",
		"Users who took part over time, a line for each step whose load has users. The table of steps has the load of each.",
		plot.Figure{X: x, Y: y, Lines: lines, Spans: spans})}
}

// usersAt is how many users take part when a step has taken so many seconds.
func usersAt(l *v1beta1.StepLoad, seconds float64) float64 {
	first, last := float64(l.Users), float64(l.LastUsers())
	if l.Duration == nil || l.Duration.Duration <= 0 {
		return first
	}
	return first + (last-first)*min(1, seconds/l.Duration.Seconds())
}
