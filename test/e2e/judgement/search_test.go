//go:build e2e

package judgement

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// searchSpec looks for the highest rate of which the limiter denies at most 1%, from one
// client.
const searchSpec = `
target: {service: {name: ratelimiter, port: http}}
requests: [{name: api, http: {path: /api, headers: [{name: X-Forwarded-For, value: 10.7.0.1}]}}]
search: {rate: {min: 60, max: 480}, duration: 2s, rest: 1s, precision: 10%, hold: 2s}
thresholds: [{metric: failureRate, max: 1%}]
`

// A bucket of 10 tokens, full after each rest, to which 100 come back each second, grants
// 209 to 210 requests in the 2 s of a probe. More than 1% of them are denied from a rate
// between leastLimit and mostLimit on: 0.99 x 2 x rate is as many. A longer hold would have
// less of the bucket, and so another limit.
const (
	leastLimit = 209 / 1.98
	mostLimit  = 210 / 1.98
)

// checkSearch looks for a limit that follows from the target's configuration.
func checkSearch(t *testing.T) judgement {
	ns := cluster.Limiter(t, "ratelimiter.capacity=10", "ratelimiter.refillPerSecond=100")
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
