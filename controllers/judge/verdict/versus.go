package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
)

// candidate is the index of the step whose result a step is part of: its own, or of a
// control's that of the candidate in the same pair.
func candidate(steps []v1beta1.StepStatus, i int) int {
	if at := slices.IndexFunc(steps, func(s v1beta1.StepStatus) bool {
		return s.Side == v1beta1.SideCandidate && s.Rung == steps[i].Rung && s.Repetition == steps[i].Repetition
	}); at >= 0 {
		return at
	}
	return i
}

// stopAfterPair has a run stop after a pair, for a breach in either of its steps, and never
// within it: so it is known what the other target did at that load.
func (j *Judged) stopAfterPair(spec *v1beta1.LoadTestSpec, status *v1beta1.LoadTestStatus, i int) {
	isHalf := slices.ContainsFunc(status.Steps[i+1:], func(s v1beta1.StepStatus) bool {
		return s.Rung == status.Steps[i].Rung && s.Repetition == status.Steps[i].Repetition
	})
	if j.Stop = false; isHalf {
		return
	}
	for n := range j.Thresholds {
		t := v1beta1.Threshold{} // a default one
		if n < len(spec.Thresholds) {
			t = spec.Thresholds[n]
		}
		j.Stop = j.Stop || j.Thresholds[n].State == v1beta1.ThresholdFailed && stops(spec, &t)
	}
}

// newPairs are the values of a metric in the steps of both sides of a rung, pair by pair.
// There are none if one of the steps says nothing of its target: to leave its pair out
// would be to choose the others by what was measured.
func newPairs(spec *v1beta1.LoadTestSpec, status *v1beta1.LoadTestStatus, t *v1beta1.Threshold, step *v1beta1.StepStatus) (sides, error) {
	s, q := sides{step: step.Name, of: status.Versus.Candidate, other: status.Versus.Control, paired: true}, baseline.Of(t)
	for _, pair := range rungs.Pairs(status.Steps, step.Rung) {
		if pair.Candidate == nil || pair.Control == nil {
			return s, fmt.Errorf("a step of the pair is missing") // not reached: both were planned
		}
		for _, of := range []*v1beta1.StepStatus{pair.Candidate, pair.Control} {
			switch {
			case of.TargetChanged():
				return s, fmt.Errorf("the target changed in step %s", of.Name)
			case !rungs.IsWhole(of, status.Workers.Desired):
				return s, fmt.Errorf("step %s did not run with all workers", of.Name)
			case !rungs.IsSound(of.Result):
				return s, fmt.Errorf("the generator did not send the planned load of step %s", of.Name)
			}
		}
		broken := rungs.Broken(spec, pair.Control, rungs.NameOf(status.Steps, step), q, "a control")
		if err := cmp.Or(broken, unknownIn(pair.Candidate, q), unknownIn(pair.Control, q)); err != nil {
			return s, err
		}
		s.addAfter(q, pair.Candidate.Result)
		s.addBefore(q, pair.Control.Result)
	}
	return s, nil
}
