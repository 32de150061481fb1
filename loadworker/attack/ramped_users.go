package attack

import (
	"errors"
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// RampedUsers are users whose number goes linearly From one To another. A user that ends
// sends no more; the request that it has in flight is answered, and counts.
type RampedUsers struct {
	From, To int64
	Duration time.Duration
	// Each is the rate of each user; 0: they send when the last request was answered and
	// they have thought.
	Each  pace.Rate
	Think pace.Think
}

var _ Load = RampedUsers{}

func (l RampedUsers) length() time.Duration { return l.Duration }

func (l RampedUsers) check() error {
	switch {
	case l.From < 1 || l.To < 1:
		return fmt.Errorf("a ramp must have at least one user, has %d to %d", l.From, l.To)
	case l.Each < 0:
		return checkRate(l.Each)
	case l.Each > 0 && !l.Think.IsNone():
		return errors.New("users with a rate do not think")
	}
	return l.Think.Check()
}

func (l RampedUsers) ramp() pace.UserRamp {
	return pace.UserRamp{From: l.From, To: l.To, Length: l.Duration}
}

func (l RampedUsers) schedule(s StepShare, c Config) schedule {
	if l.Each == 0 {
		return newClosedUsers(s, c, l.Think, closedUsers{ramp: l.ramp()})
	}
	return &rampedUsers{users: s.users(), turns: pace.RampedUsers{Ramp: l.ramp(), Each: l.Each, WarmUp: s.WarmUp}}
}

// rampedUsers each have a schedule, for as long as they take part.
type rampedUsers struct {
	users
	turns pace.RampedUsers
}

var (
	_ schedule     = (*rampedUsers)(nil)
	_ userSchedule = (*rampedUsers)(nil)
)

func (r *rampedUsers) feed(s *scheduler) feed { return newUserFeed(r.users, r, s) }

func (r *rampedUsers) dueAt(j, k int64, _ time.Duration) (time.Duration, bool) {
	return r.turns.Due(r.share.Number(j), k)
}

// pause is none: a user whose requests fail is due all the same.
func (*rampedUsers) pause(_, _ int64, _ measure.Outcome) (forced, thinks time.Duration) { return 0, 0 }

// dropped counts nothing: what was due is known from the schedule.
func (*rampedUsers) dropped(*hit) {}

// tallyDue adds what is due of each user from the first instant after the warm-up to
// before t.
func (r *rampedUsers) tallyDue(t time.Duration, to *source.Tally) {
	for j := range r.share.Count {
		user := r.share.Number(j)
		to.Add(user, r.turns.Before(user, t), 1)
		to.Add(user, r.turns.Before(user, 0), -1)
	}
}
