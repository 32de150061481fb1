package verdict_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// unsentOf adds n requests create that were due and not sent, so many of them by the
// generator's fault.
func unsentOf(n, byGenerator int64) func(*outcome) {
	return func(o *outcome) {
		o.merged.Due, o.merged.Unsent, o.merged.UnsentByGenerator = o.merged.Due+n, n, byGenerator
		for i := range o.merged.Requests {
			o.merged.Requests[i].Due = o.merged.Requests[i].Sent
		}
		o.merged.Requests[0].Due += n
	}
}

// undecided adds n requests that had waited for less than their timeout at the end.
func undecided(n int64) func(*outcome) {
	return func(o *outcome) {
		unfinished(n)(o)
		o.merged.Requests[0].Undecided += n
		o.merged.Requests[0].Due += n
		o.merged.Due += n
	}
}

const unsentOnes, noAnswer = "that were due and never sent", "without an answer"

func waited(n int, which string) string {
	return fmt.Sprintf(" It counts %d requests %s, each with the time that it had waited so far.", n, which)
}

func undecidedIn(what string, n int) string {
	return fmt.Sprintf("%s leaves out %d requests that had waited for less than their timeout when the step ended.", what, n)
}

// judgeComplete judges steps that went to their end, of 1,000 requests a second.
func judgeComplete(t *testing.T, edit func(*v1beta1.LoadTestSpec), tests map[string]oneStep) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := spec(tc.threshold)
			edit(s)
			step := paced(10)
			rate := v1beta1.NewDecimal("100")
			step.Load.RatePerUser, step.State = &rate, v1beta1.StepComplete
			got := judge(s, nil, step, tc.measured).Thresholds[0]
			if got.State != tc.state || got.Observed != tc.observed || got.Message != tc.said() {
				t.Errorf("%s, %q: %s\nwant %s, %q: %s", got.State, got.Observed, got.Message, tc.state, tc.observed, tc.said())
			}
		})
	}
}

