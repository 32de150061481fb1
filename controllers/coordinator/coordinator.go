package coordinator

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/utils/clock"
)

// maxWaiting is how many runs may have workers here without being directed.
// After a restart of the operator all runs in progress do, for a moment; that
// they are a thousand is beyond any cluster.
const maxWaiting = 1000

// Coordinator serves the sessions of the workers of all runs.
type Coordinator struct {
	auth    Authenticator
	clock   clock.PassiveClock
	notify  func(RunID)
	metrics *metrics
	// after is time.AfterFunc, reduced to what is used of it.
	after func(time.Duration, func()) (stop func())
	// verifying has an entry for each token that is being verified.
	verifying chan struct{}
	// receivers are the goroutines that read from a session.
	receivers sync.WaitGroup

	mu       sync.Mutex
	runs     map[RunID]*run
	stopping bool
}

// New returns a coordinator that serves nobody yet.
//
// notify says that an Observation changed: at once when a worker comes, goes,
// or changes its readiness, and when the last final snapshot of a step is there;
// for other snapshots once a second at most. It also says that workers of an
// unknown run wait, which is normal after a restart; that run must then be
// directed or, if it is over or gone, forgotten. It is called from many
// goroutines and must not block.
func New(auth Authenticator, clk clock.PassiveClock, notify func(RunID), reg prometheus.Registerer) *Coordinator {
	return &Coordinator{
		auth:    auth,
		clock:   clk,
		notify:  notify,
		metrics: newMetrics(reg),
		after: func(d time.Duration, f func()) func() {
			t := time.AfterFunc(d, f)
			return func() { t.Stop() }
		},
		verifying: make(chan struct{}, maxVerifying),
		runs:      map[RunID]*run{},
	}
}

// Direct says what the run wants of its workers now. It never waits for them.
func (c *Coordinator) Direct(id RunID, d Directive) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.runs[id]
	if !ok {
		r = newRun(id)
		c.runs[id] = r
	}
	r.direct(d)
	for number, w := range r.workers {
		if w.session != nil && int(number) >= len(d.Assignments) {
			w.session.end(c.rejectNumber(number, len(d.Assignments)))
		}
	}
}

// Forget drops all that is known of a run; workers that are still connected may
// go. One that connects later waits for a directive again, which notify tells.
func (c *Coordinator) Forget(id RunID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.runs[id]
	if !ok {
		return
	}
	delete(c.runs, id)
	r.forget()
}

// attach makes s the session of its worker, in place of an older one.
func (c *Coordinator) attach(s *session) error {
	c.mu.Lock()
	err := c.attachLocked(s)
	c.mu.Unlock()
	if err == nil {
		c.changed(s.run, atOnce)
	}
	return err
}

func (c *Coordinator) attachLocked(s *session) error {
	if c.stopping || s.detached {
		return errStopping
	}
	r, ok := c.runs[s.identity.Run]
	if !ok {
		if c.waiting() >= maxWaiting {
			return c.reject(rejectFull, codes.ResourceExhausted, "%d runs wait for the operator", maxWaiting)
		}
		r = newRun(s.identity.Run)
	}
	if number, limit := s.identity.Worker, r.size(); number < 0 || int(number) >= limit {
		return c.rejectNumber(number, limit)
	}
	c.runs[r.id] = r
	c.metrics.sessions.Inc()
	s.run = r
	r.worker(s.identity.Worker).connect(s, c.clock.Now())
	return nil
}

func (c *Coordinator) rejectNumber(number int32, limit int) error {
	return c.reject(rejectIdentity, codes.PermissionDenied, "worker %d of a run of %d workers", number, limit)
}

// detach is called once, when a session is over, attached or not.
func (c *Coordinator) detach(s *session) {
	c.mu.Lock()
	s.detached = true
	r := s.run
	if r == nil {
		c.mu.Unlock()
		return
	}
	c.metrics.sessions.Dec()
	w := r.worker(s.identity.Worker)
	current := w.session == s
	if current {
		w.session = nil
	}
	if !r.directed && !r.connected() {
		delete(c.runs, r.id)
		r.stopTimer()
	}
	c.mu.Unlock()
	if current {
		c.changed(r, atOnce)
	}
}

func (c *Coordinator) waiting() int {
	n := 0
	for _, r := range c.runs {
		if !r.directed {
			n++
		}
	}
	return n
}

// stop ends all sessions, so that workers look for another coordinator.
func (c *Coordinator) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopping = true
	for _, r := range c.runs {
		r.stopTimer()
		for _, w := range r.workers {
			if w.session != nil {
				w.session.end(errStopping)
			}
		}
	}
}

var errStopping = status.Error(codes.Unavailable, "the operator is stopping")
