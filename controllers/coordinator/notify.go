package coordinator

import "time"

// urgency is how soon a change is to be told.
type urgency int

const (
	// soon: within a second, together with whatever else happens until then.
	soon urgency = iota
	// atOnce: now.
	atOnce
)

// pace is the least time between two notifications that are not urgent.
const pace = time.Second

// changed tells of a change of the run. The mutex must not be held.
func (c *Coordinator) changed(r *run, u urgency) {
	c.mu.Lock()
	now := c.dueLocked(r, u)
	c.mu.Unlock()
	if now {
		c.notify(r.id)
	}
}

// dueLocked says whether to notify now; if not, a timer will, so that the last
// change is told as well.
func (c *Coordinator) dueLocked(r *run, u urgency) bool {
	if r.forgotten || c.stopping {
		return false
	}
	wait := pace - c.clock.Since(r.notified)
	switch {
	case u == atOnce || wait <= 0:
		r.stopTimer()
		r.notified = c.clock.Now()
		return true
	case r.cancelTimer == nil:
		r.cancelTimer = c.after(wait, func() { c.changed(r, atOnce) })
	}
	return false
}

func (r *run) stopTimer() {
	if r.cancelTimer != nil {
		r.cancelTimer()
		r.cancelTimer = nil
	}
}
