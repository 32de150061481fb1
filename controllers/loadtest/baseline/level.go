package baseline

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/changepoint"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/text"
)

const (
	// MostRuns is how many runs of a schedule a level is told from: the newest.
	MostRuns = 60
	// mostSteps is how many steps a status has of a baseline.
	mostSteps = 1024
)

// Level is what the runs of a schedule measured.
type Level struct {
	// Schedule is its name.
	Schedule string
	// Runs are those that passed, the oldest first.
	Runs []Past
}

// Past is what a run of a schedule measured, as far as another is compared with it. A LoadTest has up
// to a megabyte, and a level sixty of them.
type Past struct {
	name, uid string
	completed *metav1.Time
	rungs     []pastRung
	// misfit is why the run cannot be compared with; empty: it can.
	misfit string
}

// pastRung is a rung of an earlier run, with one figure of each quantity, whatever its repetitions.
type pastRung struct {
	rungs.Rung
	sent    int64
	figures []v1beta1.Figure
}

// Read keeps what a run of this spec needs of one that passed.
func Read(spec *v1beta1.LoadTestSpec, passed *v1beta1.LoadTest) Past {
	p := Past{name: passed.Name, uid: string(passed.UID), completed: passed.Status.CompletionTime, misfit: otherTraffic(spec, passed)}
	if p.misfit != "" {
		return p
	}
	for _, rung := range rungs.Of(results.CompleteSteps(&passed.Status)) {
		if brokenIn(spec, &rung, parts(spec)) == nil {
			p.rungs = append(p.rungs, readRung(spec, rung))
		}
	}
	return p
}

func readRung(spec *v1beta1.LoadTestSpec, rung rungs.Rung) pastRung {
	past := pastRung{Rung: rung}
	past.Steps = nil
	var all []v1beta1.Figure
	for _, step := range rung.Steps {
		if step.Result != nil && rungs.IsSound(step.Result) {
			past.sent += step.Result.Sent
			all = append(all, metric.Figures(step.Result, parts(spec))...)
		}
	}
	for _, q := range bounded(spec) {
		var ofAll []v1beta1.Figure
		for _, f := range all {
			if quantityOf(&f) == q && valueOf(&f) != nil {
				ofAll = append(ofAll, f)
			}
		}
		if len(ofAll) > 0 {
			slices.SortStableFunc(ofAll, func(a, b v1beta1.Figure) int { return valueOf(&a).Cmp(valueOf(&b)) })
			past.figures = append(past.figures, ofAll[(len(ofAll)-1)/2])
		}
	}
	return past
}

// bounded are the quantities whose levels are told: p99, which the trend of a schedule shows, and
// those that thresholds bound.
func bounded(spec *v1beta1.LoadTestSpec) []metric.Quantity {
	list := []metric.Quantity{{Metric: "p99"}}
	for i := range spec.Thresholds {
		t := &spec.Thresholds[i]
		if q := Of(t); t.IsRelative() && !slices.Contains(list, q) {
			list = append(list, q)
		}
	}
	return list
}

func quantityOf(f *v1beta1.Figure) metric.Quantity {
	return metric.Quantity{Metric: f.Metric, Type: f.Type, Request: f.Request}
}

// valueOf is the value of a figure; nil: it cannot be read.
func valueOf(f *v1beta1.Figure) *big.Rat {
	value, err := metric.Parse(f.Metric, f.Value)
	if err != nil {
		return nil
	}
	return value
}

