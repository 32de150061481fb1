//go:build e2e

package judgement

import (
	"fmt"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

// thinkSpec sends 105 requests, each of which takes 0.5 s. In errand, 20 users send 5 each, with
// 4 think times between them, and may begin within 50 ms of each other. In shift, the first of
// two users sends at 0, 4.5 and 9 s, the second at 2 and 6.5 s, each later by what the responses
// before take longer, which may be 1.8 s together on a busy machine.
const thinkSpec = `
target: {service: {name: counter}}
requests: [{name: think, http: {path: "/think?delay=500ms"}}]
parallelism: 2
steps:
  - {name: errand, users: 20, requestsPerUser: 5, think: {min: 1s, max: 2s}}
  - {name: shift, users: 2, think: {min: 4s, max: 4s}, duration: 10800ms}
thresholds: [{metric: unsentRate, max: 0%}]
`

// checkThink has the target count what users send who think.
func checkThink(t *testing.T) judgement {
	ns := cluster.Namespace(t)
	target := cluster.CounterOf(t, ns)
	lt := cluster.Create(t, ns, "think", thinkSpec)
	cluster.Finish(t, lt)
	counts := target.MustRead(t)
	errand := lt.Status.Steps[0]
	if errand.Window == nil {
		t.Fatal("the first step was not carried out")
	}
	// The slowest of 20 users thinks for about 4 x 1.5 s and a little more, and never for more
	// than 8 s. Its responses take 2.5 s.
	thought := errand.Window.Duration >= 6500*time.Millisecond && errand.Window.Duration < 11500*time.Millisecond
	return agree(
		"Passed, 105 sent, of which the target has 105, in 6.5s to 11.5s: true",
		fmt.Sprintf("%s, %d sent, of which the target has %d, in 6.5s to 11.5s: %t", lt.Status.Verdict, cluster.SentBy(lt), counts["think"].Received, thought), lt)
}

// rampSpec has (2 + 20)/2 users on average on each ramp, who send twice a second for 15 s:
// 330 requests on either, and a few more or fewer, since each user sends whole requests. A
// busy machine may leave the last of a step unsent.
const rampSpec = `
target: {service: {name: counter}}
requests: [{name: ramp, http: {path: /ramp}}]
parallelism: 3
steps:
  - {name: up, users: 2, rampTo: 20, ratePerUser: 2, duration: 15s}
  - {name: down, users: 20, rampTo: 2, ratePerUser: 2, duration: 15s}
thresholds: [{metric: unsentRate, max: 5%}]
`

// checkRamp has the target count what the users of ramps send.
func checkRamp(t *testing.T) judgement {
	ns := cluster.Namespace(t)
	target := cluster.CounterOf(t, ns)
	lt := cluster.Create(t, ns, "ramp", rampSpec)
	cluster.Finish(t, lt)
	counts := target.MustRead(t)
	planned, due, near := int64(0), int64(0), true
	for _, s := range lt.Status.Steps {
		planned += s.Load.Requests
		near = near && s.Load.Requests > 320 && s.Load.Requests < 340
		if s.Result != nil {
			due += s.Result.Due
		}
	}
	received := counts["ramp"].Received
	return agree(
		fmt.Sprintf("Passed, %d due, %d sent, about 330 each: true, no users sustained: true", planned, received),
		fmt.Sprintf("%s, %d due, %d sent, about 330 each: %t, no users sustained: %t",
			lt.Status.Verdict, due, cluster.SentBy(lt), near, lt.Status.MaxSustainedUsers == nil), lt)
}
