package audit

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// Tally divides the requests of a kind by what is known of them.
type Tally struct {
	Sent int64
	// Acknowledged had the expected response: the target has carried them out.
	Acknowledged int64
	// Ambiguous had none, or one of an unsure server: it may have carried them
	// out.
	Ambiguous int64
}

// Kinds are the tallies of a finished run by the kind of request, summed over
// its steps.
func Kinds(s v1alpha1.LoadTestStatus) map[string]Tally {
	kinds := map[string]Tally{}
	for _, step := range s.Steps {
		if step.Result == nil {
			continue
		}
		for _, k := range step.Result.Kinds {
			kinds[k.Name] = kinds[k.Name].Plus(tally(k.Counts))
		}
	}
	return kinds
}

// tally sorts the outcomes. A connection that was refused, a name that did not
// resolve and an answer of status 400 to 499 are certain: nothing was carried
// out. A server error is not: whoever answers so, a proxy above all, may not
// know what became of the request.
func tally(c v1alpha1.Counts) Tally {
	o := c.Outcomes
	return Tally{
		Sent:         c.Sent,
		Acknowledged: c.Expected,
		Ambiguous:    o.Timeout + o.Reset + o.BadResponse + o.Unfinished + o.Other + o.ServerError,
	}
}

// Plus is the tally of both.
func (t Tally) Plus(o Tally) Tally {
	return Tally{Sent: t.Sent + o.Sent, Acknowledged: t.Acknowledged + o.Acknowledged, Ambiguous: t.Ambiguous + o.Ambiguous}
}

// Times is the tally of what the requests carry, each of them n.
func (t Tally) Times(n int64) Tally {
	return Tally{Sent: n * t.Sent, Acknowledged: n * t.Acknowledged, Ambiguous: n * t.Ambiguous}
}

// Failed is how many were not acknowledged.
func (t Tally) Failed() int64 { return t.Sent - t.Acknowledged }

// Enough says whether so much was acknowledged that the audit says something:
// nine of ten requests or, when a pod was killed, any.
func (t Tally) Enough(disturbed bool) error {
	if t.Acknowledged == 0 || !disturbed && 10*t.Acknowledged < 9*t.Sent {
		return fmt.Errorf("only %d of %d were acknowledged", t.Acknowledged, t.Sent)
	}
	return nil
}

// Sent is how many requests the whole run sent, and how many failed.
func Sent(s v1alpha1.LoadTestStatus) (sent, failed int64) {
	for _, step := range s.Steps {
		if step.Result != nil {
			sent += step.Result.Sent
			failed += step.Result.Failed
		}
	}
	return sent, failed
}
