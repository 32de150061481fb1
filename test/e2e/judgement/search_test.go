//go:build e2e

package judgement

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// searchSpec looks for the highest rate of which the target refuses at most 1%. The target
// answers 209 requests of each probe, however fast the machine is: the rest tells it where a probe
// ends.
const searchSpec = `
target: {service: {name: counter}, timeout: 5s}
requests: [{name: api, http: {path: "/search?grants=209"}}]
search: {rate: {min: 60, max: 480}, duration: 2s, rest: 1s, precision: 10%, hold: 2s}
thresholds: [{metric: failureRate, max: 1%}]
worker: {resources: {requests: {cpu: 400m}}}
`

// In the 2 s of a probe, at most 1% of 211 requests are refused, and more of 212.
const (
	leastLimit = 211. / 2
	mostLimit  = 212. / 2
)

// checkSearch looks for a limit that is known.
func checkSearch(t *testing.T) judgement {
	ns := cluster.Namespace(t)
	cluster.CounterOf(t, ns)
	lt := cluster.Create(t, ns, "search", searchSpec)
	cluster.Finish(t, lt)
	s := lt.Status.Search
	t.Logf("%s %d steps, sustained: %v", s.Message, len(lt.Status.Steps), lt.Status.MaxSustainedRate)
	low, high := number(t, s.Low), number(t, s.High)
	within := low <= mostLimit && leastLimit <= high && high <= 1.11*low
	return agree(
		fmt.Sprintf("Passed, Found, an interval of 10%% around %.1f to %.1f/s: true", leastLimit, mostLimit),
		fmt.Sprintf("%s, %s, an interval of 10%% around %.1f to %.1f/s: %t", lt.Status.Verdict, s.State, leastLimit, mostLimit, within), lt)
}

// number is 0 of an empty text.
func number(t *testing.T, s string) float64 {
	t.Helper()
	if s == "" {
		return 0
	}
	n, err := strconv.ParseFloat(s, 64)
	must.Succeed(t, err)
	return n
}
