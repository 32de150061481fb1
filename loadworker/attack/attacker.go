package attack

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
)

// attack drives the arrivals on vegeta's Attacker, with at most so many in flight.
func (a *arrivals) attack(x *Execution, limit int) {
	trip := &roundTripper{run: x, arrivals: a, pool: newPool(x.clients, openAtOnce, x.another)}
	attacker := vegeta.NewAttacker(
		vegeta.Workers(uint64(min(limit, a.workers()))),
		vegeta.MaxWorkers(uint64(limit)),
		vegeta.Client(&http.Client{Transport: trip}),
	)
	// The dispatcher may wait for a worker when the window closes: only Stop
	// ends that.
	stop := time.AfterFunc(time.Until(x.start.Add(a.duration+grace)), func() { attacker.Stop() })
	defer stop.Stop()
	pacer := &pacer{run: x, arrivals: a}
	for range attacker.Attack(target, pacer, 0, "") {
		// Each result was recorded by the round tripper.
	}
}

// target is the same for every hit: the round tripper renders the request, since
// only it knows the number of the hit.
func target(t *vegeta.Target) error {
	t.Method, t.URL = http.MethodGet, "http://t/"
	return nil
}

// pacer holds vegeta's dispatcher until a hit is due. It sleeps itself: the
// dispatcher's own sleep is up to a millisecond late.
type pacer struct {
	run      *Execution
	arrivals *arrivals
	sleep    pace.Sleep
}

var _ vegeta.Pacer = (*pacer)(nil)

// Pace is called by the dispatcher's goroutine only.
func (p *pacer) Pace(_ time.Duration, hits uint64) (time.Duration, bool) {
	if p.sleep == nil {
		p.sleep = pace.Precise()
		if !p.run.await(p.sleep) {
			return 0, true
		}
	}
	due := p.arrivals.schedule.Due(int64(hits))
	now := p.run.elapsed()
	if due >= p.arrivals.duration || now >= p.run.closes()+grace || p.run.stopped.Load() {
		return 0, true
	}
	if due <= now {
		return 0, false
	}
	return 0, !pace.Wait(p.run.start.Add(due), p.run.halt, p.sleep)
}

// Rate is asked for plots only.
func (p *pacer) Rate(time.Duration) float64 { return p.arrivals.perSec }

// roundTripper sends vegeta's hits.
type roundTripper struct {
	run      *Execution
	arrivals *arrivals
	pool     *pool
}

var _ http.RoundTripper = (*roundTripper)(nil)

// RoundTrip sends the hit that vegeta numbered. The response is the bare status:
// the body has been read.
func (t *roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	n, err := strconv.ParseInt(r.Header.Get("X-Vegeta-Seq"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("number of the hit: %w", err)
	}
	x := t.run
	l, ok := t.pool.take(x.halt)
	if !ok {
		return nil, errClosed
	}
	c := l.client
	defer t.pool.give(c)
	if l.opening {
		c.opened = t.pool.opened
	}
	h := t.arrivals.prepare(x, &c.buffer, n)
	h.due = t.arrivals.schedule.Due(n)
	_, status, err := c.send(x, &h)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: http.NoBody, Request: r}, nil
}
