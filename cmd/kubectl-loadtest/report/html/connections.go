package html

import (
	"slices"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
)

// connectionsOverTime draws how many new connections there were, of the steps whose archives have it.
func connectionsOverTime(all []timeline, x plot.Axis, spans []plot.Span) []figure {
	lines, values := linesOf(all, "new", "main", func(m *moment) (float64, bool) { return m.connections, m.connections >= 0 })
	if len(lines) == 0 {
		return nil
	}
	y := rateAxis([]float64{max(1, slices.Max(values))}) // linear: a second without one stands at 0
	y.Title = "connections per second"
	return []figure{drawn("New connections over time", "Connections whose first response came. With connections that last, there are few after the beginning of a step.",
		"New connections per second over time, a line for each step. The table of the generator has how many were opened in each step.",
		plot.Figure{X: x, Y: y, Lines: lines, Spans: spans})}
}
