package verdict

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// maxMessage is the bound that the API puts on a threshold's message.
const maxMessage = 512

// Judged is what a finished step makes of the thresholds.
type Judged struct {
	// Thresholds are the results so far: of each its worst, in all repetitions, or in the
	// latest probe of a search.
	Thresholds []v1beta1.ThresholdStatus
	// At is the index of the step that Step and Repeated are of: the one that has ended,
	// or of a control's that of the candidate with which it is compared.
	At int
	// Step is the worst result in that step alone; empty when no threshold is about
	// it. Those with inRepetitions are in Repeated.
	Step     v1beta1.ThresholdState
	Repeated []v1beta1.RepeatedThreshold
	// Generator is the state of the generator in that step, if its delay decides a result
	// there; nil: it is as the step has it.
	Generator *v1beta1.GeneratorStatus
	// Stop says that all that follows is to be skipped.
	Stop bool
}

// Judge folds step i, which has ended, into the results of the steps before it,
// which are those in status.
func Judge(spec *v1beta1.LoadTestSpec, status *v1beta1.LoadTestStatus, i int, merged *measure.Measurement) Judged {
	j := Judged{Thresholds: slices.Clone(status.Thresholds), At: candidate(status.Steps, i)}
	step, isControl := &status.Steps[j.At], j.At != i
	if isControl {
		j.Step, j.Repeated = step.ThresholdState, step.Repeated
	}
	l := limits{spec: spec, steps: status.Steps, requests: status.Requests, merged: merged}
	for n := range j.Thresholds {
		t, ok := l.in(step, n, &j.Thresholds[n])
		if !ok || t.IsRelative() && repeats(status.Steps, i) || !t.IsRelative() && isControl {
			continue
		}
		if why := uncompared(spec, status, &t.Threshold, step); why != "" {
			j.leaveOut(status, n, &t.Threshold, why)
			continue
		}
		judged := judge(spec, status, &t, step, merged)
		if judged.Reason == v1beta1.ReasonGeneratorUncertain && !t.IsRelative() {
			j.Generator = blamed(status, step, merged)
		}
		j.add(spec, status, n, &t.Threshold, step, judged)
	}
	if !isControl {
		j.addRepeated(spec, status, i)
	}
	if step.Side != "" {
		j.stopAfterPair(spec, status, i)
	}
	return j
}

// leaveOut leaves threshold n unjudged in a step, but keeps its result of others. A search asks for its
// latest probe alone.
func (j *Judged) leaveOut(status *v1beta1.LoadTestStatus, n int, t *v1beta1.Threshold, why string) {
	if j.Thresholds[n].State != v1beta1.ThresholdPending && status.Search == nil {
		return
	}
	left := pending(t)
	left.Name, left.Message = j.Thresholds[n].Name, text.Truncate("It was not judged: "+why, maxMessage)
	j.Thresholds[n] = left
}

// add folds the result of threshold n in a step in.
func (j *Judged) add(spec *v1beta1.LoadTestSpec, status *v1beta1.LoadTestStatus, n int, t *v1beta1.Threshold, step *v1beta1.StepStatus, judged v1beta1.ThresholdStatus) {
	if t.InRepetitions != nil && status.Search == nil { // a search has one repetition: each probe is judged by itself
		j.Repeated = append(j.Repeated, v1beta1.RepeatedThreshold{
			Threshold: int32(n), State: judged.State, Observed: judged.Observed, WithoutGenerator: judged.WithoutGenerator, Reason: judged.Reason,
		})
		return
	}
	j.Stop = j.Stop || judged.State == v1beta1.ThresholdFailed && stops(spec, t)
	if severity[judged.State] > severity[j.Step] {
		j.Step = judged.State
	}
	if status.Search == nil {
		judged = worse(t, j.Thresholds[n], judged, status.Steps, step)
	}
	j.Thresholds[n] = judged
}

func stops(spec *v1beta1.LoadTestSpec, t *v1beta1.Threshold) bool {
	if spec.Search != nil {
		return false
	}
	return t.OnBreach == v1beta1.BreachStopLadder || t.OnBreach == v1beta1.BreachAbort || spec.Ladder != nil && spec.Ladder.StopOnBreach
}

