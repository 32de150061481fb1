package attack

import (
	"sync/atomic"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// closedUsers send their next request when the last was answered and they have thought.
// It is due then. The first is due at the start, with the warm-up if there is one, or
// soon after it; that of a user who comes later on a ramp, when it comes.
type closedUsers struct {
	users
	// requests of each user; 0: for as long as the user takes part.
	requests int64
	ramp     pace.UserRamp
	think    pace.Think
	draws    pace.Draws
	missed   []atomic.Int64 // by request: those that were due, and not sent
}

var (
	_ schedule     = (*closedUsers)(nil)
	_ userSchedule = (*closedUsers)(nil)
)

func (l ClosedUsers) schedule(s StepShare, c Config) schedule {
	return newClosedUsers(s, c, l.Think, closedUsers{
		ramp: pace.UserRamp{From: s.Total, To: s.Total, Length: l.Duration},
	})
}

func (l Burst) schedule(s StepShare, c Config) schedule {
	return newClosedUsers(s, c, l.Think, closedUsers{requests: l.Requests})
}

func newClosedUsers(s StepShare, c Config, think pace.Think, u closedUsers) *closedUsers {
	u.users, u.think, u.draws = s.users(), think, pace.NewDraws(c.Seed, s.Index)
	u.missed = make([]atomic.Int64, c.Source.Len())
	return &u
}

func (c *closedUsers) feed(s *scheduler) feed { return newUserFeed(c.users, c, s) }

func (c *closedUsers) dueAt(j, k int64, free time.Duration) (time.Duration, bool) {
	if c.requests > 0 {
		return free, k < c.requests
	}
	user := c.share.Number(j)
	begin, end := c.ramp.Span(user)
	if k == 0 {
		free = max(begin, free+c.firstPause(user))
	}
	return free, free < end
}

// firstPause spreads the first requests of those who begin together over the mean think
// time.
func (c *closedUsers) firstPause(user int64) time.Duration {
	if user >= c.ramp.From {
		return 0
	}
	// The mean is below 2^42 ns, and the number of a user below 2^20.
	return c.think.Mean() * time.Duration(user) / time.Duration(c.ramp.From)
}

// failedPause is the least pause of a closed user after a request that did not reach the
// target. Without it, users that are refused would do nothing but dial.
const failedPause = 100 * time.Millisecond

func (c *closedUsers) pause(j, k int64, o measure.Outcome) (forced, thinks time.Duration) {
	thinks = c.think.Draw(c.draws, c.share.Number(j), k)
	if c.requests == 0 && unreachable(o) {
		forced = max(0, failedPause-thinks)
	}
	return forced, thinks
}

// unreachable reports whether a request failed before the target saw it.
func unreachable(o measure.Outcome) bool {
	return o == measure.Refused || o == measure.DNS || o == measure.TLS || o == measure.Other
}

// dropped counts a request that a user who had thought should have sent in the window, and
// that its worker could not send.
func (c *closedUsers) dropped(h *hit) {
	thought := !c.think.IsNone() || h.walk != nil && h.walk.waited
	if thought && c.requests == 0 && h.counts() {
		c.missed[h.request].Add(1)
	}
}

// missedOfAll is how many of all requests.
func (c *closedUsers) missedOfAll() (sum int64) {
	for i := range c.missed {
		sum += c.missed[i].Load()
	}
	return sum
}

// missedOf is how many of a request were due, and not sent; none of other loads, for which
// it is known from the schedule.
func (c *closedUsers) missedOf(request int) int64 {
	if c == nil {
		return 0
	}
	return c.missed[request].Load()
}
