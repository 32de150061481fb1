package loadtest_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
)

// A run whose workers do not become ready keeps its place from no other for more than two minutes,
// and has it again when the others have ended.
func TestPlaceGoesToARunThatCanStart(t *testing.T) {
	t.Parallel()
	r := newFixture(t, apiserver.Client(t))
	r.workers.absent = true
	r.Policy = func() *policy.Policy {
		return limitedTo("limits: {runs: 10000, workers: 100000, namespaces: [{runs: 1}]}")
	}
	list := restored(t, 2)
	phases := func(want ...v1beta1.Phase) {
		t.Helper()
		for i, lt := range list {
			if r.mustPass(lt); lt.Status.Phase != want[i] {
				t.Fatalf("%s is %s, want %s", lt.Name, lt.Status.Phase, want[i])
			}
		}
	}
	phases(v1beta1.PhaseStarting, v1beta1.PhaseQueued)
	r.clock.SetTime(r.clock.Now().Add(119 * time.Second))
	phases(v1beta1.PhaseStarting, v1beta1.PhaseQueued)
	r.clock.SetTime(r.clock.Now().Add(time.Second))
	phases(v1beta1.PhaseQueued, v1beta1.PhaseStarting)
	r.clock.SetTime(r.clock.Now().Add(time.Minute))
	phases(v1beta1.PhaseQueued, v1beta1.PhaseStarting)
	c := meta.FindStatusCondition(list[0].Status.Conditions, v1beta1.ConditionQueued)
	if !strings.HasPrefix(c.Message, "Place 1 of 1: 1 of 1 runs of namespace ") || !strings.HasSuffix(c.Message, "The run had a place for 120s and its workers were not ready; for as long, others that wait come first.") {
		t.Errorf("it waits with %q", c.Message)
	}
	r.end(list[1])
	phases(v1beta1.PhaseStarting, v1beta1.PhaseFinished)
}
