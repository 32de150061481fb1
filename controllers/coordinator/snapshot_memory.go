package coordinator

import (
	"fmt"

	"google.golang.org/grpc/codes"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

const (
	// maxKept bounds the snapshots that are kept of all runs, and maxKeptOfRun those of
	// one. Those of 1,000 workers with 32 requests are 30 MB when each measured 10^4
	// values, and 90 MB with 10^5.
	maxKept      = 192 << 20
	maxKeptOfRun = 128 << 20
)

var errTooLarge = fmt.Errorf("they are more than %d MiB: use fewer workers or fewer requests", maxKeptOfRun>>20)

// store keeps a snapshot if there is room for it, and else says why not. When the room
// of all runs is used up, a run that has less than its share of it may still keep more.
// The mutex is held.
func (c *Coordinator) store(s *session, m *workerv1.Snapshot, read measured) (why rejection, ok bool, err error) {
	r := s.run
	more := read.Size() - r.worker(s.identity.Worker).snapshots[m.GetStep()].size
	needed := more
	if read.clients != nil { // which are counted once they are added up
		needed += read.clients.Bytes()
	}
	switch {
	case r.kept+needed > maxKeptOfRun:
		r.tooLarge = true
		r.version++
		return rejectRoom, false, nil
	case !c.hasRoom(r, needed):
		if m.GetFinal() { // it comes again with the next session
			return rejectRoom, false, c.reject(rejectRoom, codes.ResourceExhausted, "the operator has no room for more measurements now")
		}
		return rejectRoom, false, nil
	}
	if why, ok = r.store(s, m, read, c.clock.Now()); ok {
		c.keep(r, more)
	}
	return why, ok, nil
}

// hasRoom says whether so much more may be kept of a run, which has less than one may. The
// mutex is held.
func (c *Coordinator) hasRoom(r *runState, needed int) bool {
	return c.kept+needed <= maxKept || r.kept+needed <= maxKept/max(1, len(c.runs))
}

// keep counts what is kept of a run.
func (c *Coordinator) keep(r *runState, more int) {
	r.kept += more
	c.kept += more
}
