//go:build e2e

package runs

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// every is a run of each kind of step, from three workers.
const every = `
target:
  service: {name: ratelimiter, port: 80}
preflight:
  - http: {path: /version}
    expect: {json: [{path: .strategy, equals: lua}]}
requests:
  - name: first
    type: Read
    weight: 3
    http:
      path: /api
      headers: [{name: X-Forwarded-For, value: "10.9.0.${rand:1-200}"}]
    expect: {status: [200, 429]}
  - name: second
    type: Write
    http:
      method: POST
      path: /api
      body: '{"n": ${seq}}'
      headers: [{name: X-Forwarded-For, value: "10.8.0.${worker}"}]
    expect: {status: [200, 429]}
steps:
  - {name: paced, users: 200, ratePerUser: "1", duration: 5s}
  - {name: burst, users: 31, requestsPerUser: 20, think: {min: 100ms, max: 200ms}}
  - {name: pause, pause: 1s}
  - {name: arrivals, rate: "150", duration: 4s}
  - {name: closed, users: 5, think: {min: 400ms, max: 600ms}, duration: 3s}
parallelism: 3
worker: {resources: {requests: {cpu: 250m, memory: 32Mi}}}
# Two busy cores are those of the target, too.
thresholds: [{metric: unsentRate, max: 5%}, {metric: downtime, max: 10%}]
`

// due is the number of requests in the schedule of a step; a closed step has none.
var due = map[string]int64{"paced": 1000, "burst": 620, "arrivals": 600}

// TestCounts is the promise of the project: what the status says was sent is
// what the target says it was asked, exactly.
func TestCounts(t *testing.T) {
	t.Parallel()
	ns := cluster.Limiter(t, "ratelimiter.strategy=lua")
	before, machine := cluster.Ask(t, ns), pressure.Start()
	applied := time.Now()
	lt := cluster.Create(t, ns, "counts", every)
	cluster.Finish(t, lt)
	after := cluster.Ask(t, ns)

	if why := v1beta1.NotCarriedOut(lt.Status.Conditions); why != nil {
		t.Fatalf("%s: %s", why.Reason, why.Message)
	}
	cluster.IsPassed(t, lt, machine)
	if verified := cluster.Condition(lt, v1beta1.ConditionTargetVerified); verified.Reason != v1beta1.ReasonPreflightPassed || verified.Message != "GET /version has .strategy lua." {
		t.Errorf("TargetVerified is %s: %q; want %s with what was verified", verified.Reason, verified.Message, v1beta1.ReasonPreflightPassed)
	}
	t.Logf("from apply to the first request: %s", lt.Status.Steps[0].StartTime.Sub(applied).Round(time.Millisecond))
	var sent, expected, limited int64
	for _, step := range lt.Status.Steps {
		if step.Name == "pause" {
			continue
		}
		r := step.Result
		if r == nil {
			t.Fatalf("step %s has no result", step.Name)
		}
		sent += r.Sent
		expected += r.Expected
		limited += r.Outcomes.RateLimited
		if want, ok := due[step.Name]; ok && r.Due != want {
			t.Errorf("step %s: due is %d, want %d", step.Name, r.Due, want)
		}
		if step.WorkersReporting != 3 {
			t.Errorf("step %s: %d workers reporting, want 3", step.Name, step.WorkersReporting)
		}
		checkTypes(t, step)
		checkCodes(t, step)
		checkHistogram(t, step)
		t.Logf("step %-8s due %d, sent %d, unsent %d, late %d, %s/s, p95 %s, start skew %s",
			step.Name, r.Due, r.Sent, r.Unsent, r.Late, r.Throughput, r.ResponseTime.P95.Duration, step.StartSkew.Duration)
	}
	if got := after.Total() - before.Total(); got != sent || expected != sent {
		t.Errorf("the target was asked %d times; the status says %d sent, %d answered as expected", got, sent, expected)
	}
	if got := after.Denied - before.Denied; got != limited {
		t.Errorf("the target denied %d; the status says %d rateLimited", got, limited)
	}
	checkSpread(t, ns)
	checkPooled(t, ns, lt)
}

// checkTypes: three of four requests are to be reads, exactly, since the mix is not
// drawn by lot; and the types add up to the whole.
func checkTypes(t *testing.T, step v1beta1.StepStatus) {
	t.Helper()
	var sum int64
	for _, r := range step.Result.Types {
		sum += r.Sent
		if r.Name == "Read" && step.Name == "arrivals" && (r.Due == nil || *r.Due*4 != step.Result.Due*3) {
			t.Errorf("step %s: %v of %d requests that are due are reads, want three of four", step.Name, ptr.Deref(r.Due, 0), step.Result.Due)
		}
	}
	if sum != step.Result.Sent {
		t.Errorf("step %s: types add up to %d of %d sent", step.Name, sum, step.Result.Sent)
	}
}

// checkCodes: the limiter answers 200 and 429, and each is counted, in the whole as in
// the types.
func checkCodes(t *testing.T, step v1beta1.StepStatus) {
	t.Helper()
	all := []v1beta1.Counts{step.Result.Counts}
	for _, r := range step.Result.Types {
		all = append(all, r.Counts)
	}
	for _, c := range all {
		var want []v1beta1.StatusCodeCount
		for code, n := range map[int32]int64{200: c.Outcomes.Success, 429: c.Outcomes.RateLimited} {
			if n > 0 {
				want = append(want, v1beta1.StatusCodeCount{Code: code, Count: n})
			}
		}
		slices.SortFunc(want, func(a, b v1beta1.StatusCodeCount) int { return int(a.Code - b.Code) })
		if diff := cmp.Diff(want, c.StatusCodes); diff != "" {
			t.Errorf("step %s: status codes of %d responses (-want +got):\n%s", step.Name, c.Completed, diff)
		}
	}
}

// checkHistogram: the histogram in the status, read with the public library, holds
// every request and gives the quantiles that stand beside.
func checkHistogram(t *testing.T, step v1beta1.StepStatus) {
	t.Helper()
	h, err := measure.DecodeHistogram(step.Result.Histogram, 0)
	if err != nil {
		t.Fatalf("step %s: %v", step.Name, err)
	}
	if want := step.Result.Sent - step.Result.Outcomes.Unfinished; h.Count() != want {
		t.Errorf("step %s: the histogram holds %d of %d requests", step.Name, h.Count(), want)
	}
	q, ok := h.Quantile(0.95)
	if p95 := step.Result.ResponseTime.P95; ok && (p95 == nil || math.Abs(float64(q-p95.Duration)) > 0.001*float64(q)) {
		t.Errorf("step %s: p95 is %v in the status and %v in its histogram", step.Name, p95, q)
	}
}
