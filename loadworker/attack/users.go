package attack

import (
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
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
