package lifecycle

import (
	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// hold keeps a run from beginning until what the administrator decided is over. A change
// of the configuration has every run looked at again.
func (r *run) hold(h *policy.Hold) {
	r.suspend(holdReasons[h.Cause], h.Why)
	if !h.Until.IsZero() {
		r.wake(h.Until)
	}
}

var holdReasons = map[policy.Cause]string{
	policy.Invalid: v1alpha1.ReasonConfigurationInvalid,
	policy.Stopped: v1alpha1.ReasonStopped,
}
