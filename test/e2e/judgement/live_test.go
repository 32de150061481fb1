//go:build e2e

package judgement

import (
	"fmt"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// abortSpec would send 3000 requests in a minute. The 31st failure decides that more than
// 1% of them fail: it comes after 0.62 s, and 150 more are due in 3 s. A machine that has no
// time to spare may need longer, and never 10 s.
const abortSpec = `
target: {service: {name: counter}, timeout: 1s}
requests: [{name: abort, http: {path: /abort}}]
parallelism: 2
steps: [{name: wrong, rate: 50, duration: 60s}, {name: next, rate: 50, duration: 10s}]
thresholds: [{metric: failureRate, max: 1%, onBreach: Abort, grace: 0s}]
`

// checkAbort has a target answer wrongly. Its own count is the clock: what it received
// says for how long requests came.
func checkAbort(t *testing.T) judgement {
	ns := cluster.Namespace(t)
	target := cluster.CounterOf(t, ns)
	must.Succeed(t, target.Behave(t.Context(), "wrong"))
	lt := cluster.Create(t, ns, "abort", abortSpec)
	cluster.Finish(t, lt)
	counts := target.MustRead(t)
	const decided, inThreeSeconds, inTenSeconds = 31, 150, 500
	received, threshold, steps := counts["abort"].Received, lt.Status.Thresholds[0], lt.Status.Steps
	t.Logf("%s The target received %d requests, %d of them after it was decided.", threshold.Message, received, received-decided)
	if threshold.AbortTime == nil || steps[0].Result == nil {
		t.Fatal("the run was not aborted")
	}
	j := agree(
		fmt.Sprintf("Failed in step wrong, %d sent, stopped in 10s true, then %s", received, v1beta1.StepSkipped),
		fmt.Sprintf("%s in step %s, %d sent, stopped in 10s %t, then %s", lt.Status.Verdict, threshold.Step,
			steps[0].Result.Sent, received <= decided+inTenSeconds, steps[1].State))
	j.hindered = !j.wrong && received > decided+inThreeSeconds
	return j
}

// onTimeSpec sends requests, a quarter of which is answered after 2 s.
const onTimeSpec = `
target: {service: {name: counter}, timeout: 5s}
requests:
  - {name: fast, type: Fast, weight: 3, http: {path: /ontime}}
  - {name: slow, type: Slow, http: {path: "/ontime?delay=2s"}}
steps: [{name: load, %s}]
thresholds:
  - {metric: onTimeRate, within: 1s, min: 90%%}
  - {metric: onTimeRate, within: 1s, min: 100%%, requests: [fast]}
  - {metric: onTimeRate, within: 1s, min: 1%%, types: [Slow]}
  - {metric: onTimeRate, within: 4s, min: 100%%}
`

// checkOnTime has a quarter of the requests be late, by their schedule.
func checkOnTime(t *testing.T) judgement {
	ns := cluster.Namespace(t)
	cluster.CounterOf(t, ns)
	lt := cluster.Create(t, ns, "on-time", fmt.Sprintf(onTimeSpec, fading))
	cluster.Finish(t, lt)
	found := fmt.Sprint(lt.Status.Verdict)
	for _, threshold := range lt.Status.Thresholds[:4] {
		found += fmt.Sprintf(", %s %s", threshold.Observed, threshold.State)
	}
	return agree("Failed, 75% Failed, 100% Passed, 0% Failed, 100% Passed", found, lt)
}
