package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// pacedUsers each have a schedule.
type pacedUsers struct {
	users
	turns    pace.Users
	duration time.Duration
}

var (
	_ schedule     = (*pacedUsers)(nil)
	_ userSchedule = (*pacedUsers)(nil)
)

func (l PacedUsers) schedule(s StepShare, _ Config) schedule {
	turns := pace.Users{Rate: l.Rate, Share: s.Share, Total: s.Total, WarmUp: s.WarmUp}
	return &pacedUsers{users: s.users(), turns: turns, duration: l.Duration}
}

func (p *pacedUsers) feed(s *scheduler) feed { return newUserFeed(p.users, p, s) }

func (p *pacedUsers) dueAt(j, k int64, _ time.Duration) (time.Duration, bool) {
	due := p.turns.Due(j, k)
	return due, due < p.duration
}

// pause is none: a user whose requests fail is due all the same.
func (*pacedUsers) pause(_, _ int64, _ measure.Outcome) (forced, thinks time.Duration) { return 0, 0 }

// dropped counts nothing: what was due is known from the schedule.
func (*pacedUsers) dropped(*hit) {}
