package loadtest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

// 200 LoadTests are restored at once, through a cache that is behind: ten run, and the
// others wait in order, each with its place. Another process keeps to the same.
func TestRestoredLoadTestsDoNotAllBegin(t *testing.T) {
	t.Parallel()
	const all, most = 200, 10
	r := newFixture(t, cached(t))
	r.workers.absent, r.Policy = true, tenAtOnce
	r.readPastCache(unhurried{apiserver.Client(t)})
	list := restored(t, all)
	cachedAs(t, r.client, list[all-1], &v1beta1.LoadTest{})
	r.passes(list)
	began, queued := inPhase(list, v1beta1.PhaseStarting), inPhase(list, v1beta1.PhaseQueued)
	if len(began) != most || len(queued) != all-most {
		t.Fatalf("%d begin and %d wait, want %d and %d", len(began), len(queued), most, all-most)
	}
	for _, lt := range queued {
		c := meta.FindStatusCondition(lt.Status.Conditions, v1beta1.ConditionQueued)
		if want := fmt.Sprintf(" of 190: 10 of 10 runs of namespace %s are under way.", lt.Namespace); c.Reason != v1beta1.ReasonNamespaceRuns || !strings.HasSuffix(c.Message, want) || lt.Status.StartTime != nil {
			t.Fatalf("%s: %s, %s", lt.Name, c.Reason, c.Message)
		}
	}
	again := newFixture(t, cached(t))
	again.workers.absent, again.Policy = true, tenAtOnce
	again.readPastCache(unhurried{apiserver.Client(t)})
	for _, lt := range began {
		cachedAs(t, again.client, lt, &v1beta1.LoadTest{}) // a leader begins some time after the one before
	}
	for range 2 {
		again.passes(list)
		if n := len(inPhase(list, v1beta1.PhaseStarting)); n != most {
			t.Fatalf("another process has %d runs begin, want %d", n, most)
		}
	}
}

// A run whose workers do not become ready keeps its place from no other for more than two minutes,
// and has it again when the others have ended.
func TestPlaceGoesToARunThatCanStart(t *testing.T) {
	t.Parallel()
	r := crowded(t, "runs: 1", "")
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
