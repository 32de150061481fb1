package attack

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// simulation is a step of users against a target that answers each request after a time,
// on a clock of its own and by a generator that is never late.
type simulation struct {
	feed *userFeed
	sent []simulatedRequest // in the order of their due times
}

type simulatedRequest struct {
	user, k int64
	due     time.Duration
}

func simulate(t *testing.T, step StepShare, seed int64, latency time.Duration) []simulatedRequest {
	t.Helper()
	must.Succeed(t, step.Check())
	src, err := source.New(source.Config{Requests: []source.Request{get("/")}})
	must.Succeed(t, err)
	schedule := step.Load.schedule(step, Config{Source: src, Seed: seed})
	x := &Execution{step: step, schedule: schedule, source: src, conns: make([]transport.Conn, step.Share.Count)}
	for i := range x.conns {
		x.conns[i] = idleConn{}
	}
	s := &scheduler{x: x, parts: 1, driver: &countingDriver{}}
	sim := simulation{feed: schedule.feed(s).(*userFeed)}
	sim.run(step, latency)
	return sim.sent
}

// run sends what is due next, or ends what was sent first: the target answers in order.
func (s *simulation) run(step StepShare, latency time.Duration) {
	var inFlight []*connSlot
	for {
		due, ok := s.feed.next()
		switch {
		case len(inFlight) > 0 && (!ok || inFlight[0].hit.due+latency <= due):
			c := inFlight[0]
			inFlight = inFlight[1:]
			s.feed.ended(c, result{received: c.hit.due + latency})
		case !ok:
			return
		default:
			c := s.feed.take()
			inFlight = append(inFlight, c)
			s.sent = append(s.sent, simulatedRequest{step.Share.Number(int64(c.index)), c.hit.number, c.hit.due})
		}
	}
}

type idleConn struct{ transport.Conn }

func (idleConn) Resume() {}

// countingDriver numbers the connections.
type countingDriver struct {
	driver
	n int
}

func (d *countingDriver) add(transport.Conn) *connSlot {
	d.n++
	return &connSlot{index: d.n - 1}
}