// What was due and never sent has no response time. The i-th youngest was due at least
// (i - 3√i)/1000 s before the end, so that the 480th had waited for 414 ms.
func TestQuantilesAreOverWhatWasDue(t *testing.T) {
	ofService, ofExpected := atMost("p99.9", "50ms"), atMost("p99.9", "50ms")
	longestExpected := atMost("longest", "50ms")
	longestExpected.Of = v1beta1.LatencyOfExpected
	ofService.Time, ofExpected.Of = v1beta1.ServiceTime, v1beta1.LatencyOfExpected
	service := func(o *outcome) { o.merged.Requests[0].Service = o.merged.Requests[0].Response.Clone() }
	noDue := func(o *outcome) { o.merged.Requests[0].Due, o.merged.Requests[1].Due = 0, 0 }
	unsentFollow := func(o *outcome) {
		o.merged.Due, o.merged.Unsent, o.merged.Requests[1].Due = o.merged.Due+9, o.merged.Unsent+9_000, 60_009
	}
	create := filtered(atMost("p99", "50ms"), []string{"create"}, nil, nil)
	follow := filtered(atMost("p99", "50ms"), []string{"follow"}, nil, nil)
	judgeComplete(t, func(*v1beta1.LoadTestSpec) {}, map[string]oneStep{
		"the target kept them from being sent": {atMost("p99.9", "50ms"), sent(59_460, 0, unsentOf(540, 0)), broken, "414.463ms", waited(540, unsentOnes)},
		"fewer than the quantile leaves":       {atMost("p99", "50ms"), sent(59_460, 0, unsentOf(540, 0)), passed, "10.007ms", ""},
		"they may have waited for little": {atMost("p99", "50ms"), sent(980, 0, unsentOf(20, 0)), inconclusive, "10.007ms",
			"p99 of step burst leaves out the times of 20 requests that were due and never sent."},
		"the generator did": {atMost("p99.9", "50ms"), sent(59_460, 0, unsentOf(540, 540)), inconclusive, "414.463ms",
			"p99.9 is between 10.007ms and 414.463ms in step burst; at most 50ms is allowed. Without the generator's own delay it is 10.007ms."},
		"a maximum is of what was sent": {atMost("longest", "50ms"), sent(59_460, 0, unsentOf(540, 0)), passed, "10.007ms", ""},
		"of the request":                {create, sent(9_000, 60_000, unsentOf(1_000, 0)), broken, "810.495ms", waited(1000, unsentOnes)},
		"of another request":            {follow, sent(9_000, 60_000, unsentOf(1_000, 0)), passed, "20.015ms", ""},
		"of which request is not known": {follow, sent(9_000, 60_000, unsentOf(1_000, 0), noDue), inconclusive, "20.015ms",
			"p99 of follow in step burst leaves out 1000 requests that were never sent, which may be of any name or type."},
		"a service time is of what was sent":       {ofService, sent(59_460, 0, unsentOf(540, 0), service), passed, "10.007ms", ""},
		"an expected response is to what was sent": {ofExpected, sent(59_460, 0, unsentOf(540, 0), service), passed, "10.007ms", ""},
		"of the request and its type": {
			filtered(atMost("p99", "50ms"), []string{"create"}, []string{"Write"}, nil), sent(9_000, 60_000, unsentOf(1_000, 0), unsentFollow), broken, "810.495ms",
			waited(1000, unsentOnes),
		},
		"of all, and of which is not known": {atMost("p99.9", "50ms"), sent(59_460, 0, unsentOf(540, 0), noDue), broken, "414.463ms", waited(540, unsentOnes)},
		"the generator did, of some": {atMost("p99", "50ms"), sent(980, 0, unsentOf(20, 10)), inconclusive, "10.007ms",
			"p99 of step burst leaves out the times of 20 requests that were due and never sent."},
		"a service time without an answer":                   {ofService, sent(1_980, 0, unfinished(20), service), broken, "30.015487s", waited(20, noAnswer)},
		"without an answer, where none of those is expected": {longestExpected, sent(1_980, 0, unfinished(20)), passed, "10.007ms", ""},
		"the generator did, of half": {
			atMost("p99.9", "50ms"), sent(59_460, 0, unsentOf(540, 270)), broken, "414.463ms",
			"p99.9 is 414.463ms in step burst (166.527ms without the generator's own delay); at most 50ms is allowed. It counts 540 requests that were due and never sent, each with the time that it had waited so far.",
		},
		"one was never sent": {atMost("p99", "50ms"), sent(99, 0, slow(1, time.Second), unsentOf(1, 0)), inconclusive, "10.007ms",
			"p99 of step burst leaves out the times of 1 requests that were due and never sent."},
		"one was never sent, of which is not known": {create, sent(99, 0, slow(1, time.Second), unsentOf(1, 0), noDue), inconclusive, "10.007ms",
			"p99 of create in step burst leaves out 1 requests that were never sent, which may be of any name or type."},
		"one more than were sent in time": {atMost("p50", "5ms"), sent(2, 0, unsentOf(1, 0)), broken, "10.007ms", waited(1, unsentOnes)},
		"half of them, which may have waited for nothing": {atMost("p50", "5ms"), sent(3, 0, unsentOf(3, 0)), inconclusive, "0us",
			"p50 of step burst leaves out the times of 3 requests that were due and never sent."},
		"without an answer and never sent": {atMost("p99", "50ms"), sent(900, 0, unfinished(50), unsentOf(50, 0)), broken, "30.015487s",
			" It counts 50 requests that were due and never sent, and 50 requests without an answer, each with the time that it had waited so far."},
		"one without an answer": {atMost("longest", "50ms"), sent(99, 0, unfinished(1)), broken, "30.015487s", waited(1, noAnswer)},
		"one without an answer, for no longer than is allowed": {atMost("longest", "40s"), sent(99, 0, unfinished(1)), inconclusive, "30.015487s",
			"longest of step burst leaves out the times of 1 requests that had no answer."},
		"one without an answer, and an undecided one": {atMost("longest", "40s"), sent(98, 0, unfinished(1), undecided(1)), inconclusive, "30.015487s",
			undecidedIn("longest of step burst", 1)},
		"without an answer": {atMost("p99", "50ms"), sent(980, 0, unfinished(20)), broken, "30.015487s", waited(20, noAnswer)},
	})
}

// allPunctual has each success on time.
func allPunctual(o *outcome) {
	for i := range o.merged.Requests {
		r := &o.merged.Requests[i]
		r.Punctuality = measure.Punctuality{Due: r.Sent, OnTime: []int64{r.Successes()}, Overdue: []int64{r.Sent}}
	}
	o.merged.Due = o.merged.Requests[0].Due + o.merged.Requests[1].Due
}

// All of a burst is due at its beginning, and users without a rate have no schedule.
func TestUnsentRequestsOfLoadsWithoutARate(t *testing.T) {
	for want, load := range map[string]v1beta1.StepLoad{"10.002431s": {Users: 10, RequestsPerUser: 100, Requests: 1000}, "10.007ms": {Users: 10}} {
		step := v1beta1.StepStatus{Name: "burst", State: v1beta1.StepComplete, Load: load}
		if got := judge(spec(atMost("p95", "50ms")), nil, step, sent(948, 0, unsentOf(52, 0))).Thresholds[0]; got.Observed != want {
			t.Errorf("%+v: %s, want %s: %s", load, got.Observed, want, got.Message)
		}
	}
}

