package html

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// mostMoments is how many points a line has over all steps: more would be too many for a
// screen, and the page large.
const mostMoments = 800

// moment is what happened in a part of a step, per second, and its response times in
// seconds; 0: too few to tell.
type moment struct {
	at, seconds   float64
	due, sent     float64
	good, failed  float64
	connections   float64 // new ones, of which the first response came; NaN: not known
	p50, p95, p99 float64
}

// timeline is the moments of a step, in seconds since the first step began to count.
type timeline struct {
	step     *v1beta1.StepStatus
	archived *archive.Step
	from, to float64
	moments  []moment
}

// overTime draws rates and response times of the steps whose series there are, and says what a
// point is.
func overTime(s *v1beta1.LoadTestStatus, archived []*archive.Step) (list []figure, note string) {
	all := timelines(s, archived)
	if len(all) == 0 {
		return nil, ""
	}
	note = coarsen(all)
	x, spans := timeAxisOf(all)
	list = []figure{ratesOverTime(all, x, spans), timesOverTime(all, x, spans)}
	list = append(list, usersOverTime(all, x, spans)...)
	list = append(list, outstandingOverTime(all, x, spans)...)
	list = append(list, connectionsOverTime(all, x, spans)...)
	return append(list, usageOverTime(all, x, spans)...), note
}

// timelines are those of the steps of which there is a series, in order.
func timelines(s *v1beta1.LoadTestStatus, archived []*archive.Step) []timeline {
	var all []timeline
	var first time.Time
	for _, a := range archived {
		step := stepOf(s, a)
		if step == nil || a.Series == nil || step.StartTime == nil || len(a.Series.Points) == 0 {
			continue
		}
		began := step.StartTime.Add(warmUp(step)) // a series has no warm-up
		if len(all) == 0 {
			first = began
		}
		l := timeline{step: step, archived: a, from: began.Sub(first).Seconds()}
		if l.from < 0 || len(all) > 0 && l.from < all[len(all)-1].from {
			continue // the steps of a run follow each other
		}
		l.moments = moments(step, a.Series, l.from)
		last := l.moments[len(l.moments)-1]
		l.to = last.at + last.seconds/2
		all = append(all, l)
	}
	return all
}

func warmUp(step *v1beta1.StepStatus) time.Duration { return v1beta1.OrZero(step.Load.WarmUp) }

// stepOf is the step that archived results are of; nil: the run has none such.
func stepOf(s *v1beta1.LoadTestStatus, a *archive.Step) *v1beta1.StepStatus {
	if a.Index < 0 || a.Index >= len(s.Steps) || s.Steps[a.Index].Name != a.Name {
		return nil
	}
	return &s.Steps[a.Index]
}

func moments(step *v1beta1.StepStatus, s *archive.Series, from float64) []moment {
	width := float64(max(s.Seconds, 1))
	var ends float64 // 0: the step has no duration
	if d := step.Load.Duration; d != nil {
		ends = d.Seconds()
		if w := step.Window; w != nil {
			ends = min(ends, w.Seconds()) // it was cut
		}
	}
	var list []moment
	for i := range s.Points {
		p := &s.Points[i]
		seconds := width
		if left := ends - float64(i)*width; left > 0 {
			seconds = max(min(width, left), width/10) // the last point may be narrower; in a moment, a response would be thousands a second
		}
		var ended int64
		for _, n := range p.Outcomes {
			ended += n
		}
		connections := math.NaN()
		if n := p.FirstOnConnection; n != nil {
			connections = float64(*n) / seconds
		}
		list = append(list, moment{
			connections: connections,
			at:          from + float64(i)*width + seconds/2, seconds: seconds,
			due: float64(p.Due) / seconds, sent: float64(p.Sent) / seconds, good: float64(p.Outcomes[measure.Success.String()]) / seconds, failed: float64(max(0, ended-p.Expected)) / seconds,
			p50: inSeconds(p.P50), p95: inSeconds(p.P95), p99: inSeconds(p.P99),
		})
	}
	return list
}

