package attack

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// BenchmarkAccounting is what a request of a user costs beside its transport: to choose it, to
// render it, and to count it when it is sent and when it ends.
func BenchmarkAccounting(b *testing.B) {
	src, err := source.New(source.Config{Requests: []source.Request{get("/")}})
	must.Succeed(b, err)
	r, err := NewRunner(Config{Source: src, Client: idleClient{}, Timeout: time.Second, MaxConnections: 64})
	must.Succeed(b, err)
	x := r.newExecution(StepShare{Load: ClosedUsers{Duration: time.Hour}, Share: all(64), Total: 64}, time.Now())
	s := &scheduler{x: x, parts: 1, driver: &countingDriver{}}
	s.feed = x.schedule.feed(s)
	var buffer source.Buffer
	response := transport.Response{Status: 200, Reused: true, InOneRead: true, WaitExact: true, Waited: time.Microsecond}
	b.ReportAllocs()
	for b.Loop() {
		c := s.feed.take()
		if !s.begin(c, &buffer) {
			b.Fatal("a request that is due was not sent")
		}
		s.ended(c, s.end(c, response, nil))
	}
}

// idleClient has connections that are never used.
type idleClient struct{ transport.Client }

func (idleClient) NewConn() transport.Conn { return idleConn{} }
