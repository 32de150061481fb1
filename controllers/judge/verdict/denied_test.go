package verdict_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// deny turns n of the requests create into denials that are expected.
func deny(n int64) func(*outcome) {
	return func(o *outcome) {
		r := &o.merged.Requests[0]
		r.ExpectedInWindow -= n
		r.Outcomes[measure.Success] -= n
		r.Outcomes[measure.RateLimited] += n
		for range n {
			r.Failed.Record(10*ms, 10*ms, 10*ms)
		}
		for range r.Sent {
			r.Service.Record(10 * ms)
		}
	}
}

// A limiter that denies everything, as it may: nothing failed, and nothing succeeded.
func TestExpectedDenialsAreNeitherFailuresNorSuccesses(t *testing.T) {
	eight := func(o *outcome) { o.merged.Window = 8 * time.Second }
	ofExpected := atMost("p95", "50ms")
	ofExpected.Of = v1beta1.LatencyOfExpected
	all := sent(2460, 0, deny(2460), punctual(2460, 0, 2460), eight)
	judgeOne(t, map[string]oneStep{
		"no goodput":                  {atLeast("goodput", "50"), all, broken, "0", ""},
		"no items":                    {atLeast("itemsPerSecond", "50"), all, broken, "0", ""},
		"throughput":                  {atLeast("throughput", "50"), all, passed, "307.5", ""},
		"no failure":                  {atMost("failureRate", "0%"), all, passed, "0%", ""},
		"rate-limited":                {atLeast("rateLimitedRate", "100%"), all, passed, "100%", ""},
		"none on time":                {onTime("99%"), all, inconclusive, "", "onTimeRate within 200ms of step burst cannot be judged: every request was denied, as expected."},
		"no time of what is expected": {ofExpected, all, inconclusive, "", "p95 of expected responses of step burst has 0 samples; at least 20 are needed."},
		"left out of what is on time": {onTime("99%", "create"), sent(100, 0, deny(60), punctual(100, 39, 100)), broken, "97.5%", ""},
		"left out of the times of what is expected": {ofExpected, sent(100, 0, deny(60)), passed, "10.007ms", ""},
		"left out of the goodput":                   {atLeast("goodput", "5"), sent(100, 0, deny(60)), broken, "4", ""},
	})
}
