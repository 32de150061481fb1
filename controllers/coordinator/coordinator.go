package coordinator

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/utils/clock"

	"github.com/loadtest-dev/loadtest-operator/controllers/control"
)

// maxWaiting is how many runs of one namespace may have workers here without being
// directed. After a restart of the operator all runs in progress do, for a moment.
const maxWaiting = 100

// RunID is the UID of a LoadTest.
type RunID string

// Coordinator serves the sessions of the workers of all runs.
type Coordinator struct {
	auth    Authenticator
	clock   clock.PassiveClock
	notify  func(RunID)
	metrics *metrics
	// after is time.AfterFunc, reduced to what is used of it.
	after func(time.Duration, func()) (stop func())
	// receivers are the goroutines that read from a session.
	receivers sync.WaitGroup

	mu       sync.Mutex
	runs     map[RunID]*runState
	stopping bool
}

// New returns a coordinator, which accepts workers once Serve is called.
//
// notify is called when an Observation changed: at once when a worker connects,
// disconnects or changes its readiness, and when the last final snapshot of a step
// is there; for other snapshots once a second at most. It is also called when
// workers of an unknown run wait, which is normal after a restart; that run must
// then be directed or, if it is over or gone, forgotten. It is called from many
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
		runs: map[RunID]*runState{},
	}
}

// Direct replaces the directive of a run. It never waits for the workers. If some
// wait for the first directive, notify is called: what they said until then, such as
// that they are ready, may stand in no observation.
func (c *Coordinator) Direct(id RunID, d control.Directive) {
	c.mu.Lock()
	r, ok := c.runs[id]
	if !ok {
		r = newRunState(id)
		c.runs[id] = r
	}
	waited := !r.directed() && r.connected()
	c.redirect(r, d)
	c.mu.Unlock()
	if waited {
		c.notifyChange(r, atOnce)
	}
}

// redirect gives a run its directive. The mutex is held.
func (c *Coordinator) redirect(r *runState, d control.Directive) {
	r.direct(d, c.clock.Now())
	for number, w := range r.workers {
		if w.session != nil && int(number) >= len(d.Assignments) {
			w.session.end(c.rejectNumber(number, len(d.Assignments)))
		}
	}
}

// Forget drops all that is known of a run and finishes the workers that are still
// connected. One that connects later waits for a directive again, and notify is
// called.
func (c *Coordinator) Forget(id RunID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.runs[id]
	if !ok {
		return
	}
	delete(c.runs, id)
	r.forget(c.clock.Now())
}

// attach makes s the session of its worker, in place of an older one.
func (c *Coordinator) attach(s *session) error {
	c.mu.Lock()
	err := c.attachLocked(s)
	c.mu.Unlock()
	if err == nil {
		c.notifyChange(s.run, atOnce)
	}
	return err
}

func (c *Coordinator) attachLocked(s *session) error {
	if c.stopping || s.detached {
		return errStopping
	}
	r, ok := c.runs[s.identity.Run]
	if !ok {
		if c.waiting(s.identity.Namespace) >= maxWaiting {
			return c.reject(rejectFull, codes.ResourceExhausted, "%d runs of namespace %s wait for the operator", maxWaiting, s.identity.Namespace)
		}
		r = newRunState(s.identity.Run)
	}
	if number, limit := s.identity.Worker, r.size(); number < 0 || int(number) >= limit {
		return c.rejectNumber(number, limit)
	}
	w := r.worker(s.identity.Worker)
	if w.isReplacement(s.identity) {
		return c.reject(rejectIdentity, codes.PermissionDenied, "pod %s was replaced by %s", s.identity.Pod, w.identity.Pod)
	}
	c.runs[r.id] = r
	r.namespace = s.identity.Namespace
	c.metrics.sessions.Inc()
	s.run = r
	w.connect(s, c.clock.Now())
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
	if !r.directed() && !r.connected() {
		delete(c.runs, r.id)
		r.stopTimer()
	}
	c.mu.Unlock()
	if current {
		c.notifyChange(r, atOnce)
	}
}

func (c *Coordinator) waiting(namespace string) int {
	n := 0
	for _, r := range c.runs {
		if !r.directed() && r.namespace == namespace {
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

// urgency is how soon a change is notified.
type urgency int

const (
	// soon: within a second, together with whatever else happens until then.
	soon urgency = iota
	// atOnce: now.
	atOnce
)

// notifyInterval is the least time between two notifications that are not urgent.
const notifyInterval = time.Second

// notifyChange notifies of a change of the run. The mutex must not be held.
func (c *Coordinator) notifyChange(r *runState, u urgency) {
	c.mu.Lock()
	now := c.dueLocked(r, u)
	c.mu.Unlock()
	if now {
		c.notify(r.id)
	}
}

// dueLocked says whether to notify now. If not, a timer will, so that the last
// change is notified as well.
func (c *Coordinator) dueLocked(r *runState, u urgency) bool {
	if r.forgotten || c.stopping {
		return false
	}
	wait := notifyInterval - c.clock.Since(r.notified)
	switch {
	case u == atOnce || wait <= 0:
		r.stopTimer()
		r.notified = c.clock.Now()
		return true
	case r.cancelTimer == nil:
		r.cancelTimer = c.after(wait, func() { c.notifyChange(r, atOnce) })
	}
	return false
}

func (r *runState) stopTimer() {
	if r.cancelTimer != nil {
		r.cancelTimer()
		r.cancelTimer = nil
	}
}
