//go:build e2e

package e2e

import (
	"fmt"
	"testing"
	"time"
)

// thinkSpec sends 105 requests. In errand, 20 users send 5 each, with 4 think times between
// them. In shift, the first of two users sends at 0, 4 and 8 s, the second at 2 and 6 s, each
// later by the responses before, which may take 1.8 s together on a busy machine.
const thinkSpec = `
target: {service: {name: counter}}
requests: [{path: /think}]
parallelism: 2
steps:
  - {name: errand, users: 20, requestsPerUser: 5, think: 1s-2s}
  - {name: shift, users: 2, think: 4s, duration: 9800ms}
thresholds: [{metric: unsentRate, max: 0%}]
`

// checkThink has the target count what users send who think.
func checkThink(t *testing.T) judgement {
	ns := namespace(t)
	target := counterOf(t, ns)
	lt := create(t, ns, "think", thinkSpec)
	finish(t, lt, waitTimeout)
	counts := target.mustRead(t)
	errand := lt.Status.Steps[0]
	if errand.Window == nil {
		t.Fatal("the first step was not carried out")
	}
	// The slowest of 20 users thinks for about 4 x 1.5 s and a little more, and never for more
	// than 8 s.
	thought := errand.Window.Duration >= 4*time.Second && errand.Window.Duration < 9*time.Second
	return agree(
		"Passed, 105 sent, of which the target has 105, in 4s to 9s: true",
		fmt.Sprintf("%s, %d sent, of which the target has %d, in 4s to 9s: %t", lt.Status.Verdict, sentBy(lt), counts["think"].Received, thought), lt)
}

// rampSpec has (2 + 20)/2 users on average on each ramp, who send twice a second for 6 s:
// 132 requests on either, and a few more or fewer, since each user sends whole requests. A
// busy machine may leave the last of a step unsent.
const rampSpec = `
target: {service: {name: counter}}
requests: [{path: /ramp}]
parallelism: 3
steps:
  - {name: up, users: 2, rampTo: 20, ratePerUser: 2, duration: 6s}
  - {name: down, users: 20, rampTo: 2, ratePerUser: 2, duration: 6s}
thresholds: [{metric: unsentRate, max: 5%}]
`

// checkRamp has the target count what the users of ramps send.
func checkRamp(t *testing.T) judgement {
	ns := namespace(t)
	target := counterOf(t, ns)
	lt := create(t, ns, "ramp", rampSpec)
	finish(t, lt, waitTimeout)
	counts := target.mustRead(t)
	planned, due, near := int64(0), int64(0), true
	for _, s := range lt.Status.Steps {
		planned += s.Load.Requests
		near = near && s.Load.Requests > 122 && s.Load.Requests < 142
		if s.Result != nil {
			due += s.Result.Due
		}
	}
	received := counts["ramp"].Received
	return agree(
		fmt.Sprintf("Passed, %d due, %d sent, about 132 each: true, no users sustained: true", planned, received),
		fmt.Sprintf("%s, %d due, %d sent, about 132 each: %t, no users sustained: %t",
			lt.Status.Verdict, due, sentBy(lt), near, lt.Status.MaxSustainedUsers == nil), lt)
}
