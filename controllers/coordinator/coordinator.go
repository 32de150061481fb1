package coordinator

import (
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/utils/clock"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/fairlimit"
)

// maxWaiting is how many runs of one namespace may have workers here without being
// directed. After a restart of the operator all runs in progress do, for a moment.
const maxWaiting = 100

// RunID is the UID of a LoadTest.
type RunID string

// Coordinator serves the sessions of the workers of all runs.
type Coordinator struct {
	// Log is told of what should never happen. Default: no log. It is set before Serve.
	Log logr.Logger

	auth    Authenticator
	clock   clock.PassiveClock
	notify  func(RunID)
	metrics *metrics
	// after is time.AfterFunc, reduced to what is used of it.
	after func(time.Duration, func()) (stop func())
	// connections are those of Serve.
	connections *connections
	// sending has the places of large assignments.
	sending *fairlimit.Limit
	// receivers are the goroutines that read from a session.
	receivers sync.WaitGroup

	mu       sync.Mutex
	runs     map[RunID]*runState
	stopping bool
	// kept is the size of the snapshots of all runs.
	kept int
}

// New returns a coordinator, which accepts workers once Serve is called.
//
// notify is called when an Observation changed: at once when the last worker is ready,
// when one disconnects, and when the last final snapshot of a step is there, if that
// is not too often; for anything else once a second at most. It is also called when workers of an unknown run wait, which is normal after
// a restart; that run must then be directed or, if it is over or gone, forgotten. It is
// called from many goroutines and must not block.
func New(auth Authenticator, clk clock.PassiveClock, notify func(RunID), reg prometheus.Registerer) *Coordinator {
	return &Coordinator{
		auth:    auth,
		clock:   clk,
		notify:  notify,
		metrics: newMetrics(reg),
		sending: fairlimit.New(maxSending, maxSendingOfNamespace),
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
func (c *Coordinator) Direct(id RunID, d exchange.Directive) {
	var r *runState
	var waited bool
	c.locked(func() {
		r = c.runs[id]
		if r == nil {
			r = newRunState(id)
			c.runs[id] = r
		}
		waited = !r.directed() && r.connected()
		c.redirect(r, d)
	})
	if waited {
		c.notifyChange(r, atOnce)
	}
}

// redirect gives a run its directive. The mutex is held.
func (c *Coordinator) redirect(r *runState, d exchange.Directive) {
	before := r.kept
	r.direct(d, c.clock.Now())
	c.kept -= before - r.kept
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
	c.kept -= r.kept
	r.forget(c.clock.Now())
}

// attach makes s the session of its worker, in place of an older one.
func (c *Coordinator) attach(s *session) error {
	var err error
	c.locked(func() { err = c.attachLocked(s) })
	if err == nil {
		c.notifyChange(s.run, soon)
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
	s.connection.claim(s.identity.Namespace)
	w.connect(s, c.clock.Now())
	return nil
}

func (c *Coordinator) rejectNumber(number int32, limit int) error {
	return c.reject(rejectIdentity, codes.PermissionDenied, "worker number %d is too high for a run of %d workers", number, limit)
}

// detach is called once, when a session is over, attached or not.
func (c *Coordinator) detach(s *session) {
	var current bool
	c.locked(func() { current = c.detachLocked(s) })
	if current {
		c.notifyChange(s.run, atOnce)
	}
}

// detachLocked says whether the worker has no session any more.
func (c *Coordinator) detachLocked(s *session) (current bool) {
	s.detached = true
	r := s.run
	if r == nil {
		return false
	}
	c.metrics.sessions.Dec()
	s.connection.release()
	w := r.worker(s.identity.Worker)
	if current = w.session == s; current {
		w.session = nil
	}
	if !r.directed() && !r.connected() {
		if c.runs[r.id] == r { // and not a later one, of workers that came since
			delete(c.runs, r.id)
		}
		r.stopTimer()
	}
	return current
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
