package coordinator

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"weak"

	"golang.org/x/time/rate"
	"google.golang.org/grpc/codes"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// runState is what is known of a run. The coordinator's mutex guards it.
type runState struct {
	id RunID
	// namespace is that of its pods; empty before the first has connected.
	namespace string
	// since is when the run was first directed; zero: workers wait for it. from is the first step
	// that was not begun by then, nor by a worker before it was directed to.
	since     time.Time
	from      int32
	forgotten bool
	directive exchange.Directive
	// redirected is closed, and replaced, by each directive.
	redirected chan struct{}
	workers    map[int32]*workerState

	// kept is the size of the snapshots, and waiting the part of it that is of those which
	// wait for their step; tooLarge says that there was no room for one of the active step.
	kept     int
	waiting  int
	tooLarge bool
	// version counts what changes the merged step.
	version int64
	// merged is the merged step of mergedVersion, while it is in use or not collected
	// yet: with 32 requests it is 12 MB.
	merged        weak.Pointer[exchange.Report]
	mergedVersion int64

	// finals are those of the active step. pendingFinals came since they were added up,
	// in order; a nil stands for the beginning of another step.
	finals        finals
	pendingFinals []*final

	notified    time.Time
	urgent      *rate.Limiter
	cancelTimer func()
}

// workerState is what is known of a worker, connected or not.
type workerState struct {
	session  *session
	identity Identity
	lastSeen time.Time
	refused  refusal
	readiness
	numbers
	// begun is how many steps it has begun, as far as is known from its snapshots.
	begun int32
	// snapshots are the latest of the steps that were started and are not
	// acknowledged.
	snapshots map[int32]storedSnapshot
}

// refusal is why a worker's snapshots of a step are not accepted, as of the first of them; the zero value:
// they are. While that step is active the worker counts as absent: it connects again and again, and the
// run would wait for it without a word.
type refusal struct {
	why  string
	step int32
}

// refusal returns why the worker's snapshots of the active step are not accepted; empty: they are.
func (r *runState) refusal(w *workerState) string {
	if w.refused.step != r.directive.ActiveStep() {
		return ""
	}
	return w.refused.why
}

// see notes that a message of the worker came.
func (r *runState) see(w *workerState, now time.Time) {
	if r.refusal(w) == "" {
		w.lastSeen = now
	}
}

// readiness is what a worker reported before the first step.
type readiness struct {
	ready           bool
	reason, message string
	answers         int32
	targets         int32
	// descriptors are digests: of those for the target, and for the control.
	descriptors, controlDescriptors string
}

// storedSnapshot is a snapshot that was accepted.
type storedSnapshot struct {
	podUID   string
	sequence int64
	// cut says that the worker ended the step by itself before its time.
	final, cut bool
	due, sent  int64
	// sessionsDue is how many sessions of a rate were due.
	sessionsDue int64
	// ledgers says that those of the audit came with it.
	ledgers  bool
	received time.Time
	// size is how many bytes are kept of the reading.
	size    int
	reading *wire.Reading
}

func newRunState(id RunID) *runState {
	return &runState{id: id, redirected: make(chan struct{}), workers: map[int32]*workerState{}, urgent: newUrgentLimit()}
}

func (r *runState) worker(number int32) *workerState {
	w, ok := r.workers[number]
	if !ok {
		w = &workerState{snapshots: map[int32]storedSnapshot{}}
		r.workers[number] = w
	}
	return w
}

// size is how many workers there may be.
func (r *runState) size() int {
	if r.directed() {
		return len(r.directive.Assignments)
	}
	return workerv1.MaxWorkers
}

func (r *runState) directed() bool { return !r.since.IsZero() }

func (r *runState) connected() bool {
	for _, w := range r.workers {
		if w.session != nil {
			return true
		}
	}
	return false
}

func (r *runState) direct(d exchange.Directive, now time.Time) {
	if !r.directed() {
		r.since, r.from = now, max(d.Acknowledged, d.ActiveStep()+1)
	}
	if step := d.ActiveStep(); step != r.directive.ActiveStep() {
		if r.hasBegun(step) { // as another process directed
			r.from = max(r.from, step+1)
		}
		r.version++
		r.tooLarge = false
		r.pendingFinals = []*final{nil}
	}
	r.directive = d
	close(r.redirected)
	r.redirected = make(chan struct{})
	for _, w := range r.workers {
		for step, held := range w.snapshots {
			if step < d.Acknowledged {
				delete(w.snapshots, step)
				r.kept -= held.size
			}
		}
		w.session.wakeSender()
	}
}

// hasBegun says whether a worker has begun a step.
func (r *runState) hasBegun(step int32) bool {
	for _, w := range r.workers {
		if w.begun > step {
			return true
		}
	}
	return false
}

func (r *runState) forget(now time.Time) {
	r.stopTimer()
	d := r.directive
	d.Finish = true
	r.direct(d, now)
	r.forgotten = true
}

// allFinal says whether all workers are done with the directed step.
func (r *runState) allFinal() bool {
	if r.directive.ActiveStep() == exchange.NoStep {
		return false
	}
	for number := range r.directive.Assignments {
		if !r.worker(int32(number)).snapshots[r.directive.Start.Step].final {
			return false
		}
	}
	return true
}

// allReady says whether all workers are connected and ready.
func (r *runState) allReady() bool {
	for number := range r.directive.Assignments {
		if w := r.worker(int32(number)); w.session == nil || !w.ready {
			return false
		}
	}
	return r.directed()
}

// isReplacement says whether the worker's pod took the place of the one that connects
// now, which may run on for a while.
func (w *workerState) isReplacement(old Identity) bool {
	return w.identity.PodUID != old.PodUID && old.Created.Before(w.identity.Created)
}

