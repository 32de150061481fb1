package document

import (
	"fmt"
	"strconv"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// figure is a plot with a line for each experiment.
type figure struct {
	name, title, note string
	plot.Figure
}

// plots writes the figures of the seed, each into a file.
func (d *document) plots() error {
	var list []figure
	switch d.seed {
	case "000":
		list = []figure{
			d.overUsers("goodput", "Reads: goodput over users", "requests per second", "tiny-bitly-reads", goodput, rateTicks),
			d.overUsers("p95", "Reads: p95 of response time over users", "response time", "tiny-bitly-reads", p95, timeTicks),
		}
	case "001":
		list = []figure{d.byPercentile("percentiles", "Redirects: response time by percentile", "sharded-reads")}
	case "002":
		list = []figure{
			d.overUsers("p95", "All requests: p95 of response time over users", "response time", "flask-users", p95, timeTicks),
			d.overUsers("redirects", "Redirects: p50 of response time over users", "response time", "flask-users", redirects, timeTicks),
		}
	case "003":
		list = []figure{d.bySize()}
	case "004":
		list = []figure{d.byPercentile("percentiles", "The burst of one client: response time by percentile", "single-client-burst")}
	}
	d.line("\n## Plots")
	for _, f := range list {
		text, err := svg(f)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("seed-%s-%s.svg", d.seed, f.name)
		d.files[name] = text
		d.line("\n![%s](%s)\n\n%s", f.title, name, f.note)
	}
	return nil
}

func goodput(r *v1beta1.StepResult) float64 { return record.Number(r.Goodput) }

func p95(r *v1beta1.StepResult) float64 {
	if r.ResponseTime == nil {
		return 0
	}
	return record.Time(r.ResponseTime.P95).Seconds()
}

func redirects(r *v1beta1.StepResult) float64 { return record.P50(r, "Redirect").Seconds() }

// rateTicks and timeTicks are how values of an axis are written.
func rateTicks(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

func timeTicks(v float64) string { return text.Short(time.Duration(v * float64(time.Second))) }

// lines are drawn from points by experiment; one without points is left out.
func (d *document) lines(points func(e experiment.Experiment) []plot.Point) []plot.Line {
	var lines []plot.Line
	for i, e := range experiment.Of(d.seed) {
		line := plot.Line{Label: e.Name[len("000-"):], Class: "curve" + strconv.Itoa(i), Points: points(e)}
		if len(line.Points) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// overUsers has the steps of a ladder.
func (d *document) overUsers(name, title, unit, test string, of func(*v1beta1.StepResult) float64, tick func(float64) string) figure {
	var users []float64
	lines := d.lines(func(e experiment.Experiment) (points []plot.Point) {
		for _, step := range record.Rungs(d.all[e.Name].LoadTest(test)) {
			if y := of(step.Result); y > 0 {
				users = append(users, float64(step.Load.Users))
				points = append(points, plot.Point{X: float64(step.Load.Users), Y: y})
			}
		}
		return points
	})
	return figure{name, title, "A line for each experiment. Both axes are logarithmic where the values span much.",
		plot.Figure{X: axis("users", users, rateTicks), Y: axis(unit, values(lines), tick), Lines: dotted(lines)}}
}

// bySize has the items per second of the tests whose requests carry more and more.
func (d *document) bySize() figure {
	var sizes []float64
	lines := d.lines(func(e experiment.Experiment) (points []plot.Point) {
		for _, test := range []struct {
			name string
			size float64
		}{{"events-append", 1}, {"events-batch-10", 10}, {"events-batch-100", 100}, {"events-batch-500", 500}, {"events-batch-1000", 1000}} {
			if lt := d.all[e.Name].LoadTest(test.name); lt != nil {
				rungs := record.Rungs(lt)
				sizes = append(sizes, test.size)
				points = append(points, plot.Point{X: test.size, Y: record.Items(rungs[len(rungs)-1].Result)})
			}
		}
		return points
	})
	return figure{"events", "Events per second over events per request", "Connections differ from point to point, as they did in what was published.",
		plot.Figure{X: axis("events per request", sizes, rateTicks), Y: axis("events per second", values(lines), rateTicks), Lines: dotted(lines)}}
}

// byPercentile has the whole distribution of the first step that sends.
func (d *document) byPercentile(name, title, test string) figure {
	nines := 1.0
	lines := d.lines(func(e experiment.Experiment) (points []plot.Point) {
		step := record.Rungs(d.all[e.Name].LoadTest(test))[0]
		h, err := measure.DecodeHistogram(step.Result.Histogram, 0)
		if err != nil {
			return nil // the table has what the status says
		}
		for _, p := range h.Percentiles() {
			if p.Share < 1 {
				points = append(points, plot.Point{X: p.Share, Y: p.Time.Seconds()})
				nines = max(nines, plot.Nines(p.Share))
			}
		}
		return points
	})
	x := plot.Axis{Title: "percentile", Scale: plot.Tail(nines), Ticks: []plot.Tick{{At: 0, Label: "0"}, {At: 0.5, Label: "p50"}, {At: 0.9, Label: "p90"}}}
	if nines >= 2 {
		x.Ticks = append(x.Ticks, plot.Tick{At: 0.99, Label: "p99"})
	}
	if nines >= 3 {
		x.Ticks = append(x.Ticks, plot.Tick{At: 0.999, Label: "p99.9"})
	}
	return figure{name, title, "A line for each experiment, from its merged histogram; each further nine takes the same room.",
		plot.Figure{X: x, Y: axis("response time", values(lines), timeTicks), Lines: lines}}
}

func values(lines []plot.Line) (list []float64) {
	for _, l := range lines {
		for _, p := range l.Points {
			list = append(list, p.Y)
		}
	}
	return list
}

func axis(title string, values []float64, label func(float64) string) plot.Axis {
	scale, ticks := plot.Bounds(values)
	a := plot.Axis{Title: title, Scale: scale}
	for _, v := range ticks {
		a.Ticks = append(a.Ticks, plot.Tick{At: v, Label: label(v)})
	}
	return a
}

// dotted marks each point.
func dotted(lines []plot.Line) []plot.Line {
	for i := range lines {
		for _, p := range lines[i].Points {
			lines[i].Marks = append(lines[i].Marks, plot.Mark{Point: p, Shape: plot.Dot, Title: lines[i].Label})
		}
	}
	return lines
}
