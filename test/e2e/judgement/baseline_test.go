//go:build e2e

package judgement

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

// baselineSpec has six users wait for a target that takes a known time for each
// response, five times. They ask again when it has come, and have no schedule. Without a verdict
// are runs whose generator keeps users for more than 1% of their time: here for 17 ms a request.
const baselineSpec = `
target: {service: {name: counter}, timeout: 5s}
requests: [{name: wait, http: {path: "/%s?delay=%s"}}]
steps: [{name: six, users: 6, duration: 7s}]
repetitions: 5
worker: {resources: {requests: {cpu: 400m}}}
`

const comparedSpec = baselineSpec + `
baseline: {name: before}
thresholds: [{metric: p50, maxIncrease: 40%%}, {metric: goodput, maxDecrease: 30%%}]
`

// checkBaseline compares a target with itself, and with one that takes twice as long. All
// three runs are created at once: those that are compared wait for the first.
func checkBaseline(t *testing.T) judgement {
	ns := cluster.Namespace(t)
	cluster.CounterOf(t, ns)
	same := cluster.Create(t, ns, "same", fmt.Sprintf(comparedSpec, "same", "1700ms"))
	slower := cluster.Create(t, ns, "slower", fmt.Sprintf(comparedSpec, "slower", "3400ms"))
	before := cluster.Create(t, ns, "before", fmt.Sprintf(baselineSpec, "before", "1700ms"))
	for _, lt := range []*v1beta1.LoadTest{before, same, slower} {
		cluster.Finish(t, lt)
		t.Logf("%s: %s", lt.Name, cluster.Condition(lt, v1beta1.ConditionFinished).Message)
	}
	return agree(
		"before Passed, same Passed, slower Failed: increase of p50 and decrease of goodput, by their repetitions",
		fmt.Sprintf("before %s, same %s, slower %s: %s", before.Status.Verdict, same.Status.Verdict, slower.Status.Verdict, differences(t, slower)),
		before, same, slower)
}

// differences are the breaches that the repetitions prove, by the names of their thresholds. A
// repetition in which the node was busy is not one of them.
func differences(t *testing.T, lt *v1beta1.LoadTest) string {
	t.Helper()
	var found []string
	for _, threshold := range lt.Status.Thresholds {
		t.Log(threshold.Message)
		if threshold.State == v1beta1.ThresholdFailed && strings.Contains(threshold.Message, " of the baseline, the change is between ") {
			found = append(found, threshold.Name)
		}
	}
	return strings.Join(found, " and ") + ", by their repetitions"
}
