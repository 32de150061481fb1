//go:build e2e

package judgement

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// versusSpec has six users wait for two targets in turn, each of which takes a known time
// for each response, as in baselineSpec.
const versusSpec = `
target: {service: {name: candidate}, timeout: 5s, headers: [{name: Delay, value: %s}]}
otherTargets: [{name: control, service: {name: control}, headers: [{name: Delay, value: 1s}]}]
versus: {target: control}
requests: [{name: wait, http: {path: /%s}}]
steps: [{name: six, users: 6, duration: 4s}]
repetitions: 5
worker: {resources: {requests: {cpu: 400m}}}
thresholds: [{metric: p50, maxIncrease: 60%%}]
`

// checkVersus compares a target with one that takes 1 s longer for each response, and
// with one that takes as long. Each target counts what it received.
func checkVersus(t *testing.T) judgement {
	ns := cluster.Namespace(t)
	targets := map[v1beta1.Side]cluster.Counter{}
	for side, name := range map[v1beta1.Side]string{v1beta1.SideCandidate: "candidate", v1beta1.SideControl: "control"} {
		c, err := cluster.StartCounterNamed(t.Context(), ns, "", name)
		must.Succeed(t, err)
		targets[side] = c
	}
	equal := cluster.Create(t, ns, "equal", fmt.Sprintf(versusSpec, "1s", "equal"))
	slower := cluster.Create(t, ns, "slower", fmt.Sprintf(versusSpec, "2s", "slower"))
	counts := "each target received what its steps sent"
	for _, lt := range []*v1beta1.LoadTest{equal, slower} {
		cluster.Finish(t, lt)
		t.Logf("%s: %s", lt.Name, lt.Status.Thresholds[0].Message)
		for side, target := range targets {
			if sent, received := sentTo(lt, side), cluster.Received(t, target, lt.Name); sent != received || sent == 0 {
				counts = fmt.Sprintf("%s sent %d to the %s, which received %d", lt.Name, sent, side, received)
			}
		}
	}
	return agree(
		"equal Passed, slower Failed, certain of both sides' figures; each target received what its steps sent",
		fmt.Sprintf("equal %s, slower %s, %s; %s", equal.Status.Verdict, slower.Status.Verdict, certainty(slower), counts),
		equal, slower)
}

// certainty is whether the sentence of a breach names both targets and the bounds.
func certainty(lt *v1beta1.LoadTest) string {
	message := lt.Status.Thresholds[0].Message
	for _, part := range []string{"p50 of candidate is ", "% above the ", " of control; ", "Over 5 repetitions, the change is between +"} {
		if !strings.Contains(message, part) {
			return message
		}
	}
	return "certain of both sides' figures"
}

// sentTo is how many requests were sent to a side.
func sentTo(lt *v1beta1.LoadTest, side v1beta1.Side) int64 {
	sent := int64(0)
	for _, step := range lt.Status.Steps {
		if step.Side == side && step.Result != nil {
			sent += step.Result.Sent
		}
	}
	return sent
}
