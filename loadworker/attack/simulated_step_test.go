//go:build !race

// Simulations run without the race detector, in which a timer of a bubble that has expired
// before it is waited for crashes Go 1.26 (runtime.(*timer).maybeRunChan).

package attack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// simulated is a step in virtual time: a target that takes a time for each request, whatever
// else it has to do, and a generator that is late as it is told to be.
type simulated struct {
	step     StepShare
	journeys []source.Journey
	timeout  time.Duration   // 0: 10 s
	own      []time.Duration // the timeouts of as many requests; 0: that one
	times    []time.Duration
	// serve is how long the target takes for a request of a user, 0 for arrivals, and its
	// status.
	serve func(user int, h *hit) (took time.Duration, status int)
	// runs is when the generator runs that has something to do at an instant; nil: at once.
	runs func(t time.Duration) time.Duration
	// stood is for how long the process has stood still until an instant; nil: never.
	stood func(t time.Duration) time.Duration
	cut   time.Duration // of the window; 0: it is not cut
	blind bool          // it does not know when what it reads has come
	// connections bound those of arrivals, and streams how many of these find room on the ones
	// that they share; 0: neither does.
	connections, streams int
}

// simulatedEnd is a request that has ended, or was interrupted.
type simulatedEnd struct {
	hit
	user     int
	received time.Duration
	unread   time.Duration // how much of it it was over
	outcome  measure.Outcome
}

// simulatedEnds are the requests of a simulated step, in the order of their ends.
type simulatedEnds []simulatedEnd

// run runs the step, and returns its measurement and its requests.
func (s simulated) run(t *testing.T) (m *measure.Measurement, ends simulatedEnds) {
	t.Helper()
	must.Succeed(t, s.step.Check())
	synctest.Test(t, func(t *testing.T) {
		x := s.execution(t, 0, time.Now())
		sched := x.schedulers(1)[0]
		d := &simulatedDriver{sched: sched, simulated: &s}
		sched.driver = d
		if s.cut > 0 {
			cut := time.AfterFunc(s.step.WarmUp+s.cut, x.Cut)
			defer cut.Stop()
		}
		x.execute(func() { x.run([]*scheduler{sched}) })
		m, ends = snapshot(t, x), d.ends
		for i := range m.Requests {
			r := &m.Requests[i]
			if r.Ideal.Count() != r.Response.Count() || r.Failed.Response != nil && r.Failed.Ideal.Count() != r.Failed.Response.Count() {
				t.Errorf("%d ideal times of %d", r.Ideal.Count(), r.Response.Count())
			}
		}
	})
	return m, ends
}

// execution is that of a worker, which has the step begin at an instant.
func (s simulated) execution(t *testing.T, worker int, start time.Time) *Execution {
	t.Helper()
	dialer, err := dial.NewDialer(dial.Config{URL: "http://x"})
	must.Succeed(t, err)
	config := source.Config{Requests: []source.Request{get("/a")}}
	switch {
	case s.own != nil:
		config.Requests = nil
		for i, own := range s.own {
			config.Requests = append(config.Requests, source.Request{Name: fmt.Sprint(i), Weight: 1, Method: "GET", Path: "/", Timeout: own})
		}
	case s.journeys != nil:
		config = source.Config{Requests: []source.Request{{Name: "a", Method: "GET", Path: "/a"}, {Name: "b", Method: "GET", Path: "/b"}}, Journeys: s.journeys}
	}
	src, err := source.New(config)
	must.Succeed(t, err)
	if s.timeout == 0 {
		s.timeout = 10 * time.Second
	}
	if s.connections == 0 {
		s.connections = 10000
	}
	r, err := NewRunner(Config{Source: src, Client: http1.NewClient(dialer, ""), Timeout: s.timeout, MaxConnections: s.connections, OnTime: s.times, Seed: 1, Worker: int32(worker)})
	must.Succeed(t, err)
	x := r.newExecution(s.step, start)
	if s.stood != nil {
		x.stood = s.stood
	}
	return x
}

// simulatedDriver sends to the simulated target. It reads what has come before a timeout
// expires.
type simulatedDriver struct {
	*simulated
	sched   *scheduler
	slots   []*connSlot
	pending []simulatedAnswer
	ends    simulatedEnds
	buffer  source.Buffer
}

type simulatedAnswer struct {
	c        *connSlot
	at, came time.Duration // when it is to be read, or has timed out; when it comes
	status   int
	err      error
}

func (d *simulatedDriver) drive() { d.sched.run() }

func (d *simulatedDriver) add(transport.Conn) *connSlot {
	d.slots = append(d.slots, &connSlot{socket: &stubConn{open: true}, index: len(d.slots), shard: len(d.slots)})
	return d.slots[len(d.slots)-1]
}

func (*simulatedDriver) mayOpen() bool { return true }

// user is that of a connection; arrivals go over any.
func (d *simulatedDriver) user(c *connSlot) int {
	if _, ok := d.sched.feed.(*arrivalFeed); ok {
		return 0
	}
	return c.index
}

