package coordinator

import (
	"time"

	"google.golang.org/grpc/codes"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
)

// run is what is known of a run. The coordinator's mutex guards it.
type run struct {
	id RunID
	// directed is false while workers wait for the first directive.
	directed  bool
	forgotten bool
	directive Directive
	// redirected is closed, and replaced, by each directive.
	redirected chan struct{}
	workers    map[int32]*worker

	// version counts what changes the merged step.
	version int64
	// merged is the merged step of mergedVersion.
	merged        *StepObservation
	mergedVersion int64

	notified    time.Time
	cancelTimer func()
}

// worker is what is known of a worker, connected or not.
type worker struct {
	session  *session
	identity Identity
	lastSeen time.Time
	readiness
	// reports are the latest snapshots of the steps that were started and are not
	// acknowledged.
	reports map[int32]report
}

// readiness is what a worker says of itself.
type readiness struct {
	ready           bool
	reason, message string
	answers         int32
}

// report is a snapshot that was taken.
type report struct {
	pod      string
	sequence int64
	final    bool
	received time.Time
	reading  *wire.Reading
}

func newRun(id RunID) *run {
	return &run{id: id, redirected: make(chan struct{}), workers: map[int32]*worker{}}
}

func (r *run) worker(number int32) *worker {
	w, ok := r.workers[number]
	if !ok {
		w = &worker{reports: map[int32]report{}}
		r.workers[number] = w
	}
	return w
}

// size is how many workers there may be.
func (r *run) size() int {
	if r.directed {
		return len(r.directive.Assignments)
	}
	return workerv1.MaxWorkers
}

func (r *run) connected() bool {
	for _, w := range r.workers {
		if w.session != nil {
			return true
		}
	}
	return false
}

func (r *run) direct(d Directive) {
	if d.openStep() != r.directive.openStep() {
		r.version++
	}
	r.directed, r.directive = true, d
	close(r.redirected)
	r.redirected = make(chan struct{})
	for _, w := range r.workers {
		for step := range w.reports {
			if step < d.Acknowledged {
				delete(w.reports, step)
			}
		}
		w.session.poke()
	}
}

func (r *run) forget() {
	r.stopTimer()
	d := r.directive
	d.Finish = true
	r.direct(d)
	r.forgotten = true
}

// allFinal says whether all workers are done with the directed step.
func (r *run) allFinal() bool {
	if !r.directive.open() {
		return false
	}
	for number := range r.directive.Assignments {
		if !r.worker(int32(number)).reports[r.directive.Start.Step].final {
			return false
		}
	}
	return true
}

// connect makes s the worker's session. What a worker said of itself holds
// across its reconnects, not for another pod with its number.
func (w *worker) connect(s *session, now time.Time) {
	if w.session != nil {
		w.session.end(errReplaced)
	}
	if w.identity.Pod != s.identity.Pod {
		w.readiness = readiness{}
	}
	w.session, w.identity, w.lastSeen = s, s.identity, now
	s.poke()
}

// take keeps a snapshot if it is newer than what is known, and else says why not.
func (r *run) take(s *session, m *workerv1.Snapshot, reading *wire.Reading, now time.Time) (why rejection, ok bool) {
	w := r.worker(s.identity.Worker)
	step := m.GetStep()
	old, known := w.reports[step]
	switch {
	case step < r.directive.Acknowledged:
		return rejectStale, false
	// Nothing is counted twice: what the first pod sent was sent, and a second one
	// that begins again cannot know of it.
	case known && old.pod != s.identity.Pod:
		return rejectOtherPod, false
	case known && (m.GetSequence() <= old.sequence || old.final):
		return rejectStale, false
	}
	w.reports[step] = report{
		pod:      s.identity.Pod,
		sequence: m.GetSequence(),
		final:    m.GetFinal(),
		received: now,
		reading:  reading,
	}
	r.version++
	return "", true
}

// snapshot takes a worker's snapshot. One of a step that was not started yet
// waits until it was: after a restart of the operator, workers are back before
// the run is directed.
func (c *Coordinator) snapshot(s *session, m *workerv1.Snapshot) error {
	requests, known, err := c.await(s, m.GetStep())
	if err != nil || !known {
		return err
	}
	reading, err := wire.Read(m.GetMeasurement(), requests)
	if err != nil {
		return c.reject(rejectInvalid, codes.InvalidArgument, "snapshot of step %d: measurement: %v", m.GetStep(), err)
	}
	c.mu.Lock()
	if s.isOver() {
		c.mu.Unlock()
		return s.err
	}
	why, ok := s.run.take(s, m, reading, c.clock.Now())
	last := ok && m.GetFinal() && s.run.allFinal()
	c.mu.Unlock()
	switch {
	case !ok:
		c.metrics.rejected.WithLabelValues(string(why)).Inc()
		return nil
	case last:
		c.changed(s.run, atOnce)
	default:
		c.changed(s.run, soon)
	}
	c.metrics.snapshots.Inc()
	return nil
}

// await returns how many requests the plan has, once the directive covers the
// step. known is false if the step is of no interest any more.
func (c *Coordinator) await(s *session, step int32) (requests int, known bool, err error) {
	for {
		c.mu.Lock()
		r := s.run
		directed, forgotten, d, redirected := r.directed, r.forgotten, r.directive, r.redirected
		c.mu.Unlock()
		switch {
		case forgotten:
			return 0, false, nil
		case directed && !d.plans(s.identity.Worker, step):
			return 0, false, c.reject(rejectInvalid, codes.InvalidArgument, "snapshot: step %d is not in the plan", step)
		case directed && d.covers(step):
			return len(d.Assignments[s.identity.Worker].GetRequests()), true, nil
		}
		select {
		case <-redirected:
		case <-s.over:
			return 0, false, s.err
		case <-s.stream.Context().Done():
			return 0, false, s.stream.Context().Err()
		}
	}
}
