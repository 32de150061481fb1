//go:build e2e

package e2e

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// twice is a short run of two steps that send load, from two workers.
const twice = `
target:
  service: {name: ratelimiter, port: 80}
requests:
  - name: hit
    path: /api
    headers: [{name: X-Forwarded-For, value: "10.7.0.${rand:1-200}"}]
    expect: {status: [200, 429]}
steps:
  - {name: paced, users: 50, ratePerUser: "2", duration: 2s}
  - {name: pause, pause: 1s}
  - {name: burst, users: 20, requestsPerUser: 5}
repetitions: 2
thresholds: [{metric: failureRate, max: 0%}]
parallelism: 2
`

// TestRepetitions: every repetition is counted, none twice, and the spread is of
// what they came to.
func TestRepetitions(t *testing.T) {
	ns := limiter(t, "ratelimiter.strategy=lua")
	before := ask(t, ns)
	lt := create(t, ns, "repetitions", twice)
	finish(t, lt, waitTimeout)
	after := ask(t, ns)

	if lt.Status.Phase != v1alpha1.PhaseComplete {
		t.Fatalf("phase %s: %s", lt.Status.Phase, condition(lt, v1alpha1.ConditionFailed).Message)
	}
	names := []string{"paced", "pause", "burst", "paced (2)", "pause (2)", "burst (2)"}
	if len(lt.Status.Steps) != len(names) || lt.Status.Summary.Step != "4/4" {
		t.Fatalf("%d steps, summary %q; want 6, of which 4 send load", len(lt.Status.Steps), lt.Status.Summary.Step)
	}
	var sent int64
	results := map[string]*v1alpha1.StepResult{}
	for i, step := range lt.Status.Steps {
		if want := int32(i/3 + 1); step.Name != names[i] || step.Repetition != want {
			t.Errorf("step %d is %s of repetition %d, want %s of %d", i, step.Name, step.Repetition, names[i], want)
		}
		if step.Result != nil {
			sent += step.Result.Sent
			results[step.Name] = step.Result
		}
	}
	if got := after.total() - before.total(); got != sent || len(results) != 4 {
		t.Errorf("the target was asked %d times; the status says %d sent in %d steps, want 4", got, sent, len(results))
	}
	if len(lt.Status.Spread) != 2 {
		t.Fatalf("the spread is of %d steps, want 2", len(lt.Status.Spread))
	}
	for i, name := range []string{"paced", "burst"} {
		checkSpreadOf(t, lt.Status.Spread[i], name, results[name], results[name+" (2)"])
	}
}

// checkSpreadOf compares the spread of two repetitions with what they came to. The
// median of two is the lesser.
func checkSpreadOf(t *testing.T, s v1alpha1.SpreadStatus, name string, first, second *v1alpha1.StepResult) {
	t.Helper()
	if s.Name != name || s.Repetitions != 2 || s.Goodput == nil || s.FailureRate == nil || s.P95 == nil || first == nil || second == nil {
		t.Errorf("spread %+v, want that of two repetitions of %s", s, name)
		return
	}
	a, b := first.ResponseTime.P95.Duration, second.ResponseTime.P95.Duration
	want := v1alpha1.DurationSpread{}
	want.Min.Duration, want.Median.Duration, want.Max.Duration = min(a, b), min(a, b), max(a, b)
	if *s.P95 != want {
		t.Errorf("step %s: p95 was %s and %s; the spread is %+v", name, a, b, *s.P95)
	}
	t.Logf("step %s: p95 %s to %s, goodput %s to %s", name, s.P95.Min.Duration, s.P95.Max.Duration, s.Goodput.Min, s.Goodput.Max)
}
