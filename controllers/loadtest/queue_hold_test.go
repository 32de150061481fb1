package loadtest_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
)

// A stop that is lifted in the middle of a pass, whenever that is, does not have a run
// begin for which there is no room.
func TestStopLiftedDuringAPassKeepsTheLimit(t *testing.T) {
	t.Parallel()
	const oneAtOnce = "limits: {runs: 10000, workers: 100000, namespaces: [{runs: 1}]}"
	free, held := limitedTo(oneAtOnce), limitedTo(oneAtOnce+"\nstop: {by: jane}")
	r := newFixture(t, apiserver.Client(t))
	r.workers.absent = true
	r.Policy = func() *policy.Policy { return free }
	list := restored(t, 2)
	r.passes(list[:1])
	for reads := range 5 {
		calls := 0
		r.Policy = func() *policy.Policy {
			if calls++; calls <= reads {
				return held
			}
			return free
		}
		if r.passes(list[1:]); list[1].Status.StartTime != nil {
			t.Fatalf("lifted after the policy was read %d times: two runs go on where one may", reads)
		}
	}
	r.Policy = func() *policy.Policy { return free }
	if r.passes(list[1:]); list[1].Status.Phase != v1beta1.PhaseQueued {
		t.Errorf("phase %s after the stop, want Queued", list[1].Status.Phase)
	}
}

func TestInvalidConfigurationHoldsARunUntilItIsCorrected(t *testing.T) {
	t.Parallel()
	invalid, err := policy.Next(nil, map[string]string{"config.yaml": "target: {}"})
	if err == nil {
		t.Fatal("the configuration is valid")
	}
	r, lt := newFixture(t, apiserver.Client(t)), hello(t)
	r.Policy = func() *policy.Policy { return invalid }
	r.mustPass(lt)
	held := meta.FindStatusCondition(lt.Status.Conditions, v1beta1.ConditionSuspended)
	if held == nil || held.Reason != v1beta1.ReasonConfigurationInvalid || !strings.Contains(held.Message, `config.yaml: unknown field "target"`) || lt.Status.StartTime != nil {
		t.Errorf("condition %+v, start time %v", held, lt.Status.StartTime)
	}
	r.Policy = func() *policy.Policy { return unlimited }
	r.mustPass(lt)
	if lt.Status.Phase != v1beta1.PhaseStarting || !meta.IsStatusConditionFalse(lt.Status.Conditions, v1beta1.ConditionSuspended) {
		t.Errorf("phase %s of a run that is not held any more", lt.Status.Phase)
	}
}