func (d *simulatedDriver) send(c *connSlot) {
	if !d.sched.begin(c, &d.buffer) {
		d.sched.dropped(c)
		return
	}
	a := simulatedAnswer{c: c}
	var took time.Duration
	took, a.status = d.serve(d.user(c), &c.hit)
	a.at, a.came = c.hit.sent+took, c.hit.sent+took
	switch a.status {
	case refusal:
		a.err = syscall.ECONNREFUSED
	case noPort:
		a.err = syscall.EADDRNOTAVAIL
	}
	if timeout := d.sched.x.timeout(&c.hit); took >= timeout {
		a.at, a.err = c.hit.sent+timeout, context.DeadlineExceeded
	}
	i, _ := slices.BinarySearchFunc(d.pending, a, func(a, b simulatedAnswer) int { return int(a.at - b.at) })
	d.pending = slices.Insert(d.pending, i, a)
}

func (d *simulatedDriver) wait(until time.Duration) {
	x := d.sched.x
	if f, ok := d.sched.feed.(*arrivalFeed); ok && d.streams > 0 && x.elapsed() <= -x.step.WarmUp {
		f.places = &streamPlaces{f.places, d.sched, d.streams}
	}
	if len(d.pending) > 0 {
		until = min(until, d.pending[0].at)
	}
	d.sleep(min(until, 100*time.Hour), x.ctx.Done())
	if d.runs != nil {
		d.sleep(d.runs(x.elapsed()), nil)
	}
	for len(d.pending) > 0 && d.pending[0].at <= x.elapsed() {
		a := d.pending[0]
		d.pending = d.pending[1:]
		d.end(a)
	}
}

// sleep waits until an instant, or until it is woken. A wait of no time is none: with the race
// detector, a timer that a goroutine of a bubble finds expired may crash Go 1.26.
func (d *simulatedDriver) sleep(until time.Duration, woken <-chan struct{}) {
	left := until - d.sched.x.elapsed()
	if left <= 0 {
		return
	}
	select {
	case <-time.After(left):
	case <-woken:
	}
}

// streamPlaces leave room for a number of requests.
type streamPlaces struct {
	places
	sched   *scheduler
	streams int
}

func (p *streamPlaces) vacancy() vacancy {
	if p.sched.inFlight >= p.streams {
		return full
	}
	return p.places.vacancy()
}

func (d *simulatedDriver) end(a simulatedAnswer) {
	r := transport.Response{Status: a.status}
	if errors.Is(a.err, context.DeadlineExceeded) && d.sched.x.elapsed() >= a.came {
		a.err = nil // it is read before the timeout expires
	}
	if a.err == nil && !d.blind {
		r.Waited = d.sched.x.elapsed() - a.came
		r.WaitExact, r.InOneRead, r.Reused = r.Waited > 0, true, true
	}
	h := a.c.hit
	res := d.sched.end(a.c, r, a.err)
	d.ends = append(d.ends, simulatedEnd{h, d.user(a.c), res.received, res.unread, res.outcome})
	d.sched.ended(a.c, res)
}

func (d *simulatedDriver) interrupt() {
	pending := d.pending
	d.pending = nil
	for _, a := range pending {
		a.err = failure.ErrInterrupted
		d.end(a)
	}
}

// stillFrom is a generator that stands still between two instants.
func stillFrom(from, until time.Duration) func(time.Duration) time.Duration {
	return func(t time.Duration) time.Duration {
		if t >= from && t < until {
			return until
		}
		return t
	}
}

// lateUntil is a generator on a busy machine: it is 6 ms late on average, at times 40.
func lateUntil(end time.Duration) func(time.Duration) time.Duration {
	random := rand.New(rand.NewPCG(1, 2))
	return func(t time.Duration) time.Duration {
		if t >= end {
			return t
		}
		return t + min(40*ms, time.Duration(random.ExpFloat64()*float64(6*ms)))
	}
}

// servedIn takes between 1 and 30 ms, drawn for each request, and fails one of twenty.
func servedIn(user int, h *hit) (time.Duration, int) {
	random := rand.New(rand.NewPCG(uint64(h.number), uint64(user)))
	status := 200
	if random.IntN(20) == 0 {
		status = 500
	}
	return ms + time.Duration(random.Int64N(int64(29*ms))), status
}

// refusal is the status of a connection that is refused, and noPort of one that this machine
// has no port for.
const refusal, noPort = -1, -2

// refusesFrom refuses what is sent between two instants, and answers the rest in a time.
func refusesFrom(from, until, took time.Duration) func(int, *hit) (time.Duration, int) {
	return func(_ int, h *hit) (time.Duration, int) {
		if h.sent >= from && h.sent < until {
			return 200 * time.Microsecond, refusal
		}
		return took, 200
	}
}

func always(took time.Duration) func(int, *hit) (time.Duration, int) {
	return func(int, *hit) (time.Duration, int) { return took, 200 }
}

// silentFrom answers in a time what is sent before an instant, and nothing afterwards.
func silentFrom(from, took time.Duration) func(int, *hit) (time.Duration, int) {
	return func(_ int, h *hit) (time.Duration, int) {
		if h.sent >= from {
			return 1000 * time.Hour, 0
		}
		return took, 200
	}
}
