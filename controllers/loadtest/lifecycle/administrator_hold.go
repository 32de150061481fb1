package lifecycle

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// The administrator's decisions end a run that has begun, as spec.terminate does, and keep a
// run that has not begun from beginning. A change of the configuration leads to a pass over
// every run; quiet hours begin and end at known instants.

var holdReasons = map[policy.Cause]string{
	policy.Invalid: v1beta1.ReasonConfigurationInvalid,
	policy.Stopped: v1beta1.ReasonStopped,
	policy.Quiet:   v1beta1.ReasonQuietHours,
}

// hold keeps a run from beginning until it may.
func (r *accepting) hold() {
	r.suspend(holdReasons[r.held.Cause], r.held.Why+" The run begins when that is over.")
	r.wake(r.held.Until)
}

// stopIfHeld writes the instant from which the administrator's decision stops the run, and
// why: both stay if the cause ends meanwhile. A process that has not directed the run, or its
// step, directs no worker to begin it in this pass.
func (r *running) stopIfHeld() (goesOn bool) {
	if r.read.Internal.StopTime != nil || !r.held.Ends() {
		return true
	}
	now := metav1.NewMicroTime(r.now)
	r.out.Status.Internal.StopTime, r.out.Status.Internal.StopCause = &now, r.stopCause()
	r.out.Undirected = r.seen.Since.IsZero()
	if r.seen.Undirected {
		r.out.Directive.Start = nil
	}
	return true
}

func (r *inputs) stopCause() *v1beta1.StopCause {
	return &v1beta1.StopCause{Reason: holdReasons[r.held.Cause], Message: r.held.Why}
}

// wakeBeforeQuiet asks for a pass when quiet hours begin.
func (r *pass) wakeBeforeQuiet() (goesOn bool) {
	r.wake(r.rules.NextQuiet(r.now))
	return true
}

// quietNote warns that quiet hours may end a run that begins now, and takes so long at most.
func (r *inputs) quietNote(longest time.Duration) string {
	next := r.rules.NextQuiet(r.now)
	if next.IsZero() || !next.Before(r.now.Add(longest)) {
		return ""
	}
	return " Quiet hours begin at " + next.UTC().Format("15:04 UTC") + ", and would end the run if its steps take as long as they may."
}
