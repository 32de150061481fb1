package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// users are one worker's users of a step. Each has a connection.
type users struct {
	share pace.Share
	total int64
}

func (s StepShare) users() users { return users{share: s.Share, total: s.Total} }

func (u users) connections() int { return int(u.share.Count) }

func (u users) maxParts() int64 { return u.share.Count }

// render renders a request of the worker's j-th user into a buffer, and returns its index
// in the mix.
func (u users) render(x *Execution, b *source.Buffer, j int64, h *hit) int {
	user, k := u.share.Number(j), h.number
	v := source.Vars{
		User: user, Seq: k*u.total + user, Users: u.total, Worker: x.runner.config.Worker, Step: x.step.Index,
		Order: source.Order{Start: user, By: 1, N: k, Stream: j, Streams: u.share.Count},
	}
	if h.walk != nil {
		return h.walk.Render(b, v)
	}
	request := x.source.RequestOf(user, k)
	x.source.Render(b, request, v)
	return request
}

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
