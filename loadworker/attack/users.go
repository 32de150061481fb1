package attack

import (
	"errors"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// users are one worker's users of a step.
type users struct {
	share pace.Share
	total int64
}

// prepare renders the k-th request of the worker's j-th user into a buffer, and
// returns it as a hit.
func (u users) prepare(x *Execution, b *source.Buffer, j, k int64) hit {
	user := u.share.Number(j)
	request := x.source.RequestOf(user, k)
	x.source.Render(b, request, source.Vars{
		User: user, Seq: k*u.total + user, Worker: x.runner.config.Worker, Step: x.step.Index,
		Order: source.Order{Start: user, By: 1, N: k, Stream: j, Streams: u.share.Count},
	})
	return hit{request: request}
}

// paced is users of which each has a schedule.
//
// One goroutine keeps the schedule of all of them and wakes whose turn it is: 10,000 timers of the runtime would each be up to a millisecond late. The
// waking is a hint only. The user itself looks whether it is due, so that it is
// never early and misses nothing when it was busy.
type paced struct {
	users
	schedule pace.Users
	duration time.Duration
}

var (
	_ engine = (*paced)(nil)
	_ turns  = (*paced)(nil)
)

func (p *paced) due(t time.Duration, _ int64) int64 {
	return p.schedule.Before(t) - p.schedule.Before(0)
}

func (p *paced) turn(j, k int64, _ time.Duration) (time.Duration, bool) {
	due := p.schedule.Due(j, k)
	return due, due < p.duration
}

// pause is none: a user whose requests fail is due all the same.
func (*paced) pause(measure.Outcome) time.Duration { return 0 }

func (p *paced) drive(x *Execution) {
	x.connect()
	if p.loops(x, p) == nil {
		return
	}
	wake := make([]chan struct{}, p.share.Count)
	var group sync.WaitGroup
	for j := range wake {
		wake[j] = make(chan struct{}, 1)
		group.Go(func() { p.user(x, int64(j), wake[j]) })
	}
	go p.dispatch(x, wake)
	group.Wait()
}

// dispatch wakes the users in turn, and closes their channels at the end.
func (p *paced) dispatch(x *Execution, wake []chan struct{}) {
	defer func() {
		for _, w := range wake {
			close(w)
		}
	}()
	sleep := pace.Precise()
	if !x.await(sleep) || len(wake) == 0 {
		return
	}
	for n := int64(0); ; n++ {
		j, k := p.schedule.Turn(n)
		due := p.schedule.Due(j, k)
		if due >= p.duration || !pace.Wait(x.start.Add(due), x.halt, sleep) {
			return
		}
		select {
		case wake[j] <- struct{}{}:
		default: // it has not looked since it was last woken, and will
		}
	}
}

func (p *paced) user(x *Execution, j int64, wake <-chan struct{}) {
	c, free := x.clients[j], time.Duration(0)
	for k := int64(0); ; k++ {
		due := p.schedule.Due(j, k)
		if due >= p.duration {
			return
		}
		h := p.prepare(x, &c.buffer, j, k)
		h.due, h.free = due, free
		for x.elapsed() < due {
			if _, more := <-wake; !more && x.elapsed() < due {
				return // cut
			}
		}
		res, _, err := c.send(x, &h)
		if errors.Is(err, errClosed) {
			return
		}
		free = res.received
	}
}

// closed is users that send their next request when the last was answered. The
// first is due at the start, with the warm-up if there is one, the next when the user is free.
type closed struct {
	users
	// requests of each user; 0: until the window closes.
	requests int64
}

var (
	_ engine = (*closed)(nil)
	_ turns  = (*closed)(nil)
)

func (*closed) due(_ time.Duration, sent int64) int64 { return sent }

func (l *closed) turn(_, k int64, free time.Duration) (time.Duration, bool) {
	return free, l.requests == 0 || k < l.requests
}

func (l *closed) pause(o measure.Outcome) time.Duration {
	if l.requests == 0 && unreachable(o) {
		return failedPause
	}
	return 0
}

func (l *closed) drive(x *Execution) {
	x.connect()
	if l.loops(x, l) == nil {
		return
	}
	gate := make(chan struct{})
	var group sync.WaitGroup
	for j := range l.share.Count {
		group.Go(func() { l.user(x, j, gate) })
	}
	go func() {
		defer close(gate)
		x.await(pace.Precise())
	}()
	group.Wait()
}

func (l *closed) user(x *Execution, j int64, gate <-chan struct{}) {
	c, free := x.clients[j], -x.step.WarmUp
	for k := int64(0); l.requests == 0 || k < l.requests; k++ {
		h := l.prepare(x, &c.buffer, j, k)
		h.due, h.free = free, free
		<-gate
		res, _, err := c.send(x, &h)
		if errors.Is(err, errClosed) {
			return
		}
		free = res.received
		if pause := l.pause(res.outcome); pause > 0 {
			x.rest(pause)
			free = x.elapsed()
		}
	}
}
