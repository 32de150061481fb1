package html

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// figure is a plot in two shapes, for a wide page and for a phone.
type figure struct {
	Title, Note, Spoken string
	Wide, Narrow        *plot.Drawing
	// Dense says that the marks are so many that large ones would cover each other.
	Dense bool
	// Band says that there is a band beside a line, which a legend explains.
	Band bool
}

// fewMarks is how many marks of a line have room beside each other.
const fewMarks = 24

func drawn(title, note, spoken string, f plot.Figure) figure {
	wide, narrow := f, f
	wide.Width, wide.Height = 880, 300
	narrow.Width, narrow.Height = 380, 280
	dense := slices.ContainsFunc(f.Lines, func(l plot.Line) bool { return len(l.Marks) > fewMarks })
	d := wide.Draw()
	return figure{title, note, spoken, d, narrow.Draw(), dense, len(d.Areas) > 0}
}

// ladder are goodput and response times over the load of the steps, if there are
// two of them. Of a comparison they are those of the candidate; a table has both.
func ladder(s *v1beta1.LoadTestStatus) []figure {
	steps := judged(s.Steps)
	if len(steps) < 2 {
		return nil
	}
	x, at := loads(steps)
	rules := knee(s, x)
	return []figure{goodput(steps, x.Axis, at, rules), times(steps, x.Axis, at, rules)}
}

// judged are the steps with a result that were sent to the target of the spec.
func judged(list []v1beta1.StepStatus) []*v1beta1.StepStatus {
	return slices.DeleteFunc(measured(list), func(s *v1beta1.StepStatus) bool { return s.Side == v1beta1.SideControl })
}

func measured(list []v1beta1.StepStatus) []*v1beta1.StepStatus {
	var steps []*v1beta1.StepStatus
	for i := range list {
		if list[i].Result != nil {
			steps = append(steps, &list[i])
		}
	}
	return steps
}

// loadAxis is the X axis: of users, of a rate, or of the steps in order.
type loadAxis struct {
	plot.Axis
	kind string
}

// loads are the axis of load and each step's place on it: its users or its rate
// where all steps have the one or the other, its order where they differ.
func loads(steps []*v1beta1.StepStatus) (loadAxis, []float64) {
	for _, kind := range []struct {
		name, title string
		of          func(*v1beta1.StepLoad) float64
	}{{"users", "users", usersOf}, {"rate", "requests per second that arrive", rateOf}} {
		at := make([]float64, len(steps))
		for i, step := range steps {
			at[i] = kind.of(&step.Load)
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(at)))
		if distinct[0] <= 0 || len(distinct) < 2 {
			continue
		}
		scale, _ := plot.Bounds(at)
		axis := plot.Axis{Title: kind.title, Scale: scale}
		for _, v := range distinct {
			axis.Ticks = append(axis.Ticks, plot.Tick{At: v, Label: compact(v)})
		}
		return loadAxis{axis, kind.name}, at
	}
	axis := plot.Axis{Title: "step", Scale: plot.Linear(0.5, float64(len(steps))+0.5)}
	at := make([]float64, len(steps))
	for i, step := range steps {
		at[i] = float64(i + 1)
		axis.Ticks = append(axis.Ticks, plot.Tick{At: at[i], Label: shortened(step.Name, 16)})
	}
	return loadAxis{axis, "step"}, at
}

// usersOf is 0 for what is no number of users that send until the step is over.
func usersOf(l *v1beta1.StepLoad) float64 {
	if l.IsBurst() || l.RampTo != nil {
		return 0
	}
	return float64(l.Users)
}

func rateOf(l *v1beta1.StepLoad) float64 {
	if l.Rate == nil || l.RampTo != nil {
		return 0
	}
	return report.Number(l.Rate.String())
}

// knee marks the load up to which every threshold was kept.
func knee(s *v1beta1.LoadTestStatus, x loadAxis) []plot.Rule {
	at := 0.0
	switch {
	case x.kind == "users" && s.MaxSustainedUsers != nil:
		at = float64(*s.MaxSustainedUsers)
	case x.kind == "rate":
		at = report.Number(s.MaxSustainedRate)
	}
	if at <= 0 {
		return nil
	}
	return []plot.Rule{{At: at, Label: "kept up to " + compact(at)}}
}

// series is a line through the medians of what steps of the same load had, and a
// mark for each of them.
func series(label, class string, steps []*v1beta1.StepStatus, at []float64, of func(*v1beta1.StepResult) (y float64, text string)) plot.Line {
	line, by := plot.Line{Label: label, Class: class}, map[float64][]float64{}
	for i, step := range steps {
		y, text := of(step.Result)
		if text == "" {
			continue
		}
		by[at[i]] = append(by[at[i]], y)
		line.Marks = append(line.Marks, plot.Mark{Point: plot.Point{X: at[i], Y: y}, Shape: shape(step), Title: report.Title(step) + ": " + text + ", " + label})
	}
	for x, ys := range by {
		slices.Sort(ys)
		line.Points = append(line.Points, plot.Point{X: x, Y: ys[(len(ys)-1)/2]})
	}
	slices.SortFunc(line.Points, func(a, b plot.Point) int { return int(1e6*a.X - 1e6*b.X) })
	return line
}

