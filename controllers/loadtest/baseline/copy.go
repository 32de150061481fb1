package baseline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// Copy is what a run of these steps keeps of a finished one, to compare itself with.
func Copy(spec *v1beta1.LoadTestSpec, steps []v1beta1.StepStatus, finished *v1beta1.LoadTest) (*v1beta1.BaselineStatus, *plan.Refusal) {
	s, refuse := &finished.Status, refuser(spec.Baseline)
	if what := unselected(spec, finished); what != "" {
		return nil, refuse("LoadTest %s %s.", finished.Name, what)
	}
	if s.Verdict != v1beta1.VerdictPassed && s.Verdict != v1beta1.VerdictFailed {
		return nil, refuse("the verdict of LoadTest %s is %s, so its figures say nothing about its target; name one whose verdict is Passed or Failed.", finished.Name, s.Verdict)
	}
	if what := otherTraffic(spec, finished); what != "" {
		return nil, refuse("%s", what)
	}
	matched, counterparts, broken := match(spec, steps, finished)
	switch {
	case len(matched) > 0:
	case broken != nil:
		return nil, refuse("no step of LoadTest %s can be used for the comparison: %s; name one whose target kept to its limits.", finished.Name, broken)
	case counterparts == 0:
		return nil, refuse("no step of LoadTest %s has the same name and load as a step of this run; name one with the same ladder or steps, or run them against the earlier version first.", finished.Name)
	default:
		return nil, refuse("LoadTest %s has steps with the same name and load as this run, but they did not run with all workers and the planned load; name another LoadTest, or run it again.", finished.Name)
	}
	return &v1beta1.BaselineStatus{
		Name: finished.Name, UID: string(finished.UID), Verdict: s.Verdict, CompletionTime: s.CompletionTime, Steps: matched,
	}, nil
}

// refuser makes refusals that begin with the field that is to change.
func refuser(b *v1beta1.Baseline) func(format string, args ...any) *plan.Refusal {
	field := "name"
	switch {
	case b != nil && b.Selector != nil:
		field = "selector"
	case b != nil && b.Schedule != "":
		field = "schedule"
	}
	return func(format string, args ...any) *plan.Refusal {
		return &plan.Refusal{Reason: v1beta1.ReasonBaselineRefused, Message: "spec.baseline." + field + ": " + fmt.Sprintf(format, args...)}
	}
}

// otherTraffic is why a finished run did not send what this one sends; empty: it did.
func otherTraffic(spec *v1beta1.LoadTestSpec, finished *v1beta1.LoadTest) string {
	if what := otherMix(mix(spec), mix(&finished.Spec)); what != "" {
		return fmt.Sprintf("LoadTest %s sends different requests, or the same ones in different proportions: %s; name one whose requests have the same names, types and weights.", finished.Name, what)
	}
	if what := difference(spec, finished); what != "" {
		return fmt.Sprintf("LoadTest %s sends different traffic (%s); name one that sends the same, or run the earlier version with this spec.", finished.Name, what)
	}
	return ""
}

// match are the figures of those steps that have a counterpart among the planned ones, how
// many planned ones have one at all, and why a counterpart is nothing to compare with. Then
// none of its repetitions is: which of them are good was not decided before they were
// measured.
func match(spec *v1beta1.LoadTestSpec, steps []v1beta1.StepStatus, finished *v1beta1.LoadTest) (matched []v1beta1.BaselineStep, counterparts int, broken error) {
	theirs, byPart := rungs.Of(results.CompleteSteps(&finished.Status)), parts(spec)
	for _, rung := range rungs.Of(steps) {
		counterpart := rungs.Find(theirs, &rung)
		if counterpart == nil {
			continue
		}
		counterparts++
		if err := brokenIn(spec, counterpart, byPart); err != nil {
			broken = cmp.Or(broken, err)
			continue
		}
		for _, step := range counterpart.Steps {
			if step.Result == nil || !rungs.IsSound(step.Result) {
				continue
			}
			matched = append(matched, v1beta1.BaselineStep{
				Name: step.Name, Rung: rung.Number, Repetition: step.Repetition,
				Sent: step.Result.Sent, Figures: metric.Figures(step.Result, byPart),
			})
		}
	}
	return matched, counterparts, broken
}

// brokenIn is why the steps of a rung are nothing to compare with; nil: they are.
func brokenIn(spec *v1beta1.LoadTestSpec, rung *rungs.Rung, byPart []metric.Quantity) error {
	for _, step := range rung.Steps {
		if step.Result == nil {
			continue
		}
		for _, q := range append([]metric.Quantity{{}}, byPart...) {
			if err := rungs.Broken(spec, step, rung.Name, q, "a baseline"); err != nil {
				return err
			}
		}
	}
	return nil
}

// parts are the quantities of a part of the requests that the thresholds bound.
func parts(spec *v1beta1.LoadTestSpec) []metric.Quantity {
	var list []metric.Quantity
	for i := range spec.Thresholds {
		t := &spec.Thresholds[i]
		if q := Of(t); t.IsRelative() && q != (metric.Quantity{Metric: t.Metric}) && !slices.Contains(list, q) {
			list = append(list, q)
		}
	}
	return list
}

// Of is the quantity that a threshold on a difference is about.
func Of(t *v1beta1.Threshold) metric.Quantity {
	q := metric.Quantity{Metric: t.Metric}
	if len(t.Types) > 0 {
		q.Type = t.Types[0]
	}
	if len(t.Requests) > 0 {
		q.Request = t.Requests[0]
	}
	return q
}

// part is a request's part of the traffic.
type part struct {
	name, kind string
	weight     int32
}

// mix is what a spec sends, by the names that the user gave it: the path of a request
// with a name may differ from one version of the target to the next.
func mix(spec *v1beta1.LoadTestSpec) []part {
	var list []part
	for i, request := range plan.RequestNames(spec) {
		weight := int32(1)
		if w := spec.Requests[i].Weight; w != nil {
			weight = *w
		}
		list = append(list, part{request.Name, request.Type, weight})
	}
	return list
}

// otherMix is the first in which two mixes differ; empty: they are the same.
func otherMix(ours, theirs []part) string {
	for i := range min(len(ours), len(theirs)) {
		switch a, b := ours[i], theirs[i]; {
		case a.name != b.name:
			return fmt.Sprintf("request %d is %s here, %s there", i+1, a.name, b.name)
		case a.kind != b.kind:
			return fmt.Sprintf("the type of request %s is %s here, %s there", a.name, a.kind, b.kind)
		case a.weight != b.weight:
			return fmt.Sprintf("the weight of request %s is %d here, %d there", a.name, a.weight, b.weight)
		}
	}
	if len(ours) != len(theirs) {
		return fmt.Sprintf("%d here, %d there", len(ours), len(theirs))
	}
	return ""
}
