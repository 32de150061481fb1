package attack

import (
	"context"
	"net/http"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// vegetaDriver drives arrivals from vegeta's Attacker: its dispatcher runs the
// scheduler, and its workers, which it adds as responses slow down, carry the
// requests that the scheduler has sent.
type vegetaDriver struct {
	*goroutineDriver
	arrivals *arrivals
}

var (
	_ driver            = vegetaDriver{}
	_ vegeta.Pacer      = vegetaDriver{}
	_ http.RoundTripper = vegetaDriver{}
)

func newVegetaDriver(s *scheduler, a *arrivals) vegetaDriver {
	d := vegetaDriver{goroutineDriver: newGoroutineDriver(s), arrivals: a}
	d.ready = make(chan *goroutineConn, a.limit)
	return d
}

func (d vegetaDriver) drive() { d.attack(target, d) }

// attack has vegeta send targets by a round tripper.
func (d vegetaDriver) attack(targets vegeta.Targeter, by http.RoundTripper) {
	defer d.timer.Close()
	defer context.AfterFunc(d.sched.x.ctx, d.stopWaiting)()
	attacker := vegeta.NewAttacker(
		vegeta.Workers(uint64(d.arrivals.connections())),
		vegeta.MaxWorkers(uint64(d.arrivals.limit)),
		vegeta.Client(&http.Client{Transport: by}),
		vegeta.Redirects(vegeta.NoFollow),
		vegeta.MaxBody(0),
	)
	for range attacker.Attack(targets, d, 0, "") {
		// Each result was recorded by the worker.
	}
}

// target is the same for every hit: RoundTrip sends a request of the scheduler.
func target(t *vegeta.Target) error {
	t.Method, t.URL = http.MethodGet, "http://t/"
	return nil
}

// Pace holds vegeta's dispatcher until a hit was sent to the workers. It waits
// itself: the dispatcher's own sleep is up to a millisecond late.
func (d vegetaDriver) Pace(_ time.Duration, hits uint64) (time.Duration, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if hits == 0 && !d.sched.start() {
		return 0, true
	}
	for d.sched.wait() {
		if d.sched.sendDue(d.sched.x.elapsed()) {
			return 0, false
		}
	}
	return 0, true
}

// Rate is used for plots only.
func (d vegetaDriver) Rate(time.Duration) float64 { return d.arrivals.perSec }

// RoundTrip sends a request that is ready. The response has the status only: the
// body has been read.
func (d vegetaDriver) RoundTrip(r *http.Request) (*http.Response, error) {
	status, err := d.exchange(<-d.ready)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: http.NoBody, Request: r}, nil
}
