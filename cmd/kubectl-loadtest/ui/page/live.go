package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// clock is how far a run is.
type clock struct {
	Step, Left, Waiting, Workers string
	// Done and Whole are seconds of the step; Whole 0: its end is not known.
	Done, Whole int
	Spoken      string
}

// figure is a value that is read first.
type figure struct{ Name, Value, Note string }

// liveParts are what a run does now. They are empty once it has ended.
func (s Site) liveParts(shown *Shown, finished bool) ([]Part, error) {
	if finished {
		return parts(of("clock", (*clock)(nil)), of("figures", []figure(nil)), of("failing", []failing(nil)), of("course", []html.Plot(nil)))
	}
	return parts(of("clock", clockOf(shown.Test, shown.Now)), of("figures", figuresOf(shown)),
		of("failing", s.failing(shown)), func() (Part, error) { return coursePart(shown.Course) })
}

func clockOf(lt *v1beta1.LoadTest, now time.Time) *clock {
	c := &clock{Waiting: progress.Waiting(lt), Left: progress.Left(&lt.Status, now), Workers: lt.Status.Summary.Workers}
	step := progress.Current(lt)
	if step == nil {
		return c
	}
	c.Step = report.Title(step)
	if number := lt.Status.Summary.Step; number != "" {
		c.Step = "Step " + number + ": " + c.Step
	}
	if step.StartTime == nil {
		return c
	}
	done, whole := max(now.Sub(step.StartTime.Time), 0), progress.Length(&step.Load)
	if whole > 0 {
		done = min(done, whole)
		c.Whole = int(whole.Seconds())
	}
	c.Done = int(done.Seconds())
	c.Spoken = fmt.Sprintf("%d s", c.Done)
	if c.Whole > 0 {
		c.Spoken = fmt.Sprintf("%d of %d s", c.Done, c.Whole)
	}
	return c
}

// figuresOf are the rates of the last update, and the quantiles of the step so far. While no step runs, or
// nothing is known of it yet, there are none: those of the step before it are not what happens now.
func figuresOf(shown *Shown) []figure {
	step := progress.Current(shown.Test)
	if step == nil {
		return nil
	}
	var list []figure
	if n := len(shown.Course); n > 0 && shown.Course[n-1].Step == int(shown.Test.Status.CurrentStep) {
		m := shown.Course[n-1]
		list = append(list, figure{"Due", rate(m.Due), "what the schedule asks for"}, figure{"Sent", rate(m.Sent), ""},
			figure{"Answered", rate(m.Answered), "or failed: ended in whatever way"},
			figure{"Failed", rate(m.Failed), ""}, figure{"Outstanding", fmt.Sprintf("%.0f", m.Outstanding), "sent and not ended"})
	}
	r := step.Result
	if r == nil {
		return list
	}
	for _, b := range report.Brackets(r.ResponseTime, r.WithoutGenerator) {
		if !slices.Contains([]string{"p50", "p95", "p99"}, b.Name) || b.Time == nil {
			continue
		}
		note := "of this step"
		if b.IsVisible() {
			note = html.Time(b.Without.Duration) + " without the generator's own delay"
		}
		list = append(list, figure{"Response time, " + b.Name, html.Time(b.Time.Duration), note})
	}
	if first := report.FirstEvent(r); first != "" {
		list = append(list, figure{"First event, p95", first, "of the streams of this step"})
	}
	if g := r.Generator; g != nil {
		list = append(list, figure{"Generator", report.Healthy(g), report.Health(g)[0]})
	}
	return list
}

func rate(v float64) string { return cmp.Or(text.Rate(fmt.Sprintf("%.3f", v)), "0/s") }

// failing is a request with failures.
type failing struct {
	Href, Name, Sent, Failed, Share, Why string
}

// mostFailing is how many requests with failures the page of a run shows.
const mostFailing = 10

