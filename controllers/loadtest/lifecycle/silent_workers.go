package lifecycle

import (
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/instant"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// since is the instant at which this process first directed the run; now, if it has not.
func (r *inputs) since() time.Time {
	if r.seen.Since.IsZero() {
		return r.now
	}
	return r.seen.Since
}

// absentSince is the instant from which the worker has had no session, as far as this process
// can know.
func (r *inputs) absentSince(w exchange.Worker) time.Time {
	return instant.Later(w.LastSeen, r.since())
}

// isSilent says whether the worker has no session and may come back.
func (r *inputs) isSilent(w exchange.Worker) bool {
	return !w.Connected && !r.leaves(w) && !r.now.Before(r.absentSince(w).Add(silentAfter))
}

// waitUntil waits for a worker until a limit, and asks for a pass then. It reports whether the
// limit lies ahead.
func (r *running) waitUntil(limit time.Time, w exchange.Worker) (waits bool) {
	if !r.now.Before(limit) {
		return false
	}
	r.wake(limit)
	if soon := r.absentSince(w).Add(silentAfter); !w.Connected && r.now.Before(soon) {
		r.wake(soon)
	}
	return true
}

func (r *pass) silenceMessage() string {
	c, first := r.out.Status.Workers, r.now
	for i, w := range r.workers {
		if !r.isSilent(w) {
			continue
		}
		if w.Refusal != "" {
			return fmt.Sprintf("The operator does not accept what worker %d sends: %s. Its image may be of another version than the operator. The run waits for its measurements until the step's time limit.", i, w.Refusal)
		}
		first = instant.Earlier(first, r.absentSince(w))
	}
	return fmt.Sprintf("%d of %s silent since %s: the pod runs, but the worker is not connected. The run waits for its measurements until the step's time limit.", c.Silent, workers(c.Desired), text.Clock(first))
}
