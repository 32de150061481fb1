package manifest

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// What a run takes besides its steps, as measured on two cores: until its workers are
// ready, for the responses that are waited for after a step that is too much for the
// target, and for audits to read a number twice.
const (
	start = 4 * time.Second
	drain = time.Second
	reads = 7 * time.Second
	// overload is how much longer the drain of a rung is that is too much for two cores,
	// from about so many users on.
	overload = 12 * time.Second
	many     = 1000
)

// Length is about how long a load test takes.
func Length(lt *v1beta1.LoadTest) time.Duration {
	total := start
	if len(lt.Spec.StoredAudits()) > 0 {
		total += reads
	}
	if s := lt.Spec.Setup; s != nil && s.WarmUp != nil {
		total += s.WarmUp.Duration.Duration
	}
	if l := lt.Spec.Ladder; l != nil {
		rungs := time.Duration(len(l.Users) + len(l.Rates))
		for _, users := range l.Users {
			if users > many {
				total += overload
			}
		}
		return total + rungs*(l.Duration.Duration+of(l.WarmUp)+drain) + (rungs-1)*of(l.Rest)
	}
	var once time.Duration
	for i := range lt.Spec.Steps {
		s := &lt.Spec.Steps[i]
		once += of(s.Duration) + of(s.WarmUp) + of(s.Pause) + drain
	}
	return total + time.Duration(max(lt.Spec.Repetitions, 1))*once
}

func of(d *metav1.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return d.Duration
}
