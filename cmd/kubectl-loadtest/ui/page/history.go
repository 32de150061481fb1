package page

import (
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
)

// mostHistory is how many runs a history shows: the newest.
const mostHistory = 200

// History is the page of the runs of a schedule or of a name; nil: there is neither.
func (s Site) History(k Known, key runs.Key, schedule *v1beta1.LoadTestSchedule) (*Page, error) {
	all := familiesOf(k.Runs)
	family := all[key]
	if len(family) == 0 && schedule == nil {
		return nil, nil
	}
	p := &Page{Kicker: "Runs of a name in " + key.Namespace, Title: key.Name, Refresh: 10 * time.Second}
	var facts []report.Fact
	if schedule != nil {
		p.Kicker, facts = "Schedule in "+key.Namespace, scheduleFacts(schedule)
	}
	shown := family[max(0, len(family)-mostHistory):]
	list := table{Base: s.Base, Title: "Runs", Empty: "No run of it is there.", Chosen: true}
	for _, r := range slices.Backward(shown) {
		list.Rows = append(list.Rows, s.row(r, all, k.Now))
	}
	if len(shown) < len(family) {
		list.Place = fmt.Sprintf("the newest %d of %d", len(shown), len(family))
	}
	trends := func() (Part, error) { return trendPart(shown) }
	var err error
	p.Parts, err = parts(announced("troubles", k.Troubles), of("facts", facts), announced("changes", runs.LevelChanges(shown)), trends, of("ended", list))
	return p, err
}

func scheduleFacts(o *v1beta1.LoadTestSchedule) []report.Fact {
	list := []report.Fact{{Name: "Starts by", Text: o.Status.Summary.Schedule}}
	if next := o.Status.Summary.Next; next != "" {
		list = append(list, report.Fact{Name: "Next run", Text: next})
	}
	if trend := o.Status.Summary.Trend; trend != "" {
		list = append(list, report.Fact{Name: "Last against its baseline", Text: trend})
	}
	if level := o.Status.Summary.Level; level != "" {
		list = append(list, report.Fact{Name: "Latest change of a level", Text: level})
	}
	if o.Spec.Suspend {
		list = append(list, report.Fact{Name: "Suspended", Text: "by spec.suspend: it starts nothing"})
	}
	if c := meta.FindStatusCondition(o.Status.Conditions, v1beta1.ConditionReady); c != nil {
		list = append(list, report.Fact{Name: c.Type, Text: c.Message})
	}
	return list
}

// trendPart draws what the runs sustained, and their p95, the oldest first.
func trendPart(family []*runs.Run) (Part, error) {
	var drawn []template.HTML
	for _, p := range trends(family) {
		markup, err := p.Draw()
		if err != nil {
			return Part{}, err
		}
		drawn = append(drawn, markup)
	}
	return part("trends", drawn)
}

func trends(family []*runs.Run) []html.Plot {
	unit := ""
	for _, r := range family {
		if r.Load > 0 {
			unit = r.Unit // of the newest: a schedule may have changed from users to a rate
		}
	}
	kept := trend(family, "sustained", func(r *runs.Run) (float64, string) {
		if r.Unit != unit {
			return 0, ""
		}
		return r.Load, r.Sustained
	})
	late := trend(family, "p95", func(r *runs.Run) (float64, string) { return r.Late.Seconds(), html.Time(r.Late) })
	x := runsAxis(family)
	var list []html.Plot
	if len(kept.Points) > 1 {
		y := html.RateAxis(valuesOf(kept))
		y.Title = map[string]string{"users": "users", "/s": "requests per second", " sessions/s": "sessions per second"}[unit]
		list = append(list, html.Plot{
			Title: "Sustained", Note: "The largest load that each run kept: a cross is a run that did not pass.",
			Spoken: "The largest load that each run kept, from run to run. The table has the same figures.",
			Figure: plot.Figure{X: x, Y: y, Lines: []plot.Line{kept}},
		})
	}
	if len(late.Points) > 1 {
		list = append(list, html.Plot{
			Title: "Response time, p95", Note: "Of the step that says most of each run: the highest that was kept, else the last. With loads, of all requests of all.",
			Spoken: "The 95th percentile of response time, from run to run. The table has the same figures.",
			Figure: plot.Figure{X: x, Y: html.TimeAxis(valuesOf(late)), Lines: []plot.Line{late}},
		})
	}
	return list
}

// trend is a line through the values of runs; what is not positive is not known.
func trend(family []*runs.Run, label string, of func(*runs.Run) (float64, string)) plot.Line {
	line := plot.Line{Label: label, Class: "main"}
	for i, r := range family {
		v, written := of(r)
		if v <= 0 || !r.Finished {
			continue
		}
		at := plot.Point{X: float64(i + 1), Y: v}
		line.Points = append(line.Points, at)
		shape := plot.Dot
		if r.Verdict != string(v1beta1.VerdictPassed) {
			shape = plot.Cross
		}
		line.Marks = append(line.Marks, plot.Mark{Point: at, Shape: shape, Title: fmt.Sprintf("%s: %s, %s", r.Name, written, r.Verdict)})
	}
	return line
}

func valuesOf(line plot.Line) (values []float64) {
	for _, p := range line.Points {
		values = append(values, p.Y)
	}
	return values
}

// runsAxis has the runs in order, with the day on which each was created.
func runsAxis(family []*runs.Run) plot.Axis {
	axis := plot.Axis{Title: "runs, the oldest first", Scale: plot.Linear(0.5, float64(len(family))+0.5)}
	for i, r := range family {
		axis.Ticks = append(axis.Ticks, plot.Tick{At: float64(i + 1), Label: r.Created.UTC().Format("Jan 2")})
	}
	return axis
}

// comparePath is the page of two runs side by side.
func (s Site) comparePath(a, b *runs.Run) string {
	query := url.Values{"run": {a.Namespace + "/" + a.Name, b.Namespace + "/" + b.Name}}
	return s.path("compare") + "?" + query.Encode()
}
