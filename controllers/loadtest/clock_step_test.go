package loadtest_test

import (
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
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
		r.mustPass(lt)
		r.mustPass(lt)
		bringPods(t, lt)
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