// judge is the result of one threshold in one step.
func judge(spec *v1beta1.LoadTestSpec, run *v1beta1.LoadTestStatus, t *limit, step *v1beta1.StepStatus, merged *measure.Measurement) v1beta1.ThresholdStatus {
	if t.IsRelative() {
		return relative(spec, run, &t.Threshold, step)
	}
	status := pending(&t.Threshold)
	status.Default = t.isDefault
	status.Step = step.Name
	status.State = v1beta1.ThresholdInconclusive
	b, err := newBound(&t.Threshold)
	if err != nil {
		status.Message = fmt.Sprintf("The bound of %s cannot be read: %v.", subject(&t.Threshold), err)
		return status
	}
	b.isDefault = t.isDefault
	s, err := newSample(spec, run.Requests, &t.Threshold, step, merged)
	if err != nil {
		status.Message = fmt.Sprintf("%s cannot be judged: %v.", s.place(), err)
		return status
	}
	o := s.observe()
	if o.value == nil {
		status.Message = text.Truncate(o.caveat, maxMessage)
		return status
	}
	status.Observed = b.format(o.value)
	if ideal := b.format(o.ideally()); ideal != status.Observed {
		status.WithoutGenerator = ideal
	}
	d := decide(s, b, o)
	if status.State, status.Reason, status.Message = d.state, d.reason, d.message; d.state == v1beta1.ThresholdFailed {
		status.Message += cmp.Or(s.redirects(run.Requests), s.worst(run.Requests))
	}
	if g := blamed(run, step, merged); g != nil && d.reason == v1beta1.ReasonGeneratorUncertain {
		status.Message = joined(status.Message, g.Message)
	}
	if missing := s.missing(spec, run.Requests); missing != "" && d.state == v1beta1.ThresholdPassed {
		status.State, status.Message = v1beta1.ThresholdInconclusive, missing
	}
	if step.TargetChanged() {
		status.State, status.Reason = v1beta1.ThresholdInconclusive, ""
		status.Message = strings.TrimSuffix(status.Message, ".") + ", but the target was changed during the step."
	}
	status.Message = text.Truncate(status.Message, maxMessage)
	return status
}

// lacksLoad says whether a breach may be due to load that was not sent, or is in no
// report, because the step was cut: that makes rates low, and leaves unsent what might
// have been sent. Response times and failures are those of what was sent.
func (s sample) lacksLoad() bool {
	switch s.metric.Measured.(type) {
	case metric.PerSecond, metric.OfDue:
		return s.step.State == v1beta1.StepCut
	}
	return false
}

// severity orders the states; the worst of all steps is the threshold's result.
// No state at all is less than any.
var severity = map[v1beta1.ThresholdState]int{
	v1beta1.ThresholdPending:      0,
	v1beta1.ThresholdPassed:       1,
	v1beta1.ThresholdInconclusive: 2,
	v1beta1.ThresholdFailed:       3,
}

// worse is the worse of two results of a threshold. Of two breaches, or doubts,
// the one at the lower rung counts, of the same rung the first: the target broke
// there, in whatever repetition. Of two passes the narrower one does.
func worse(t *v1beta1.Threshold, old, latest v1beta1.ThresholdStatus, steps []v1beta1.StepStatus, step *v1beta1.StepStatus) v1beta1.ThresholdStatus {
	switch before, now := severity[old.State], severity[latest.State]; {
	case now > before:
		return latest
	case now < before:
		return old
	case latest.State == v1beta1.ThresholdPassed && narrower(t, latest, old),
		latest.State != v1beta1.ThresholdPassed && below(steps, step, old.Step):
		return latest
	}
	return old
}

// below says whether a step is at a lower rung than the one of that name.
func below(steps []v1beta1.StepStatus, step *v1beta1.StepStatus, name string) bool {
	for i := range steps {
		if other := &steps[i]; !other.Load.IsPause() && other.Name == name {
			return step.Rung < other.Rung
		}
	}
	return false
}

// narrower says whether a was kept by a smaller margin than c.
func narrower(t *v1beta1.Threshold, a, c v1beta1.ThresholdStatus) bool {
	b, err := newBound(t)
	va, errA := b.unit.Parse(a.Observed)
	vc, errC := b.unit.Parse(c.Observed)
	return errors.Join(err, errA, errC) == nil && b.closer(va, vc)
}
