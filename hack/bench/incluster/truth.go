package incluster

import (
	"math"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

// trueP99 is the 99th percentile of the response times that the schedule of a test has at a target
// which holds each response for latency, and stood still in some spans. Request i is due i/rate
// after the first one. What is due in a stall is answered latency after its end, and all others
// latency after they were due. That is a lower bound of what clients see: it has no network, and
// no queue in the target after a stall.
//
// It does not depend on what a tool sent: a tool that sends nothing in a stall has the same truth.
func trueP99(t Test, first int64, stalls []groundtruth.Stalled) time.Duration {
	times := make([]time.Duration, t.Due())
	for i := range times {
		due := first + int64(i)*int64(time.Second)/int64(t.Rate)
		times[i] = latency
		for _, s := range stalls {
			if s.From <= due && due < s.To {
				times[i] = latency + time.Duration(s.To-due)
			}
		}
	}
	return p99(times)
}

// heldP99 is the 99th percentile of the times for which the target really held responses, of the
// requests that it answered. A target that got no processor held them longer than it was told.
func heldP99(records []groundtruth.Record) time.Duration {
	var times []time.Duration
	for _, r := range records {
		if r.Answered != 0 {
			times = append(times, time.Duration(r.Answered-r.Received))
		}
	}
	return p99(times)
}

// p99 is the smallest time that is at least as long as 99 % of them; 0 without any.
func p99(times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[int(math.Ceil(0.99*float64(len(times))))-1]
}
