package lifecycle

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/search"
)

// appendProbe goes on with a search after its last probe: it appends the next probe to the
// plan, or the hold at the end, with the rest before it. It appends nothing if there is no
// search, or if it is over. The pass that reads the probe back gives it to the workers.
func (r *running) appendProbe() (appended bool) {
	s := &r.out.Status
	if r.spec.Search == nil {
		return false
	}
	searched, next := verdict.Searched(r.spec, s)
	s.Search = &searched
	r.tellProbe(&s.Steps[len(s.Steps)-1])
	switch {
	case next.State != search.Searching:
		return false
	case next.Hold:
		s.Steps = append(s.Steps, plan.Hold(r.spec, s, next.Next)...)
	default:
		s.Steps = append(s.Steps, plan.Probe(r.spec, s, next.Next)...)
	}
	return true
}

// tellProbe says what came of a probe.
func (r *running) tellProbe(step *v1beta1.StepStatus) {
	outcome := "the target could not be judged"
	switch sound := rungs.IsWhole(step, r.out.Status.Workers.Desired) && rungs.IsSound(step.Result); {
	case sound && step.ThresholdState == v1beta1.ThresholdFailed:
		outcome = "a threshold was breached"
	case sound && step.ThresholdState == v1beta1.ThresholdPassed:
		outcome = "every threshold was kept"
		switch o := step.Result.Outstanding; {
		case o.Grows():
			outcome += ", and outstanding requests grew"
		case o.IsUncertain():
			outcome += ", and outstanding requests may have grown because of the generator alone"
		}
	}
	r.event("Probed", fmt.Sprintf("Step %s: %s.", step.Name, outcome))
}
