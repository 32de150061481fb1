package incluster

import (
	"math"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

// trueP99 is the 99th percentile of the response times that the schedule of a test has at the target
// of known truth, which stood still in some spans. Request i is due i/rate after the first one. What
// is due in a stall waits for its end; then, as at any other time, the target holds the request for as
// long as its records say of the requests of that part of the test, which is latency if it has the
// processor. It is a lower bound of what clients see: it has no network, and no time in which a
// request has arrived and is not read.
//
// It does not depend on how many requests a tool sent: one that sends nothing in a stall has the
// same truth.
func trueP99(t Test, first int64, stalls []groundtruth.Stalled, records []groundtruth.Record) time.Duration {
	held := heldTimes(records)
	times := make([]time.Duration, t.Due())
	for i := range times {
		due := first + int64(i)*int64(time.Second)/int64(t.Rate)
		times[i] = held[i*len(held)/len(times)]
		for _, s := range stalls {
			if s.From <= due && due < s.To {
				times[i] += time.Duration(s.To - due)
			}
		}
	}
	return p99(times)
}

// heldTimes are the times for which the target held the requests that it answered, in the order in
// which they came; latency if there is none.
func heldTimes(records []groundtruth.Record) (times []time.Duration) {
	for _, r := range records {
		if r.Answered != 0 {
			times = append(times, time.Duration(r.Answered-r.Received))
		}
	}
	if len(times) == 0 {
		return []time.Duration{latency}
	}
	return times
}

// p99 is the smallest time that is at least as long as 99 % of them; 0 without any.
func p99(times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[int(math.Ceil(0.99*float64(len(times))))-1]
}
