package coordinator

import (
	"time"

	"golang.org/x/time/rate"
)

// urgency is how soon a change is notified.
type urgency int

const (
	// soon: within a second of the last notification, together with whatever else
	// happens until then.
	soon urgency = iota
	// atOnce: now, since the run waits for it; soon if that was said too often.
	atOnce
	// overdue: now, since the second is over.
	overdue
)

const (
	// notifyInterval is the least time between two notifications that are not urgent.
	notifyInterval = time.Second
	// urgentPerSecond and maxUrgent bound how many are urgent: a run has two or three
	// in a step, but a worker that is ready, and not, and ready again makes more.
	urgentPerSecond = 1
	maxUrgent       = 5
)

func newUrgentLimit() *rate.Limiter { return rate.NewLimiter(urgentPerSecond, maxUrgent) }

// notifyChange notifies of a change of the run. The mutex must not be held.
func (c *Coordinator) notifyChange(r *runState, u urgency) {
	var due bool
	c.locked(func() { due = c.isDue(r, u) })
	if due {
		c.notify(r.id)
	}
}

// isDue says whether to notify now. If not, a timer will, so that the last change is
// notified as well. The mutex is held.
func (c *Coordinator) isDue(r *runState, u urgency) bool {
	if r.forgotten || c.stopping {
		return false
	}
	now := c.clock.Now()
	wait := notifyInterval - now.Sub(r.notified)
	if u == overdue || wait <= 0 || u == atOnce && r.urgent.AllowN(now, 1) {
		r.stopTimer()
		r.notified = now
		return true
	}
	if r.cancelTimer == nil {
		r.cancelTimer = c.after(wait, func() { c.notifyChange(r, overdue) })
	}
	return false
}

func (r *runState) stopTimer() {
	if r.cancelTimer != nil {
		r.cancelTimer()
		r.cancelTimer = nil
	}
}
