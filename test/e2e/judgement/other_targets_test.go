//go:build e2e

package judgement

import (
	"fmt"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// twoTargetsSpec has three of four requests go to one target, and the fourth to another. Its users
// ask again when a response has come, so that no schedule is missed.
const twoTargetsSpec = `
target: {service: {name: shop}, timeout: 5s}
otherTargets: [{name: identity, service: {name: identity}, timeout: 5s}]
requests:
  - {name: cart, weight: 3, http: {path: /%[1]s}}
  - {name: token, target: identity, http: {path: /%[1]s}}
steps: [{name: four, users: 4, requestsPerUser: 40}]
thresholds: [{metric: failureRate, requests: [token], max: 1%%}, {metric: failureRate, requests: [cart], max: 1%%}]
`

// checkOtherTargets sends to two targets that count, of which the other then answers wrongly.
func checkOtherTargets(t *testing.T) judgement {
	ns := cluster.Namespace(t)
	shop, err := cluster.StartCounterNamed(t.Context(), ns, "", "shop")
	must.Succeed(t, err)
	identity, err := cluster.StartCounterNamed(t.Context(), ns, "", "identity")
	must.Succeed(t, err)
	var tests []*v1beta1.LoadTest
	var found [2]string
	for i, mode := range []string{"ok", "wrong"} {
		must.Succeed(t, identity.Behave(t.Context(), mode))
		lt := cluster.Create(t, ns, "with-"+mode, fmt.Sprintf(twoTargetsSpec, "with-"+mode))
		cluster.Finish(t, lt)
		tests = append(tests, lt)
		found[i] = fmt.Sprintf("%s with %d at shop and %d at identity%s", lt.Status.Verdict, cluster.Received(t, shop, lt.Name), cluster.Received(t, identity, lt.Name), partsOf(lt))
		t.Log(cluster.Condition(lt, v1beta1.ConditionFinished).Message)
	}
	return agree(
		"Passed with 120 at shop and 40 at identity, cart 0 of 120 failed, token 0 of 40 failed; "+
			"Failed with 120 at shop and 40 at identity, cart 0 of 120 failed, token 40 of 40 failed",
		found[0]+"; "+found[1], tests...)
}

// partsOf is what the only step says of each request.
func partsOf(lt *v1beta1.LoadTest) (parts string) {
	if result := lt.Status.Steps[0].Result; result != nil {
		for _, r := range result.Requests {
			parts += fmt.Sprintf(", %s %d of %d failed", r.Name, r.Failed, r.Sent)
		}
	}
	return parts
}
