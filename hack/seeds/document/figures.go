package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/expect"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// figure is a plot with a line for each experiment.
type figure struct {
	name, title, note string
	// crosses is what the crosses are; "": there are none.
	crosses string
	plot.Figure
}

// plots writes the figures of the seed, each into a file.
func (d *document) plots() error {
	var list []*figure
	switch d.seed {
	case "000":
		list = []*figure{
			d.overUsers("goodput", "Reads: goodput over users", "", "tiny-bitly-reads", "goodput"),
			d.overUsers("p95", "Reads: p95 of response time over users", "response time", "tiny-bitly-reads", "p95"),
		}
	case "001":
		list = []*figure{d.byPercentile("percentiles", "Redirects: response time by percentile", "sharded-reads")}
	case "002":
		list = []*figure{
			d.overUsers("p95", "All requests: p95 of response time over users", "response time", "flask-users", "p95"),
			d.overUsers("redirects", "Redirects: p50 of response time over users", "response time", "flask-users", "redirectP50"),
		}
	case "003":
		list = []*figure{d.bySize()}
	case "004":
		list = []*figure{d.byPercentile("percentiles", "The burst of one client: response time by percentile", "single-client-burst")}
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

// rateTicks and timeTicks are how values of an axis are written.
func rateTicks(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

func timeTicks(v float64) string { return text.Short(time.Duration(v * float64(time.Second))) }

// lines are drawn by experiment; one without points is left out.
func (d *document) lines(draw func(e experiment.Experiment, line *plot.Line)) []plot.Line {
	var lines []plot.Line
	for i, e := range experiment.Of(d.seed) {
		line := plot.Line{Label: d.published.Labels[e.Name], Class: class(i)}
		if draw(e, &line); len(line.Points) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// mark is the median of a figure with its bar, hollow where the machine was the limit;
// false if the rung does not have it.
func mark(rung record.Rung, of record.Figure, x float64, name string) (plot.Mark, bool) {
	s, ok := rung.Spread(of)
	if !ok || s.Median <= 0 {
		return plot.Mark{}, false
	}
	m := plot.Mark{Point: plot.Point{X: x, Y: s.Median}, Shape: plot.Dot, Title: name + ": " + rung.Text(of)}
	if s.Greatest > s.Least {
		m.Least, m.Greatest = s.Least, s.Greatest
	}
	if expect.IsLimited(rung) {
		m.Shape, m.Title = plot.Ring, m.Title+", "+rung.Limits()
	}
	return m, true
}

func cross(x, y float64, name, said string) plot.Mark {
	return plot.Mark{Point: plot.Point{X: x, Y: y}, Shape: plot.Cross, Title: name + ", published: " + said}
}

// overUsers has the steps of a ladder. Of published users and rates the place is that of
// the step that stands for them.
func (d *document) overUsers(name, title, unit, test, of string) *figure {
	var users []float64
	factor := d.all[experiment.Of(d.seed)[0].Name].Factor.Load
	f := &figure{name: name, title: title, note: "A line for each experiment. Both axes are logarithmic where the values span much."}
	if of == "goodput" {
		unit = fmt.Sprintf("requests per second (1/%d of the published)", factor)
		f.note += " Published goodput is the successes of a block divided by its duration: what was called throughput counts failures."
	}
	f.Lines = d.lines(func(e experiment.Experiment, line *plot.Line) {
		theirs := d.publishedOf(e.Name, test, of, float64(factor))
		for i, rung := range record.Rungs(d.all[e.Name].LoadTest(test)) {
			x := float64(rung.Load.Users)
			m, ok := mark(rung, record.Figures[of], x, line.Label)
			if !ok {
				continue
			}
			users = append(users, x)
			line.Points, line.Marks = append(line.Points, m.Point), append(line.Marks, m)
			if y := theirs[i+1]; y > 0 {
				f.crosses = "published"
				line.Marks = append(line.Marks, cross(x, y, line.Label, f.tick(of)(y)))
			}
		}
	})
	f.X, f.Y = axis(fmt.Sprintf("users (1/%d of the published)", factor), users, rateTicks), axis(unit, values(f.Lines), f.tick(of))
	return f
}

func (f *figure) tick(of string) func(float64) string {
	if of == "goodput" {
		return rateTicks
	}
	return timeTicks
}

// publishedOf are published values by rung. What was called throughput counts failures:
// goodput is of the successes of each block and its duration, made smaller by the factor.
func (d *document) publishedOf(name, test, of string, factor float64) map[int]float64 {
	if of != "goodput" {
		return d.publishedCells(name, test, of)
	}
	all, seconds := d.publishedCells(name, test, "successShare"), d.publishedCells(name, test, "duration")
	for rung, n := range all {
		if all[rung] = 0; seconds[rung] > 0 {
			all[rung] = n / seconds[rung] / factor
		}
	}
	return all
}

// publishedCells are the numbers of the cells above a figure, by rung; 0 is the whole. They
// belong to the first variant. Those of blocks have more digits than those of a summary.
func (d *document) publishedCells(name, test, of string) map[int]float64 {
	found := map[int]float64{}
	for i := range d.published.Tables {
		t := &d.published.Tables[i]
		for j := range t.Rows {
			r := &t.Rows[j]
			for c := range t.Columns {
				p := t.at(r, &t.Columns[c], &t.variants(r)[0])
				if t.Columns[c].Label || p.Experiment != name || p.Test != test || p.Figure != of || p.As != "" {
					continue
				}
				y, ok := parse(r.Cells[c])
				if _, known := found[p.Rung]; ok && (!known || t.Transposed) {
					found[p.Rung] = y
				}
			}
		}
	}
	return found
}

// parse reads the number that a published cell begins with, a time as seconds.
func parse(cell string) (float64, bool) {
	first, _, _ := strings.Cut(strings.Trim(cell, "~<>"), " ")
	first = strings.TrimSuffix(strings.ReplaceAll(first, ",", ""), "+")
	if v, err := strconv.ParseFloat(first, 64); err == nil {
		return v, true
	}
	v, err := time.ParseDuration(first)
	return v.Seconds(), err == nil
}

// bySize has the items per second of the tests whose requests carry more and more.
func (d *document) bySize() *figure {
	f := &figure{name: "events", title: "Events per second over events per request", crosses: "published, with ten times the connections",
		note: "Connections differ from point to point, as they did in what was published. What was published went over a way of 250 ms; what was published once stands with the experiment that has it in front."}
	items := record.Figures["items"]
	var sizes []float64
	f.Lines = d.lines(func(e experiment.Experiment, line *plot.Line) {
		for _, test := range []struct {
			name string
			size float64
		}{{"events-append", 1}, {"events-batch-10", 10}, {"events-optimal", 100}, {"events-batch-100", 100}, {"events-batch-500", 500}, {"events-batch-1000", 1000}} {
			rungs := record.Rungs(d.all[e.Name].LoadTest(test.name))
			if len(rungs) == 0 {
				continue
			}
			m, ok := mark(rungs[len(rungs)-1], items, test.size, line.Label)
			if !ok {
				continue
			}
			sizes = append(sizes, test.size)
			line.Points, line.Marks = append(line.Points, m.Point), append(line.Marks, m)
			if y := d.publishedCells(e.Name, test.name, "items")[len(rungs)]; y > 0 {
				line.Marks = append(line.Marks, cross(test.size, y, line.Label, rateTicks(y)))
			}
		}
	})
	f.X, f.Y = axis("events per request", sizes, rateTicks), axis("events per second", values(f.Lines), rateTicks)
	return f
}

// byPercentile has the whole distribution of the first step that sends, of all repetitions
// together, and marks with bars where something was published.
func (d *document) byPercentile(name, title, test string) *figure {
	nines := 1.0
	f := &figure{name: name, title: title, note: "A line for each experiment, from the merged histograms of its repetitions; each further nine takes the same room."}
	f.Lines = d.lines(func(e experiment.Experiment, line *plot.Line) {
		rungs := record.Rungs(d.all[e.Name].LoadTest(test))
		if len(rungs) == 0 {
			return
		}
		for _, p := range merged(rungs[0]).Percentiles() {
			if p.Share < 1 {
				line.Points = append(line.Points, plot.Point{X: p.Share, Y: p.Time.Seconds()})
				nines = max(nines, plot.Nines(p.Share))
			}
		}
		if len(line.Points) == 0 {
			return // the table has what the status says
		}
		for _, q := range []struct {
			figure string
			share  float64
		}{{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}} {
			if m, ok := mark(rungs[0], record.Figures[q.figure], q.share, line.Label); ok {
				line.Marks = append(line.Marks, m)
			}
			theirs := d.publishedCells(e.Name, test, q.figure)
			for _, rung := range []int{0, 1} {
				if y := theirs[rung]; y > 0 {
					f.crosses = "published"
					line.Marks = append(line.Marks, cross(q.share, y, line.Label, timeTicks(y)))
				}
			}
		}
	})
	f.X = plot.Axis{Title: "percentile", Scale: plot.Tail(nines), Ticks: []plot.Tick{{At: 0, Label: "0"}, {At: 0.5, Label: "p50"}, {At: 0.9, Label: "p90"}}}
	if nines >= 2 {
		f.X.Ticks = append(f.X.Ticks, plot.Tick{At: 0.99, Label: "p99"})
	}
	if nines >= 3 {
		f.X.Ticks = append(f.X.Ticks, plot.Tick{At: 0.999, Label: "p99.9"})
	}
	f.Y = axis("response time", values(f.Lines), timeTicks)
	return f
}

// merged is the histogram of all repetitions; empty if one of them has none.
func merged(rung record.Rung) *measure.Histogram {
	sum := measure.NewHistogram()
	for _, step := range rung.Repetitions {
		h, err := measure.DecodeHistogram(step.Result.Histogram, 0)
		if err != nil || sum.Merge(h) != nil {
			return measure.NewHistogram()
		}
	}
	return sum
}

// values are all that has to have a place on the Y axis.
func values(lines []plot.Line) (list []float64) {
	for _, l := range lines {
		for _, p := range l.Points {
			list = append(list, p.Y)
		}
		for _, m := range l.Marks {
			list = append(list, m.Y, m.Least, m.Greatest)
		}
	}
	return slices.DeleteFunc(list, func(v float64) bool { return v <= 0 })
}

func axis(title string, values []float64, label func(float64) string) plot.Axis {
	scale, ticks := plot.Bounds(values)
	a := plot.Axis{Title: title, Scale: scale}
	for _, v := range ticks {
		a.Ticks = append(a.Ticks, plot.Tick{At: v, Label: label(v)})
	}
	return a
}
