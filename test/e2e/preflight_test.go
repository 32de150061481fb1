//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// expectStrategy asks a limiter for its strategy before it is asked for anything else.
func expectStrategy(strategy string) string {
	return `
target: {service: {name: ratelimiter, port: 80}}
preflight:
  - request: {path: /version}
    expect: {json: [{path: .strategy, equals: ` + strategy + `}, {path: .capacity, equals: "50"}]}
requests: [{path: /api, expect: {status: [200, 429]}}]
steps: [{users: 5, requestsPerUser: 4}]
thresholds: [{metric: failureRate, max: 0%}]
parallelism: 2
startDeadlineSeconds: 60
`
}

// TestPreflight: a limiter of an unexpected strategy receives no load, and the run
// reports the difference at once; for the expected one the run reports the verified
// value.
func TestPreflight(t *testing.T) {
	ns := limiter(t, "ratelimiter.strategy=lua", "ratelimiter.capacity=50")

	before := ask(t, ns)
	lt := create(t, ns, "another", expectStrategy("hash"))
	finish(t, lt, waitTimeout)
	if after := ask(t, ns); after.total() != before.total() {
		t.Errorf("the target was asked %d times, want not once", after.total()-before.total())
	}
	if lt.Status.Verdict != v1alpha1.VerdictError || lt.Status.Phase != v1alpha1.PhaseEnded {
		t.Errorf("verdict %s, phase %s; want Error, Failed", lt.Status.Verdict, lt.Status.Phase)
	}
	const wrong = `.strategy: a string of 3 bytes instead of "hash"`
	for kind, status := range map[string]string{
		v1alpha1.ConditionTargetVerified: "False", v1alpha1.ConditionWorkersReady: "False", v1alpha1.ConditionFailed: "True",
	} {
		c := condition(lt, kind)
		if string(c.Status) != status || c.Reason != v1alpha1.ReasonPreflightFailed || !strings.Contains(c.Message, wrong) {
			t.Errorf("%s is %s, %s: %q; want %s, %s naming %q", kind, c.Status, c.Reason, c.Message, status, v1alpha1.ReasonPreflightFailed, wrong)
		}
	}
	t.Logf("%s", condition(lt, v1alpha1.ConditionFailed).Message)

	before = ask(t, ns)
	lt = create(t, ns, "meant", expectStrategy("lua"))
	finish(t, lt, waitTimeout)
	if lt.Status.Phase != v1alpha1.PhaseComplete {
		t.Fatalf("phase %s: %s", lt.Status.Phase, condition(lt, v1alpha1.ConditionFailed).Message)
	}
	if after := ask(t, ns); after.total()-before.total() != 20 || lt.Status.Steps[0].Result.Sent != 20 {
		t.Errorf("the target was asked %d times, the status says %d; want 20", after.total()-before.total(), lt.Status.Steps[0].Result.Sent)
	}
	verified := condition(lt, v1alpha1.ConditionTargetVerified)
	if verified.Reason != v1alpha1.ReasonPreflightPassed || verified.Message != "GET /version has .strategy lua, .capacity 50." {
		t.Errorf("TargetVerified is %s: %q; want %s with what was verified", verified.Reason, verified.Message, v1alpha1.ReasonPreflightPassed)
	}
}
