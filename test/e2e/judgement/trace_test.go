//go:build e2e

package judgement

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

// traceSpec has the target hold a quarter of 200 requests for a second. Half of them are
// sampled, so that fewer than five of these are in one of 2^27 runs.
const traceSpec = `
target: {service: {name: counter}, timeout: 10s, trace: {sampled: 50%}}
requests: [{name: quick, weight: 3, http: {path: /traced}}, {name: held, http: {path: "/traced?delay=1s"}}]
steps: [{name: 50/s, rate: 50, duration: 4s}]
parallelism: 2
`

// checkTraces compares the traces in the results with what the target was asked for: all
// requests have one, as many are sampled as it says, and the slowest are those that it held.
func checkTraces(t *testing.T) judgement {
	ns := cluster.Namespace(t)
	target := cluster.CounterOf(t, ns)
	lt := cluster.Create(t, ns, "traced", traceSpec)
	cluster.Finish(t, lt)
	all := target.MustRead(t)
	got, result := all["traced"], lt.Status.Steps[0].Result
	if result == nil || result.Traces == nil {
		t.Fatalf("there are no traces: %v", lt.Status.Conditions)
	}
	held := 0
	for _, r := range result.Traces.Slowest {
		if r.Request == "held" && strings.Contains(got.Held, r.TraceID+" ") {
			held++
		}
	}
	// 100 are expected, with a deviation of 7.
	if n := result.Traces.Sampled; n < 55 || n > 145 {
		t.Errorf("%d of %d requests are sampled, want about a half", n, result.Sent)
	}
	// A busy machine may leave the last of them unsent.
	return agree(
		fmt.Sprintf("200 due, %d received, %d with a trace, %d sampled, 5 slowest that were held", result.Sent, result.Sent, got.Sampled),
		fmt.Sprintf("%d due, %d received, %d with a trace, %d sampled, %d slowest that were held", result.Due, got.Received, got.Traced, result.Traces.Sampled, held), lt)
}