func inSeconds(micros *int64) float64 {
	if micros == nil {
		return 0
	}
	return float64(*micros) / 1e6
}

// coarsen joins moments if there are too many to draw, and says how wide they are.
func coarsen(all []timeline) (note string) {
	var total int
	for _, l := range all {
		total += len(l.moments)
	}
	join := (total-1)/mostMoments + 1
	var widest float64
	for i := range all {
		if join > 1 {
			all[i].moments = joined(all[i].moments, join)
		}
		for _, m := range all[i].moments {
			widest = max(widest, m.seconds)
		}
	}
	note = fmt.Sprintf("A point covers at most %g s of a step.", widest)
	if join > 1 {
		note += fmt.Sprintf(" It shows the highest response time of its %d parts.", join)
	}
	for _, l := range all {
		if a := l.archived; int32(a.Series.Workers) < a.WorkersReporting {
			note += fmt.Sprintf(" In step %s only %d of %d workers reported theirs.", shortened(a.Name, 24), a.Series.Workers, a.WorkersReporting)
		}
	}
	return note
}

func joined(list []moment, n int) []moment {
	var wide []moment
	for part := range slices.Chunk(list, n) {
		var m moment
		for _, p := range part {
			m.seconds += p.seconds
			m.due, m.sent, m.good, m.failed = m.due+p.due*p.seconds, m.sent+p.sent*p.seconds, m.good+p.good*p.seconds, m.failed+p.failed*p.seconds
			m.connections += p.connections * p.seconds // not known of one is not known of all
			m.p50, m.p95, m.p99 = max(m.p50, p.p50), max(m.p95, p.p95), max(m.p99, p.p99)
		}
		m.due, m.sent, m.good, m.failed, m.connections = m.due/m.seconds, m.sent/m.seconds, m.good/m.seconds, m.failed/m.seconds, m.connections/m.seconds
		m.at = part[0].at - part[0].seconds/2 + m.seconds/2
		wide = append(wide, m)
	}
	return wide
}

func timeAxisOf(all []timeline) (plot.Axis, []plot.Span) {
	end := all[len(all)-1].to
	var spans []plot.Span
	for _, l := range all {
		spans = append(spans, plot.Span{From: l.from, To: l.to, Label: shortened(l.step.Name, 16)})
	}
	axis := plot.Axis{Title: "seconds since the first step began", Scale: plot.Linear(0, end)}
	if warmUp(all[0].step) > 0 {
		axis.Title = "seconds since the first warm-up ended"
	}
	_, ticks := plot.Bounds([]float64{end, end}) // of equal distance
	for _, v := range ticks {
		if v <= end {
			axis.Ticks = append(axis.Ticks, plot.Tick{At: v, Label: compact(v)})
		}
	}
	return axis, spans
}

func ratesOverTime(all []timeline, x plot.Axis, spans []plot.Span) figure {
	var values []float64
	var lines []plot.Line
	for _, of := range []struct {
		label, class string
		value        func(*moment) float64
		drawn        func(*moment) bool // if any moment is so
	}{
		{"due", "faint", func(m *moment) float64 { return m.due }, func(*moment) bool { return true }},
		{"sent", "soft", func(m *moment) float64 { return m.sent }, isSentOtherwise},
		{"goodput", "main", func(m *moment) float64 { return m.good }, func(*moment) bool { return true }},
		{"failed", "bad", func(m *moment) float64 { return m.failed }, func(m *moment) bool { return m.failed > 0 }},
	} {
		some, seen := linesOf(all, of.label, of.class, func(m *moment) (float64, bool) { return of.value(m), true })
		if anyMoment(all, of.drawn) {
			lines, values = append(lines, some...), append(values, seen...)
		}
	}
	y := rateAxis([]float64{slices.Max(values)}) // linear: a second without a response stands at 0
	return drawn("Rate over time", "Requests that were due, or arrived, those sent where they are others, successes, and failures when they were known.",
		"Requests due, successes and failures per second over time. The table beside it has least, median and most of each step.",
		plot.Figure{X: x, Y: y, Lines: lines, Spans: spans})
}