// CopyLevel is what a run of these steps keeps of the level of a schedule, to compare itself with:
// of each quantity in each rung, the figures of the runs since it changed.
func CopyLevel(spec *v1beta1.LoadTestSpec, steps []v1beta1.StepStatus, level *Level) (*v1beta1.BaselineStatus, *plan.Refusal) {
	var fit []Past
	misfit := ""
	for _, p := range level.Runs {
		if p.misfit == "" {
			fit = append(fit, p)
		}
		misfit = cmp.Or(p.misfit, misfit) // of the newest
	}
	out := &v1beta1.BaselineStatus{Schedule: level.Schedule}
	planned := rungs.Of(steps)
	for _, rung := range planned {
		out.Steps = append(out.Steps, levelOf(spec, &rung, fit, mostSteps/max(1, len(planned)))...)
	}
	if len(out.Steps) > 0 {
		newest := fit[len(fit)-1]
		out.Name, out.UID, out.Verdict, out.CompletionTime = newest.name, newest.uid, v1beta1.VerdictPassed, newest.completed
		return out, nil
	}
	message := fmt.Sprintf("spec.baseline.schedule: a level needs %d LoadTests of schedule %s that passed, sent the traffic of this run, and measured what it compares in a step that it has, too; %s passed, and %d of them sent that traffic",
		changepoint.LeastRuns, level.Schedule, text.Plural(int64(len(level.Runs)), "LoadTest"), len(fit))
	if misfit != "" {
		message += ". " + misfit
	} else {
		message += "; let it keep more (spec.successfulRunsHistoryLimit), or compare with one LoadTest (spec.baseline.name)."
	}
	return nil, &plan.Refusal{Reason: v1beta1.ReasonBaselineRefused, Message: message}
}

// Lacking are the thresholds on a difference, by their index, that cover a step of which the baseline
// has no level of their metric: too few runs had such a step, or enough samples in it.
func Lacking(spec *v1beta1.LoadTestSpec, steps []v1beta1.StepStatus, level *v1beta1.BaselineStatus) []int {
	var list []int
	for i := range spec.Thresholds {
		t := &spec.Thresholds[i]
		lacks := func(s v1beta1.StepStatus) bool { return t.Covers(&s) && !has(level, s.Rung, Of(t)) }
		if t.IsRelative() && slices.ContainsFunc(steps, lacks) {
			list = append(list, i)
		}
	}
	return list
}

// has says whether a level has a figure of a quantity in a rung.
func has(level *v1beta1.BaselineStatus, rung int32, q metric.Quantity) bool {
	return slices.ContainsFunc(level.Steps, func(s v1beta1.BaselineStep) bool {
		return s.Rung == rung && slices.ContainsFunc(s.Figures, func(f v1beta1.Figure) bool { return quantityOf(&f) == q })
	})
}

// levelOf are the runs that belong to the level of a quantity in a rung, at most so many, each with
// the figures that do.
func levelOf(spec *v1beta1.LoadTestSpec, rung *rungs.Rung, runs []Past, most int) []v1beta1.BaselineStep {
	var list []v1beta1.BaselineStep
	var of []pastRung
	for _, p := range runs {
		i := slices.IndexFunc(p.rungs, func(r pastRung) bool { return r.Name == rung.Name && rungs.SameLoad(&r.Load, &rung.Load) })
		if i >= 0 {
			of = append(of, p.rungs[i])
			list = append(list, v1beta1.BaselineStep{Name: rung.Name, Rung: rung.Number, Run: p.name, Sent: p.rungs[i].sent})
		}
	}
	for _, q := range bounded(spec) {
		var at []int
		var figures []v1beta1.Figure
		for i := range of {
			if j := slices.IndexFunc(of[i].figures, func(f v1beta1.Figure) bool { return quantityOf(&f) == q }); j >= 0 {
				at, figures = append(at, i), append(figures, of[i].figures[j])
			}
		}
		for k := sinceChange(figures); k < len(figures); k++ {
			list[at[k]].Figures = append(list[at[k]].Figures, figures[k])
		}
	}
	list = slices.DeleteFunc(list, func(s v1beta1.BaselineStep) bool { return len(s.Figures) == 0 })
	return list[max(0, len(list)-most):]
}

// sinceChange is the first of the figures that are of the current level; all of them, if one is 0,
// of which there is no ratio; and none, if they are too few for a level.
func sinceChange(figures []v1beta1.Figure) int {
	if len(figures) < changepoint.LeastRuns {
		return len(figures)
	}
	var values []float64
	for i := range figures {
		value, _ := valueOf(&figures[i]).Float64()
		if value <= 0 {
			return 0
		}
		values = append(values, value)
	}
	if changes := changepoint.Of(values); len(changes) > 0 {
		return changes[len(changes)-1].At
	}
	return 0
}
