package assemble

import (
	"net/http"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// Requests of a rate share as many connections as the target says, and no more of them are
// in flight than these may carry: the others wait.
func TestRateSharesConnectionsOfHTTP2(t *testing.T) {
	const window = 4 * time.Second // all are due in its first second
	release := make(chan struct{})
	server := workertest.Serve(t, func(http.ResponseWriter, *http.Request) { <-release }, workertest.OverHTTP2)
	a := workertest.Assignment(server.URL, &workerv1.Step{
		Share: &workerv1.Share{Stride: 1, Count: 100}, Total: 100,
		Load: &workerv1.Step_Arrivals{Arrivals: &workerv1.Arrivals{TotalRateMicros: 100e6, DurationNanos: int64(window)}},
	})
	a.Target.Protocol = workerv1.Protocol_PROTOCOL_HTTP2
	a.Target.Http2Connections, a.Target.Http2Streams = 3, 4
	x := prepared(t, a, testConfig(), ignore)
	step, err := x.Step(0)
	must.Succeed(t, err)
	r := x.Runner(step).Start(step, time.Now())
	await.True(t, "the server has all requests", func() bool { return server.Served() >= 12 && snapshot(t, r).Window >= window })
	close(release)
	<-r.Done()
	got := snapshot(t, r)
	q := got.Requests[0]
	if q.Sent != 12 || q.Outcomes[measure.Success] != 12 || server.Served() != 12 || got.Unsent != 88 || got.UnsentWithoutRoom != 88 {
		t.Errorf("sent %d, %d successes, served %d, unsent %d, without room %d; want 12, 12, 12, 88, 88. %v",
			q.Sent, q.Outcomes[measure.Success], server.Served(), got.Unsent, got.UnsentWithoutRoom, errorsOf(got))
	}
	if got.ConnectionsOpened != 3 {
		t.Errorf("%d connections, want 3", got.ConnectionsOpened)
	}
}
