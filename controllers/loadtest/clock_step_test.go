package loadtest_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// setClock is a clock that was set by so much since all readings of which it is asked the age.
type setClock struct {
	clock.PassiveClock
	by time.Duration
}

func (c *setClock) Now() time.Time { return c.PassiveClock.Now().Add(c.by) }

// A clock that is set while a step runs neither gives the workers up nor ends the step.
func TestAClockThatIsSetInAStepChangesNothing(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		r, lt := newFixture(t, apiserver.Client(t)), hello(t)
		set := &setClock{PassiveClock: r.clock}
		r.Clock = set
		r.prepare(lt)
		r.mustPass(lt)
		r.workers.silent = true
		r.mustPass(lt)
		set.by = by
		r.after(500 * time.Millisecond)
		if r.mustPass(lt); lt.Status.Steps[0].State != v1beta1.StepRunning || lt.Status.Workers.Silent+lt.Status.Workers.Lost > 0 {
			t.Errorf("set by %v, the step is %s, and the workers %+v", by, lt.Status.Steps[0].State, lt.Status.Workers)
		}
		r.workers.silent = false
		r.after(2 * time.Second)
		if r.mustPass(lt); lt.Status.Verdict != v1beta1.VerdictPassed {
			t.Errorf("set by %v, the run is %s: %+v", by, lt.Status.Verdict, lt.Status.Conditions)
		}
	}
}

// A clock that is set while a load runs changes nothing of when the load after it begins.
func TestAClockThatIsSetBetweenLoadsKeepsNoneWaiting(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		c := apiserver.Client(t)
		r, lt := newFixture(t, c), sale(t)
		lt.Spec.Loads[1].After = "readers"
		must.Succeed(t, c.Update(t.Context(), lt))
		set := &setClock{PassiveClock: r.clock}
		r.Clock = set
		r.mustPass(lt)
		r.mustPass(lt)
		for _, one := range loadsOf(t, lt) {
			r.mustPass(one)
			one.Status.Phase, one.Status.Workers.Ready = v1beta1.PhaseStarting, one.Status.Workers.Desired
			meta.SetStatusCondition(&one.Status.Conditions, metav1.Condition{Type: v1beta1.ConditionWorkersReady, Status: metav1.ConditionTrue, Reason: v1beta1.ReasonAllReady})
			must.Succeed(t, c.Status().Update(t.Context(), one))
		}
		r.mustPass(lt)
		r.mustPass(lt)
		if lt.Status.Phase != v1beta1.PhaseRunning {
			t.Fatalf("%s %+v", lt.Status.Phase, lt.Status.Conditions)
		}
		set.by = by
		r.after(10 * time.Second)
		one := loadsOf(t, lt)[0]
		one.Status.Phase, one.Status.Verdict = v1beta1.PhaseFinished, v1beta1.VerdictPassed
		one.Status.CompletionTime = ptr.To(metav1.NewTime(set.Now()))
		for _, kind := range []string{v1beta1.ConditionFinished, v1beta1.ConditionPassed, v1beta1.ConditionCarriedOut, v1beta1.ConditionThresholdsMet} {
			meta.SetStatusCondition(&one.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: "Passed"})
		}
		must.Succeed(t, c.Status().Update(t.Context(), one))
		r.mustPass(lt)
		begin := lt.Status.Loads[1].BeginTime
		if begin == nil {
			t.Fatalf("no begin: %+v", lt.Status.Loads)
		}
		if wait := begin.Sub(set.Now()); wait.Abs() > time.Minute {
			t.Errorf("the clock set by %v, buyers is to begin %v from now", by, wait)
		}
	}
}
