package manifest

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// What a run takes besides its steps, as measured on two cores: until its workers are
// ready, for the responses that are waited for after a step that is too much for the
// target, and for audits to read a number twice.
const (
	start = 4 * time.Second
	drain = time.Second
	reads = 7 * time.Second
	// overload is how much longer the drain of a rung is that is too much for two cores,
	// from about so many users on. With scaled limits such a target fails soon.
	overload = 8 * time.Second
	many     = 1000
)

// Length is about how long a load test takes: the steps that the operator plans, as often as
// they run, and what is around them.
func Length(lt *v1beta1.LoadTest) time.Duration {
	total := start
	if len(lt.Spec.StoredAudits()) > 0 {
		total += reads
	}
	if s := lt.Spec.Setup; s != nil && s.WarmUp != nil {
		total += s.WarmUp.Duration.Duration
	}
	for _, step := range plan.Steps(&lt.Spec) {
		l := &step.Load
		total += v1beta1.OrZero(l.WarmUp) + v1beta1.OrZero(l.Duration) + v1beta1.OrZero(l.Pause)
		if !l.IsPause() {
			total += drain
		}
		if l.Users > many {
			total += overload
		}
	}
	return total
}
