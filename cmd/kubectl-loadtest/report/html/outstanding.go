package html

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// outstandingOverTime draws how many requests were due and had not ended, of the steps whose
// archives have it, over the time of all.
func outstandingOverTime(all []timeline, x plot.Axis, spans []plot.Span) []figure {
	var slots int
	for _, l := range all {
		if o := l.archived.Outstanding; o != nil {
			slots += len(o.Requests)
		}
	}
	if slots == 0 {
		return nil
	}
	join := (slots-1)/mostMoments + 1
	var lines []plot.Line
	var values []float64
	var growing []string
	for _, l := range all {
		line := plot.Line{Class: "main", Points: outstandingOf(l.archived.Outstanding, l.from, join)}
		if l.step.Result != nil && l.step.Result.Outstanding.Grows() {
			line.Class = "bad"
			growing = append(growing, fmt.Sprintf("step %s, by %s/s", shortened(l.step.Name, 24), text.Decimal(l.step.Result.Outstanding.Growth)))
		}
		for _, p := range line.Points {
			values = append(values, p.Y)
		}
		if len(line.Points) > 0 {
			lines = append(lines, line)
		}
	}
	note := "Requests that are due and have not ended; for users without a rate, that are sent and have not ended."
	const named = 3
	switch n := len(growing); {
	case n > named:
		note += fmt.Sprintf(" Their number grew in %d steps: the load of these steps cannot be kept for long.", n)
	case n > 0:
		note += " Their number grew in " + strings.Join(growing, ", ") + ": that load cannot be kept for long."
	}
	y := rateAxis([]float64{slices.Max(append(values, 1))}) // linear: none stands at 0
	y.Title = "requests"
	return []figure{drawn("Outstanding requests over time", note,
		"Outstanding requests over time, a line for each step. The table of outstanding requests has mean and trend of each.",
		plot.Figure{X: x, Y: y, Lines: lines, Spans: spans})}
}

// outstandingOf are the points of a step that began at a time; of so many slots that are
// joined, the highest.
func outstandingOf(o *archive.Outstanding, from float64, join int) (points []plot.Point) {
	if o == nil {
		return nil
	}
	width := float64(o.SlotMicros) / 1e6
	for i, part := range slices.Collect(slices.Chunk(o.Requests, join)) {
		end := min((i+1)*join, len(o.Requests))
		points = append(points, plot.Point{X: from + float64(end)*width, Y: float64(slices.Max(part))})
	}
	return points
}