// A request that has waited for less than its timeout when the step ends is neither failed
// nor answered.
func TestUndecidedRequests(t *testing.T) {
	onTime, service := onTime("99%", "create"), atMost("p50", "50ms")
	service.Time = v1beta1.ServiceTime
	judgeComplete(t, func(*v1beta1.LoadTestSpec) {}, map[string]oneStep{
		"failed or not":              {atMost("failureRate", "1%"), sent(980, 0, undecided(20)), inconclusive, "0%", undecidedIn("failureRate of step burst", 20)},
		"failed enough without them": {atMost("failureRate", "1%"), sent(980, 0, failed(20), undecided(20)), broken, "2%", ""},
		"too few":                    {atMost("failureRate", "1%"), sent(990, 0, undecided(10)), passed, "0%", ""},
		"a minimum of failures": {atLeast("failureRate", "1%"), sent(980, 0, undecided(20)), inconclusive, "0%",
			undecidedIn("failureRate is between 0% and 2% in step burst; at least 1% is required. failureRate of step burst", 20)},
		"denied or not":        {atMost("rateLimitedRate", "1%"), sent(980, 0, undecided(20)), inconclusive, "0%", undecidedIn("rateLimitedRate of step burst", 20)},
		"a minimum of denials": {atLeast("rateLimitedRate", "3%"), sent(980, 0, undecided(20)), broken, "0%", ""},
		"a maximum on time": {onRequest(noMoreOnTime("99%"), "create"), sent(980, 0, undecided(20), allPunctual), inconclusive, "98%",
			"onTimeRate within 200ms of create in step burst leaves undecided 20 requests that had waited for less than their timeout when the step ended."},
		"a service time that they might have mended": {service, sent(490, 0, slow(500, time.Second), undecided(20), served), inconclusive, "1.000447s",
			undecidedIn("p50 service time is between 10.007ms and 1.000447s in step burst; at most 50ms is allowed. p50 service time of step burst", 20)},
		"the only other one": {atMost("mean", "50ms"), sent(0, 0, slow(1, 60*ms), undecided(1)), inconclusive, "60.016ms",
			undecidedIn("mean is between 30.008ms and 60.016ms in step burst; at most 50ms is allowed. mean of step burst", 1)},
		"with the generator's delay": {atMost("p50", "50ms"), sent(490, 0, slow(520, time.Second), tooLate(510, 100*ms), undecided(20)), inconclusive, "1.000447s",
			undecidedIn("p50 is between 10.007ms and 1.000447s in step burst; at most 50ms is allowed. p50 of step burst", 20)},
		"on time or not": {
			onTime, sent(980, 0, undecided(20), allPunctual), inconclusive, "98%",
			"onTimeRate within 200ms of create is between 98% and 100% in step burst; at least 99% is required. onTimeRate within 200ms of create in step burst leaves undecided 20 requests that had waited for less than their timeout when the step ended.",
		},
		"long or not": {atMost("p99", "50ms"), sent(980, 0, undecided(20)), inconclusive, "10.007ms", undecidedIn("p99 of step burst", 20)},
		"a breach that they might have mended": {atMost("p50", "50ms"), sent(490, 0, slow(500, time.Second), undecided(20)), inconclusive, "1.000447s",
			undecidedIn("p50 is between 10.007ms and 1.000447s in step burst; at most 50ms is allowed. p50 of step burst", 20)},
	})
}

// With a timeout that is longer than the drain, they had waited for the whole drain: they may
// be answered yet, and not soon.
func TestUndecidedRequestsAreSlow(t *testing.T) {
	minute := func(s *v1beta1.LoadTestSpec) { s.Requests[0].Timeout = &metav1.Duration{Duration: time.Minute} }
	stood := func(o *outcome) { o.merged.Health.Stalled = time.Second }
	soon := func(within time.Duration) v1beta1.Threshold {
		t := onTime("99%", "create")
		t.Within = &metav1.Duration{Duration: within}
		return t
	}
	judgeComplete(t, minute, map[string]oneStep{
		"failed or not":        {atMost("failureRate", "1%"), sent(980, 0, undecided(20)), inconclusive, "0%", undecidedIn("failureRate of step burst", 20)},
		"long":                 {atMost("p99", "50ms"), sent(980, 0, undecided(20)), broken, "30.015487s", waited(20, noAnswer)},
		"a worker stood still": {atMost("p99", "50ms"), sent(980, 0, undecided(20), stood), inconclusive, "10.007ms", undecidedIn("p99 of step burst", 20)},
		"not on time":          {soon(30 * time.Second), sent(980, 0, undecided(20), allPunctual), broken, "98%", ""},
		"perhaps on time": {
			soon(31 * time.Second), sent(980, 0, undecided(20), allPunctual), inconclusive, "98%",
			"onTimeRate within 31s of create is between 98% and 100% in step burst; at least 99% is required. onTimeRate within 31s of create in step burst leaves undecided 20 requests that had waited for less than their timeout when the step ended.",
		},
	})
	// The timeout of a request that is not sent, or not meant, is not theirs.
	for weight, threshold := range map[int32]v1beta1.Threshold{0: atMost("p99", "50ms"), 1: onRequest(atMost("p99", "50ms"), "create")} {
		s, step := spec(threshold), paced(10)
		s.Requests[1].Timeout, s.Requests[1].Weight, step.State = &metav1.Duration{Duration: time.Minute}, &weight, v1beta1.StepComplete
		if got := judge(s, nil, step, sent(980, 0, undecided(20))).Thresholds[0]; got.State != inconclusive {
			t.Errorf("follow has weight %d: %s: %s", weight, got.State, got.Message)
		}
	}
}