// connect makes s the worker's session. Its readiness and what it read hold across
// reconnects, not for another pod with its number.
func (w *workerState) connect(s *session, now time.Time) {
	if w.session != nil {
		w.session.end(errReplaced)
	}
	if w.identity.PodUID != s.identity.PodUID {
		w.readiness, w.begun, w.numbers, w.refused = readiness{}, 0, numbers{}, refusal{}
	}
	w.session, w.identity = s, s.identity
	s.run.see(w, now)
	s.wakeSender()
}

// store keeps a snapshot if it is newer than the stored one, and else says why not.
func (r *runState) store(s *session, m *workerv1.Snapshot, read measured, now time.Time) (why rejection, ok bool) {
	w := r.worker(s.identity.Worker)
	step := m.GetStep()
	old, known := w.snapshots[step]
	switch {
	case r.forgotten || step != r.directive.ActiveStep():
		return rejectStale, false
	// Nothing is counted twice: the target received what the first pod sent, and a
	// second pod begins again without it.
	case known && old.podUID != s.identity.PodUID:
		return rejectOtherPod, false
	case known && (m.GetSequence() <= old.sequence || old.final):
		return rejectStale, false
	}
	w.snapshots[step] = storedSnapshot{
		podUID:   s.identity.PodUID,
		sequence: m.GetSequence(),
		final:    m.GetFinal(),
		cut:      m.GetFinal() && m.GetCut(),
		due:      read.Due(),
		sent:     read.Sent(),
		ledgers:  read.clients != nil,
		received: now,
		size:     read.Size(),
		reading:  read.Reading,

		sessionsDue: read.Sessions().Due,
	}
	if !read.isEmpty() {
		r.pendingFinals = append(r.pendingFinals, &read.final)
	}
	r.version++
	return "", true
}

// snapshot validates and stores a worker's snapshot. One of a step that was not
// started yet waits until it is: after a restart of the operator, workers connect
// before the run is directed.
func (c *Coordinator) snapshot(s *session, m *workerv1.Snapshot) error {
	assignment, known, err := c.await(s, m)
	if err != nil || !known {
		return err
	}
	read, err := readMeasurement(m, assignment)
	if err != nil {
		c.refuse(s, m.GetStep(), err)
		return c.reject(rejectInvalid, codes.InvalidArgument, "snapshot of step %d: measurement: %v", m.GetStep(), err)
	}
	var why rejection
	var ok, last bool
	c.locked(func() {
		if w := s.run.worker(s.identity.Worker); w.session == s && m.GetStep() == w.refused.step {
			w.refused = refusal{}
		}
		if err = s.reasonOfEnd(); err != nil {
			return
		}
		why, ok, err = c.store(s, m, read)
		last = ok && m.GetFinal() && s.run.allFinal()
	})
	if ok && !read.isEmpty() {
		c.foldFinals(s.run)
	}
	switch {
	case err != nil:
		return err
	case !ok:
		c.metrics.rejected.WithLabelValues(string(why)).Inc()
		if why == rejectRoom {
			c.notifyChange(s.run, soon)
		}
		return nil
	case last:
		c.notifyChange(s.run, atOnce)
	default:
		c.notifyChange(s.run, soon)
	}
	c.metrics.snapshots.Inc()
	return nil
}

// refuse notes why a snapshot was not accepted. Later ones of its step may differ in their numbers: the text,
// which stands in the status, stays.
func (c *Coordinator) refuse(s *session, step int32, err error) {
	c.locked(func() {
		if w := s.run.worker(s.identity.Worker); w.session == s && (w.refused.why == "" || w.refused.step != step) {
			w.refused = refusal{text.Clean(strings.ReplaceAll(err.Error(), "\n", "; "), measure.MaxErrorBytes), step}
		}
	})
}

// measured is what a snapshot holds, validated.
type measured struct {
	*wire.Reading
	final
}

func readMeasurement(m *workerv1.Snapshot, a *workerv1.Assignment) (read measured, err error) {
	if !m.GetFinal() && m.GetMeasurement().GetClients() != nil {
		return read, errors.New("clients: before the step has ended")
	}
	if !m.GetFinal() && m.GetMeasurement().GetSeries() != nil {
		return read, errors.New("series: before the step has ended")
	}
	var groups []int32 // of a step that runs
	if !m.GetFinal() {
		groups = a.GetGroups()
	}
	if read.Reading, err = wire.ReadGroups(m.GetMeasurement(), len(a.GetRequests()), groups); err != nil {
		return read, err
	}
	// A worker whose version has no journeys has sent another load.
	if n := len(a.GetJourneys()); read.Journeys() != n {
		return read, fmt.Errorf("journeys: %d, the plan has %d", read.Journeys(), n)
	}
	if read.clients, err = wire.ReadClients(m.GetMeasurement()); err != nil {
		return read, err
	}
	read.series, err = wire.ReadSeries(m.GetMeasurement(), windowOf(a, m.GetStep()))
	return read, err
}

// windowOf is how long the window of a step is at most.
func windowOf(a *workerv1.Assignment, step int32) time.Duration {
	for _, s := range a.GetSteps() {
		if s.GetIndex() == step {
			return time.Duration(s.GetPacedUsers().GetDurationNanos() + s.GetClosedUsers().GetDurationNanos() +
				s.GetRampedUsers().GetDurationNanos() + s.GetBurst().GetLimitNanos() +
				s.GetArrivals().GetDurationNanos() + s.GetRecorded().GetDurationNanos()) // it has one of them
		}
	}
	return 0
}