// isSentOtherwise says whether others were sent in a moment than were due: more than a 50th of
// them, and more than the few that are due in one point and sent in the next.
func isSentOtherwise(m *moment) bool {
	const few = 2
	return math.Abs(m.sent-m.due)*m.seconds > max(few, m.due*m.seconds/50)
}

func anyMoment(all []timeline, is func(*moment) bool) bool {
	return slices.ContainsFunc(all, func(l timeline) bool {
		return slices.ContainsFunc(l.moments, func(m moment) bool { return is(&m) })
	})
}

func timesOverTime(all []timeline, x plot.Axis, spans []plot.Span) figure {
	note := "Of the requests that ended in each point, within 3 %."
	var values []float64
	var lines []plot.Line
	for _, of := range []struct {
		label, class string
		value        func(*moment) float64
	}{
		{"p99", "soft", func(m *moment) float64 { return m.p99 }},
		{"p95", "main", func(m *moment) float64 { return m.p95 }},
		{"p50", "soft", func(m *moment) float64 { return m.p50 }},
	} {
		some, seen := linesOf(all, of.label, of.class, func(m *moment) (float64, bool) { return of.value(m), of.value(m) > 0 })
		lines, values = append(lines, some...), append(values, seen...)
	}
	if slices.ContainsFunc(all, func(l timeline) bool { return delayIsVisible(l.step) }) {
		note += " It includes the generator's own delay."
	}
	return drawn("Response time over time", note,
		"The 50th, 95th and 99th percentile of response time over time. The table beside it has median and highest of each step.",
		plot.Figure{X: x, Y: timeAxis(values), Lines: lines, Spans: spans})
}

// delayIsVisible says whether the generator's own delay is, in the response times of a step.
func delayIsVisible(step *v1beta1.StepStatus) bool {
	return step.Result != nil && report.AreVisible(step.Result.ResponseTime, step.Result.WithoutGenerator)
}

// linesOf are the lines of a value: one for each step, and a new one after a moment
// that has none. The last has the label.
func linesOf(all []timeline, label, class string, of func(*moment) (float64, bool)) (lines []plot.Line, values []float64) {
	for _, l := range all {
		line := plot.Line{Class: class, Name: label}
		for i := range l.moments {
			v, ok := of(&l.moments[i])
			if ok {
				line.Points = append(line.Points, plot.Point{X: l.moments[i].at, Y: v})
				values = append(values, v)
			}
			if len(line.Points) > 0 && (!ok || i == len(l.moments)-1) {
				lines = append(lines, line)
				line.Points = nil
			}
		}
	}
	if len(lines) > 0 {
		lines[len(lines)-1].Label = label
	}
	return lines, values
}

// seconds has a row for each step that is drawn over time.
func seconds(s *v1beta1.LoadTestStatus, archived []*archive.Step) table {
	t := table{Title: "Point by point", Words: 1, Note: "Per second, of the points of each step; " + unknown + ": too few responses in every point.",
		Heads: []string{"step", "points", "least goodput", "median", "most", "most failed", "median p95", "highest p95"}}
	for _, l := range timelines(s, archived) {
		var good, failed, p95 []float64
		for _, m := range l.moments {
			good, failed = append(good, m.good), append(failed, m.failed)
			if m.p95 > 0 {
				p95 = append(p95, m.p95)
			}
		}
		slices.Sort(good)
		slices.Sort(p95)
		rate := func(v float64) string { return text.Rate(fmt.Sprintf("%.3f", v)) }
		row := []string{report.Title(l.step), count(int64(len(good))), rate(good[0]), rate(good[(len(good)-1)/2]), rate(good[len(good)-1]), rate(slices.Max(failed)), unknown, unknown}
		if n := len(p95); n > 0 {
			row[6], row[7] = spacedSeconds(p95[(n-1)/2]), spacedSeconds(p95[n-1])
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func spacedSeconds(v float64) string { return spaced(time.Duration(v * float64(time.Second))) }