// shape is what the thresholds say of a step.
func shape(step *v1beta1.StepStatus) plot.Shape {
	switch report.ThresholdState(step) {
	case v1beta1.ThresholdFailed:
		return plot.Cross
	case v1beta1.ThresholdPassed:
		return plot.Dot
	}
	return plot.Ring
}

func goodput(steps []*v1beta1.StepStatus, x plot.Axis, at []float64, rules []plot.Rule) figure {
	good := series("goodput", "main", steps, at, func(r *v1beta1.StepResult) (float64, string) {
		return report.Number(r.Goodput), text.Rate(r.Goodput)
	})
	windows := map[*v1beta1.StepResult]time.Duration{}
	for _, step := range steps {
		if step.Window != nil {
			windows[step.Result] = step.Window.Duration
		}
	}
	due := series("due", "faint", steps, at, func(r *v1beta1.StepResult) (float64, string) {
		window := windows[r].Seconds()
		if window <= 0 {
			return 0, ""
		}
		rate := float64(r.Due) / window
		return rate, text.Rate(fmt.Sprintf("%.3f", rate))
	})
	due.Marks = nil
	var values []float64
	for _, p := range append(slices.Clone(good.Points), due.Points...) {
		values = append(values, p.Y)
	}
	return drawn("Goodput", "Successes per second, beside what the schedule asked for.",
		"Goodput and requests due per second over the load of the steps. The table of the steps has the same figures.",
		plot.Figure{X: x, Y: rateAxis(values), Lines: []plot.Line{due, good}, Rules: rules})
}

func times(steps []*v1beta1.StepStatus, x plot.Axis, at []float64, rules []plot.Rule) figure {
	var lines []plot.Line
	var values []float64
	for _, q := range []struct {
		label, class string
		of           func(*v1beta1.Latency) *metav1.Duration
	}{
		{"p99", "soft", func(l *v1beta1.Latency) *metav1.Duration { return l.P99 }},
		{"p95", "main", func(l *v1beta1.Latency) *metav1.Duration { return l.P95 }},
		{"p50", "soft", func(l *v1beta1.Latency) *metav1.Duration { return l.P50 }},
	} {
		bracket := func(r *v1beta1.StepResult) report.Bracket {
			if r.ResponseTime == nil {
				return report.Bracket{}
			}
			return report.Bracket{Time: q.of(r.ResponseTime), Without: q.of(cmp.Or(r.WithoutGenerator, r.ResponseTime))}
		}
		line := series(q.label, q.class, steps, at, func(r *v1beta1.StepResult) (float64, string) {
			b := bracket(r)
			if b.Time == nil {
				return 0, ""
			}
			return b.Time.Seconds(), b.Text(report.Brief)
		})
		if slices.ContainsFunc(steps, func(s *v1beta1.StepStatus) bool { return bracket(s.Result).IsVisible() }) {
			line.Other = series("", "", steps, at, func(r *v1beta1.StepResult) (float64, string) {
				b := bracket(r)
				if b.Without == nil {
					return 0, ""
				}
				return inText(b.Without)
			}).Points
		}
		for _, p := range append(slices.Clone(line.Points), line.Other...) {
			values = append(values, p.Y)
		}
		lines = append(lines, line)
	}
	return drawn("Response time", "From when a request was due to its outcome, all outcomes.",
		"The 50th, 95th and 99th percentile of response time over the load of the steps. The table of the steps has the same figures.",
		plot.Figure{X: x, Y: timeAxis(values), Lines: lines, Rules: rules})
}

func inText(d *metav1.Duration) (seconds float64, said string) {
	return d.Seconds(), text.Short(d.Duration)
}

func rateAxis(values []float64) plot.Axis {
	scale, ticks := plot.Bounds(values)
	axis := plot.Axis{Title: "requests per second", Scale: scale, Write: writtenRate}
	for _, v := range ticks {
		axis.Ticks = append(axis.Ticks, plot.Tick{At: v, Label: compact(v)})
	}
	return axis
}

// writtenRate is a rate or a number of requests in three digits or so.
func writtenRate(v float64) string { return text.Decimal(fmt.Sprintf("%.1f", v)) }

// timeAxis is of seconds, and shows them in the unit that fits.
func timeAxis(values []float64) plot.Axis {
	scale, ticks := plot.Bounds(values)
	axis := plot.Axis{Title: "response time", Scale: scale, Write: spacedSeconds}
	for _, v := range ticks {
		axis.Ticks = append(axis.Ticks, plot.Tick{At: v, Label: spaced(time.Duration(v * float64(time.Second)).Round(time.Nanosecond))})
	}
	return axis
}

// compact is a number for an axis: 500, 2.5k, 1M.
func compact(v float64) string {
	for _, unit := range []struct {
		of   float64
		name string
	}{{1e6, "M"}, {1e3, "k"}} {
		if v >= unit.of {
			return strconv.FormatFloat(v/unit.of, 'g', 4, 64) + unit.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// spaced is a time with a space before its unit.
func spaced(d time.Duration) string {
	value, unit := units(d)
	return value + "\u00a0" + unit
}

// units are a time's digits and its unit.
func units(d time.Duration) (value, unit string) {
	said := text.Short(d)
	value = strings.TrimRight(said, "ums")
	if unit = said[len(value):]; unit == "us" {
		unit = "µs"
	}
	return value, unit
}

// shortened is a text of at most so many characters.
func shortened(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
