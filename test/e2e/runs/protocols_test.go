//go:build e2e

package runs

import (
	"fmt"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const (
	// drainedSends is how many requests are due in a run against pods that are drained. That
	// two busy cores delay them, as its verdict then says, is no fault of the run.
	drainedSends  = 4000
	drainedTarget = `
steps: [{name: 100/s, rate: "100", duration: 40s}]
worker: {resources: {requests: {cpu: 250m, memory: 32Mi}}}
target:
  service: {name: rolled, port: 8443, scheme: HTTPS}
  tls: {insecureSkipVerify: true}
  protocol: HTTP/2
  http2: {connections: 4}
  timeout: 5s
`
	drainedRequests = `
requests: [{name: run, http: {path: "/run?delay=20ms"}}]
`
	drainedCalls = `
  grpc: {descriptorsFrom: {configMap: {name: health, key: health.binpb}}}
requests: [{name: check, grpc: {method: grpc.health.v1.Health/Check, metadata: [{name: name, value: run}, {name: delay, value: 20ms}]}}]
`
)

// drained replaces the pods of a headless Service while requests share connections to
// them. The old ones end each connection by GOAWAY once it carried a request. A request that
// they say that they have not processed is refused, and is not sent again.
func drained(t *testing.T, spec string) {
	const pods = 2
	r := newRolled(t, pods, spec)
	r.start("new", pods)
	r.retire("old", pods)
	for i := range pods {
		must.Succeed(t, r.pods[fmt.Sprintf("old-%d", i)].Behave(t.Context(), "drain"))
	}
	r.await("new", 1) // four connections may all lead to one of them
	cluster.Finish(t, r.lt)
	received, s := r.received(), r.lt.Status.Steps[0].Result
	if s == nil {
		t.Fatalf("verdict %s without a result: %s", r.lt.Status.Verdict, cluster.Condition(r.lt, v1beta1.ConditionFinished).Message)
	}
	t.Logf("%d sent over %d connections: %d answered, %d refused", s.Sent, s.Generator.ConnectionsOpened, s.Outcomes.Success, s.Outcomes.Refused)
	if s.Due != drainedSends || s.Outcomes.Success != received || s.Outcomes.Refused != s.Sent-received {
		t.Errorf("%d received, of %d sent; want that as many succeeded, and that all others were refused: %+v %v", received, s.Sent, s.Outcomes, s.Requests)
	}
	if s.Outcomes.Refused == 0 || s.Generator.ConnectionsOpened <= 4 {
		t.Errorf("%d refused over %d connections: the target did not drain", s.Outcomes.Refused, s.Generator.ConnectionsOpened)
	}
}

// TestProtocols replaces the pods to which requests, and calls, share connections of HTTP/2.
// What else becomes of runs over each protocol, TestFaults has.
func TestProtocols(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]string{"requests": drainedRequests, "calls": drainedCalls} {
		t.Run(name+" drained", func(t *testing.T) {
			t.Parallel()
			drained(t, drainedTarget+spec)
		})
	}
}
