package lifecycle

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/verdict"
)

// appendProbe goes on with a search after its last probe: it appends the next one to the
// plan, with the rest before it. It is false if there is nothing to append: no search, or
// one that is over. Workers have the probe from the pass on that reads it back.
func (r *run) appendProbe() bool {
	s := &r.out.Status
	if s.Search == nil || r.spec.Search == nil || len(s.Steps) == 0 {
		return false
	}
	searched, next := verdict.Searched(r.spec, s)
	s.Search = &searched
	r.tellProbe(&s.Steps[len(s.Steps)-1])
	if next == 0 {
		return false
	}
	s.Steps = append(s.Steps, plan.Probe(r.spec, s, next)...)
	return true
}

// tellProbe says what came of a probe.
func (r *run) tellProbe(step *v1alpha1.StepStatus) {
	outcome := map[v1alpha1.ThresholdState]string{
		v1alpha1.ThresholdPassed: "every threshold was kept",
		v1alpha1.ThresholdFailed: "a threshold was breached",
	}[step.ThresholdState]
	if outcome == "" || step.Result != nil && step.Result.Generator != nil && !step.Result.Generator.Healthy {
		outcome = "nothing can be said of the target"
	}
	r.event("Probed", fmt.Sprintf("Step %s: %s.", step.Name, outcome))
}
