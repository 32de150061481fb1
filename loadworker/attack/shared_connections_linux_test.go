package attack

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http2"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/loop"
)

// Between the look for a connection with room and its use, another attempt to open one may go on, in its own goroutine,
// so that as many are under way as may be.
func TestASharedConnectionThatWasFoundIsTaken(t *testing.T) {
	openings := dial.NewOpenings(1, func() {})
	s := &scheduler{parts: 1}
	d := &streamDriver{sched: s, loop: &http2.Loop{Loop: &loop.Loop{Openings: openings}}}
	p := &sharedConnections{driver: d, limit: 2, conns: []*streamConn{{}, {}}}
	for i, want := range p.conns {
		if v := p.vacancy(); v != vacant {
			t.Fatalf("vacancy %v, though no connection is being opened", v)
		}
		_, opening := openings.Begin(t.Context())
		if got := d.slots[p.take().index].on; got != want {
			t.Errorf("connection %p is taken, want the %d., %p", got, i+1, want)
		}
		opening.End()
	}
}
