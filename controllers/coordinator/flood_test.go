package coordinator

import (
	"crypto/tls"
	"net"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/flood"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// What a client may send without end, and without a session, ends its connection after
// some kilobytes, and no other.
func TestFloodEndsItsConnection(t *testing.T) {
	const most = 16 << 20 // of which sockets hold the larger part
	for name, send := range flood.All() {
		t.Run(name, func(t *testing.T) {
			r, honest := withWorker(t, running("a", 1, 0))
			raw, err := flood.Dial(t.Context(), r.addr, &tls.Config{RootCAs: r.roots, ServerName: workerv1.ServerName}, await.Patience)
			must.Succeed(t, err)
			t.Cleanup(func() { _ = raw.Close() })
			for err == nil && raw.Sent() < most {
				err = send(raw)
			}
			if err == nil {
				t.Errorf("%d bytes were taken", raw.Sent())
			}
			honest.sync()
			if open, _ := r.connections.counts(); open > 1 {
				t.Errorf("%d connections are open, want that of the worker", open)
			}
		})
	}
}

// A connection with a session takes no more without a message than the largest one.
func TestFloodBesideASessionEndsIt(t *testing.T) {
	r := newFixture(t)
	r.Direct("a", running("a", 1, 0))
	var taken *connection
	r.wrap = func(c net.Conn) net.Conn { return c }
	w := r.connect("a", 0, "pod")
	r.connections.mu.Lock()
	for _, c := range r.connections.open {
		taken = c
	}
	r.connections.mu.Unlock()
	taken.unhandled.Store(2 * maxUnhandled) // the message that is handled next takes a little off
	w.probe(1)
	if err := w.end(); err == nil || testutil.ToFloat64(r.metrics.rejected.WithLabelValues(string(rejectFlood))) != 1 {
		t.Errorf("%v, want that it is ended as a flood", err)
	}
}
