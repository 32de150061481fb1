//go:build e2e

package judgement

import (
	"fmt"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

// storedSpec sends four requests that are stored once, and one of another kind, 40 in
// all. The last is due a fifth of a second before the end of the step, and a response that is
// not held comes within 3 s: on a busy machine, too.
const storedSpec = `
target: {service: {name: counter}, timeout: 3s}
requests:
  - {name: write, weight: 4, http: {path: "/%[1]s?stores=1"}}
  - {name: odd, http: {path: "/%[1]s?%[2]s"}}
steps: [{name: 5/s, rate: 5, duration: 8s}]
thresholds: [{metric: failureRate, max: 100%%}, {metric: unsentRate, max: 100%%}]
audits:
  - {name: stored, stored: {read: {http: {path: /%[1]s/stored}}, value: .stored, requests: [write, odd], stableFor: 1s, maxWait: 10s}}
`

// checkStored has one target lose a fifth of what it acknowledges, one store it twice,
// and one acknowledge it too late. What is true is what the target counted; of what came
// too late, what was sent of it.
func checkStored(t *testing.T) judgement {
	ns := cluster.Namespace(t)
	target := cluster.CounterOf(t, ns)
	kinds := []struct{ name, query string }{{"loses", "stores=0"}, {"doubles", "stores=2"}, {"is-late", "stores=1&delay=6s"}}
	runs := map[string]*v1beta1.LoadTest{}
	for _, kind := range kinds {
		runs[kind.name] = cluster.Create(t, ns, kind.name, fmt.Sprintf(storedSpec, kind.name, kind.query))
	}
	for _, lt := range runs {
		cluster.Finish(t, lt)
	}
	counts := target.MustRead(t)
	stored := func(name string) v1beta1.AuditStatus {
		a := runs[name].Status.Audits[0]
		t.Logf("%s: %s", name, a.Message)
		if a.Change == nil || a.Unknown == nil {
			t.Fatalf("%s: the number is not known", name)
		}
		return a
	}
	loses, doubles, late := stored("loses"), stored("doubles"), stored("is-late")
	lost, twice := counts["loses"], counts["doubles"]
	return agree(
		fmt.Sprintf("Failed with %d lost, Failed with %d twice, Passed with 8 late",
			lost.Received-lost.Stored, twice.Stored-twice.Received),
		fmt.Sprintf("%s with %d lost, %s with %d twice, %s with %d late",
			runs["loses"].Status.Verdict, loses.Acknowledged-*loses.Change, runs["doubles"].Status.Verdict,
			*doubles.Change-doubles.Acknowledged-*doubles.Unknown, late.State, *late.Change-late.Acknowledged))
}
