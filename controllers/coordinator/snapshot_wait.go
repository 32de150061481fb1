package coordinator

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
)

// begins notes that the worker has begun a step, and says whether that was not known.
func (w *workerState) begins(s *session, step int32) bool {
	if w.session != s || w.begun > step {
		return false
	}
	w.begun = step + 1
	return true
}

// await returns the worker's assignment, once the directive covers the step of a
// snapshot. known is false if the step is of no interest any more. Meanwhile room is
// reserved for the snapshot.
func (c *Coordinator) await(s *session, m *workerv1.Snapshot) (a *workerv1.Assignment, known bool, err error) {
	a, redirected, err := c.reach(s, m.GetStep())
	if err != nil || redirected == nil {
		return a, a != nil, err
	}
	release, err := c.reserve(s.run, footprint(m))
	if err != nil {
		return nil, false, err
	}
	defer release()
	for err == nil && redirected != nil {
		select {
		case <-redirected:
		case <-s.over:
			return nil, false, s.err
		case <-s.stream.Context().Done():
			return nil, false, s.stream.Context().Err()
		}
		a, redirected, err = c.reach(s, m.GetStep())
	}
	return a, a != nil, err
}

// reach returns the worker's assignment if the directive covers the step, and nothing if
// that is of no interest any more. Otherwise redirected is closed by the next directive,
// and the step is known to have begun: another process directed the worker.
func (c *Coordinator) reach(s *session, step int32) (a *workerv1.Assignment, redirected <-chan struct{}, err error) {
	var directed, over, news bool
	var d exchange.Directive
	c.locked(func() {
		r := s.run
		directed, over, d, redirected = r.directed(), r.forgotten || r.directive.Finish, r.directive, r.redirected
		news = (!directed || d.Includes(s.identity.Worker, step)) && r.worker(s.identity.Worker).begins(s, step)
	})
	switch {
	case over:
		return nil, nil, nil
	case directed && !d.Includes(s.identity.Worker, step):
		return nil, nil, c.reject(rejectInvalid, codes.InvalidArgument, "snapshot: step %d is not in the plan", step)
	case directed && d.HasReached(step):
		return d.Assignments[s.identity.Worker], nil, nil
	}
	if news {
		c.notifyChange(s.run, atOnce)
	}
	return nil, redirected, nil
}

// footprint is about how much memory a snapshot takes as it came.
func footprint(m *workerv1.Snapshot) int {
	const part = 1 << 10 // a request with its histograms, and less of all else
	of := m.GetMeasurement()
	return proto.Size(m) + part*(len(of.GetRequests())+len(of.GetJourneys()))
}

// reserve keeps room for a snapshot that waits for its step. Of a run that was forgotten a moment ago, nothing
// waits any more.
func (c *Coordinator) reserve(r *runState, size int) (release func(), err error) {
	c.locked(func() {
		switch {
		case r.forgotten:
			return
		case r.kept+size > maxKeptOfRun || !c.hasRoom(r, size):
			err = c.reject(rejectRoom, codes.ResourceExhausted, "the operator has no room for measurements of steps that have not begun")
			return
		}
		r.waiting += size
		c.keep(r, size)
	})
	return func() {
		c.locked(func() {
			if err == nil && !r.forgotten { // what is kept of that is forgotten, too
				r.waiting -= size
				c.keep(r, -size)
			}
		})
	}, err
}
