package attack

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// BenchmarkAccounting is what a request of a user costs beside its transport: to choose it, to
// render it, and to count it when it is sent and when it ends.
func BenchmarkAccounting(b *testing.B) {
	x := idleExecution(b)
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

// idleExecution is a step of users who send nothing by themselves.
func idleExecution(b *testing.B) *Execution {
	b.Helper()
	src, err := source.New(source.Config{Requests: []source.Request{get("/")}})
	must.Succeed(b, err)
	r, err := NewRunner(Config{Source: src, Client: idleClient{}, Timeout: time.Second, MaxConnections: 64})
	must.Succeed(b, err)
	return r.newExecution(StepShare{Load: ClosedUsers{Duration: time.Hour}, Share: all(64), Total: 64}, time.Now())
}

// idleClient has connections that are never used.
type idleClient struct{ transport.Client }

func (idleClient) NewConn() transport.Conn { return idleConn{} }

// BenchmarkSnapshot is what a worker does each second to say what it has measured: 80,000 requests more.
func BenchmarkSnapshot(b *testing.B) {
	x := idleExecution(b)
	random := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		b.StopTimer()
		counters := x.rec.shards[0][0].counters
		for range 80_000 {
			d := time.Duration(50e3 * math.Exp(random.NormFloat64()))
			counters.request.Response.Record(d)
			counters.request.Service.Record(d / 2)
			counters.request.Ideal.Record(d / 2)
			counters.lateness.Record(d / 4)
		}
		b.StartTimer()
		s, err := x.rec.collect()
		must.Succeed(b, err)
		m, err := wire.EncodeGroups(s, nil, true)
		must.Succeed(b, err)
		_, err = proto.Marshal(m)
		must.Succeed(b, err)
	}
}