// failing are the requests of the step that runs and fail, those that fail most first.
func (s Site) failing(shown *Shown) []failing {
	step := progress.Current(shown.Test)
	if step == nil || step.Result == nil {
		return nil
	}
	list := s.requests(shown.key(), int(shown.Test.Status.CurrentStep), step.Result)
	list = slices.DeleteFunc(list, func(r requestRow) bool { return r.failed == 0 })
	slices.SortStableFunc(list, func(a, b requestRow) int { return cmp.Compare(b.failed, a.failed) })
	var rows []failing
	for _, r := range list[:min(len(list), mostFailing)] {
		rows = append(rows, failing{r.Href, r.Name, r.Sent, r.Failed, r.Share, r.Why})
	}
	return rows
}

// coursePart draws what a run did from update to update.
func coursePart(course []runs.Moment) (Part, error) {
	var drawn []template.HTML
	for _, p := range coursePlots(course) {
		markup, err := p.Draw()
		if err != nil {
			return Part{}, err
		}
		drawn = append(drawn, markup)
	}
	return part("course", drawn)
}

// curve is a value of a moment, and how it is drawn.
type curve struct {
	label, class string
	of           func(*runs.Moment) float64
}

func coursePlots(course []runs.Moment) []html.Plot {
	if len(course) < 2 {
		return nil
	}
	rates, most := lines(course, false, curve{"due", "faint", func(m *runs.Moment) float64 { return m.Due }},
		curve{"sent", "soft", func(m *runs.Moment) float64 { return m.Sent }}, curve{"answered", "main", func(m *runs.Moment) float64 { return m.Answered }},
		curve{"failed", "bad", func(m *runs.Moment) float64 { return m.Failed }})
	times, seconds := lines(course, true, curve{"p99", "soft", func(m *runs.Moment) float64 { return m.P99.Seconds() }},
		curve{"p95", "main", func(m *runs.Moment) float64 { return m.P95.Seconds() }}, curve{"p50", "soft", func(m *runs.Moment) float64 { return m.P50.Seconds() }})
	waiting, many := lines(course, false, curve{"outstanding", "main", func(m *runs.Moment) float64 { return m.Outstanding }})
	x := secondsAxis(course)
	y := html.RateAxis([]float64{slices.Max(most)})
	number := html.RateAxis([]float64{slices.Max(many)})
	number.Title = "requests"
	list := []html.Plot{{
		Title: "Rate", Note: "Requests due, sent, ended and failed per second, from update to update.",
		Spoken: "Requests due, sent, ended and failed per second since this page follows the run.",
		Figure: plot.Figure{X: x, Y: y, Lines: rates},
	}}
	if len(seconds) > 0 {
		list = append(list, html.Plot{
			Title: "Response time so far", Note: "Of all requests of the step up to each update.",
			Spoken: "The 50th, 95th and 99th percentile of response time of the step up to each update.",
			Figure: plot.Figure{X: x, Y: html.TimeAxis(seconds), Lines: times},
		})
	}
	return append(list, html.Plot{
		Title: "Outstanding", Note: "Requests that were sent and had not ended.", Spoken: "Requests that were sent and had not ended, at each update.",
		Figure: plot.Figure{X: x, Y: number, Lines: waiting},
	})
}

// lines are a line of each curve. Where a value is only known sometimes, a zero is left out.
func lines(course []runs.Moment, sometimes bool, curves ...curve) (list []plot.Line, values []float64) {
	first := course[0].At
	for _, c := range curves {
		line := plot.Line{Label: c.label, Class: c.class}
		for i := range course {
			v := c.of(&course[i])
			if sometimes && v <= 0 {
				continue
			}
			line.Points = append(line.Points, plot.Point{X: course[i].At.Sub(first).Seconds(), Y: v})
			values = append(values, v)
		}
		list = append(list, line)
	}
	return list, values
}

func secondsAxis(course []runs.Moment) plot.Axis {
	end := max(course[len(course)-1].At.Sub(course[0].At).Seconds(), 1)
	axis := plot.Axis{Title: "seconds", Scale: plot.Linear(0, end)}
	_, ticks := plot.Bounds([]float64{end, end})
	for _, v := range ticks {
		if v <= end {
			axis.Ticks = append(axis.Ticks, plot.Tick{At: v, Label: strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")})
		}
	}
	return axis
}
