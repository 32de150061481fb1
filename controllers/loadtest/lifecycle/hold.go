package lifecycle

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// What the administrator decided ends a run that has begun as spec.terminate does, and
// keeps one that has not from beginning. A change of the configuration has every run looked
// at; quiet hours begin and end at known instants.

var holdReasons = map[policy.Cause]string{
	policy.Invalid: v1alpha1.ReasonConfigurationInvalid,
	policy.Stopped: v1alpha1.ReasonStopped,
	policy.Quiet:   v1alpha1.ReasonQuietHours,
}

// hold keeps a run from beginning until it may.
func (r *run) hold() {
	r.suspend(holdReasons[r.held.Cause], r.held.Why+" The run begins when that is over.")
	if !r.held.Until.IsZero() {
		r.wake(r.held.Until)
	}
}

// stopIfHeld notes the instant from which a run that has begun is being stopped, and why:
// both hold if the cause ends meanwhile. A process that has not directed the run, or its
// step, does not have workers begin it in this pass.
func (r *run) stopIfHeld() {
	if r.read.StopTime != nil || !r.held.Ends() {
		return
	}
	now := metav1.NewMicroTime(r.now)
	r.out.Status.StopTime, r.out.Status.StopCause = &now, r.stopCause()
	r.out.Undirected = r.seen.Since.IsZero()
	if r.seen.Undirected {
		r.out.Directive.Start = nil
	}
}

func (r *run) stopCause() *v1alpha1.StopCause {
	return &v1alpha1.StopCause{Reason: holdReasons[r.held.Cause], Message: r.held.Why}
}

// beforeQuiet asks for a pass when quiet hours begin.
func (r *run) beforeQuiet() {
	if next := r.rules.NextQuiet(r.now); !next.IsZero() {
		r.wake(next)
	}
}

// quietNote says of a run that begins now that it may not come to its end.
func (r *run) quietNote(steps []v1alpha1.StepStatus) string {
	next := r.rules.NextQuiet(r.now)
	var longest time.Duration
	for i := range steps {
		longest += lengthOf(&steps[i])
	}
	if next.IsZero() || !next.Before(r.now.Add(longest)) {
		return ""
	}
	return " Quiet hours begin at " + next.UTC().Format("15:04 UTC") + ", and would end it if its steps take as long as they may."
}
