package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/verdict"
	"github.com/loadtest-dev/loadtest-operator/loadworker/measure"
)

const ms = time.Millisecond

func ptr[T any](v T) *T { return &v }

func atMost(metric v1alpha1.Metric, limit string) v1alpha1.Threshold {
	return v1alpha1.Threshold{Metric: metric, Max: &limit}
}

func atLeast(metric v1alpha1.Metric, limit string) v1alpha1.Threshold {
	return v1alpha1.Threshold{Metric: metric, Min: &limit}
}

// spec has the requests create and follow.
func spec(thresholds ...v1alpha1.Threshold) *v1alpha1.LoadTestSpec {
	return &v1alpha1.LoadTestSpec{
		Requests:   []v1alpha1.Request{{Name: "create"}, {Name: "follow"}},
		Thresholds: thresholds,
	}
}

func users(n int32) plan.Step { return plan.Step{Name: "burst", Users: n, Duration: 30 * time.Second} }

var (
	burst    = users(1000)
	arrivals = plan.Step{Name: "steady", RateMicros: 5_000_000, Duration: 3 * time.Second}
	pause    = plan.Step{Name: "rest", Pause: time.Second}
)

// outcome is a measured step and what the status says of it.
type outcome struct {
	merged *measure.Step
	result *v1alpha1.StepResult
}

// sent is a step of 10 s in which create and follow were sent that many
// requests, all answered as expected in 10 ms, and in 20 ms.
func sent(create, follow int64, edits ...func(*outcome)) outcome {
	o := outcome{merged: measure.NewStep(2), result: &v1alpha1.StepResult{
		Generator: &v1alpha1.GeneratorStatus{Healthy: true},
		RateLimit: &v1alpha1.RateLimitStatus{},
	}}
	for i, n := range []int64{create, follow} {
		r := &o.merged.Requests[i]
		r.Sent, r.Expected, r.CompletedInWindow, r.ExpectedInWindow = n, n, n, n
		r.Outcomes[measure.Success] = n
		for range n {
			r.Response.Record(time.Duration(i+1) * 10 * ms)
		}
	}
	o.merged.Due = create + follow
	o.merged.Window = 10 * time.Second
	for _, edit := range edits {
		edit(&o)
	}
	return o
}

// failed turns n of the requests create into server errors.
func failed(n int64) func(*outcome) {
	return func(o *outcome) {
		r := &o.merged.Requests[0]
		r.Expected -= n
		r.ExpectedInWindow -= n
		r.Outcomes[measure.Success] -= n
		r.Outcomes[measure.ServerError] += n
	}
}

// unfinished adds n requests without an answer.
func unfinished(n int64) func(*outcome) {
	return func(o *outcome) {
		o.merged.Requests[0].Sent += n
		o.merged.Requests[0].Outcomes[measure.Unfinished] += n
	}
}

func slow(n int64, latency time.Duration) func(*outcome) {
	return func(o *outcome) {
		for range n {
			o.merged.Requests[0].Response.Record(latency)
		}
		o.merged.Requests[0].Sent += n
		o.merged.Requests[0].Expected += n
		o.merged.Requests[0].Outcomes[measure.Success] += n
	}
}

func sick(o *outcome) { o.result.Generator.Healthy = false }

// exhausted is a generator that could not open connections.
func exhausted(descriptors, ports int64) func(*outcome) {
	return func(o *outcome) {
		o.result.Generator = &v1alpha1.GeneratorStatus{DescriptorsExhausted: descriptors, PortsExhausted: ports}
	}
}

func audited(over, falsely, untracked int64) func(*outcome) {
	return func(o *outcome) {
		o.result.RateLimit = &v1alpha1.RateLimitStatus{OverLimitGrants: over, FalseDenials: falsely, Untracked: untracked}
	}
}

func TestJudgeOneStep(t *testing.T) {
	const (
		passed       = v1alpha1.ThresholdPassed
		broken       = v1alpha1.ThresholdFailed
		inconclusive = v1alpha1.ThresholdInconclusive
	)
	tests := map[string]struct {
		threshold v1alpha1.Threshold
		measured  outcome
		state     v1alpha1.ThresholdState
		observed  string
		message   string
	}{
		// Latency.
		"quantile kept": {
			atMost("p95", "500ms"), sent(50, 50), passed, "20.015ms",
			"p95 is 20.015ms in step burst; at most 500ms is allowed.",
		},
		"quantile breached": {
			atMost("p95", "20ms"), sent(50, 50), broken, "20.015ms",
			"p95 is 20.015ms in step burst; at most 20ms is allowed.",
		},
		"quantile of one request": {
			v1alpha1.Threshold{Metric: "p50", Requests: []string{"create"}, Max: ptr("0.5s")}, sent(50, 50), passed, "10.007ms",
			"p50 of create is 10.007ms in step burst; at most 0.5s is allowed.",
		},
		"quantile with too few samples": {
			atMost("p99", "500ms"), sent(20, 10), inconclusive, "",
			"p99 of step burst has 30 samples; at least 100 are needed.",
		},
		"quantile of one request with too few samples": {
			v1alpha1.Threshold{Metric: "p99", Requests: []string{"follow"}, Max: ptr("500ms")}, sent(100, 99), inconclusive, "",
			"p99 of follow in step burst has 99 samples; at least 100 are needed.",
		},
		"median needs two":           {atMost("p50", "1s"), sent(1, 0), inconclusive, "", "p50 of step burst has 1 samples; at least 2 are needed."},
		"p99.9 needs a thousand":     {atMost("p99.9", "1s"), sent(999, 0), inconclusive, "", "p99.9 of step burst has 999 samples; at least 1000 are needed."},
		"p99.9 has a thousand":       {atMost("p99.9", "1s"), sent(1000, 0), passed, "10.007ms", "p99.9 is 10.007ms in step burst; at most 1s is allowed."},
		"p99.99 needs ten thousand":  {atMost("p99.99", "1s"), sent(9999, 0), inconclusive, "", "p99.99 of step burst has 9999 samples; at least 10000 are needed."},
		"p99.99 has ten thousand":    {atMost("p99.99", "1s"), sent(10000, 0), passed, "10.007ms", "p99.99 is 10.007ms in step burst; at most 1s is allowed."},
		"maximum needs one":          {atMost("max", "10ms"), sent(1, 0), broken, "10.007ms", "max is 10.007ms in step burst; at most 10ms is allowed."},
		"mean":                       {atMost("mean", "15ms"), sent(50, 50), broken, "15.006ms", "mean is 15.006ms in step burst; at most 15ms is allowed."},
		"seconds":                    {atMost("max", "1s"), sent(1, 0, slow(1, 2500*ms)), broken, "2.500607s", "max is 2.500607s in step burst; at most 1s is allowed."},
		"microseconds":               {atMost("p50", "500us"), sent(0, 0, slow(2, 697*time.Microsecond)), broken, "697us", "p50 is 697us in step burst; at most 500us is allowed."},
		"a target may be too fast":   {atLeast("p50", "1s"), sent(5, 0), broken, "10.007ms", "p50 is 10.007ms in step burst; at least 1s is required."},
		"equal to the bound is kept": {atMost("p50", "10.007ms"), sent(5, 0), passed, "10.007ms", "p50 is 10.007ms in step burst; at most 10.007ms is allowed."},

		// What has no response time must not make the target look fast.
		"unanswered requests beyond the quantile": {
			atMost("p95", "500ms"), sent(1000, 0, unfinished(50)), passed, "10.007ms",
			"p95 is 10.007ms in step burst; at most 500ms is allowed.",
		},
		"unanswered requests up to the quantile": {
			atMost("p95", "500ms"), sent(1000, 0, unfinished(53)), inconclusive, "10.007ms",
			"p95 of step burst leaves out 53 requests that had no answer when the step was cut.",
		},
		"unanswered requests that shift the quantile over the bound": {
			atMost("p90", "500ms"), sent(950, 0, slow(50, time.Second), unfinished(60)), inconclusive, "10.007ms",
			"p90 of step burst leaves out 60 requests that had no answer when the step was cut.",
		},
		"unanswered requests that shift the quantile to the maximum": {
			atMost("p90", "500ms"), sent(899, 0, slow(1, time.Second), unfinished(100)), inconclusive, "10.007ms",
			"p90 of step burst leaves out 100 requests that had no answer when the step was cut.",
		},
		"unanswered requests and a maximum": {
			atMost("max", "500ms"), sent(9, 0, unfinished(1)), inconclusive, "10.007ms",
			"max of step burst leaves out 1 requests that had no answer when the step was cut.",
		},
		"unanswered requests and a breach all the same": {
			atMost("p50", "5ms"), sent(9, 0, unfinished(1)), broken, "10.007ms",
			"p50 is 10.007ms in step burst; at most 5ms is allowed.",
		},
		"nothing was answered": {
			atMost("max", "500ms"), sent(0, 0, unfinished(4)), inconclusive, "",
			"max of step burst has 0 samples; at least 1 are needed.",
		},

		// Shares.
		"failure rate kept": {
			atMost("failureRate", "1%"), sent(100, 900, failed(10)), passed, "1%",
			"failureRate is 1% in step burst; at most 1% is allowed.",
		},
		"failure rate breached": {
			atMost("failureRate", "1%"), sent(100, 900, failed(11)), broken, "1.1%",
			"failureRate is 1.1% in step burst; at most 1% is allowed.",
		},
		"a breach by a hair does not read as kept": {
			atMost("failureRate", "1%"), sent(99_999, 0, failed(1000)), broken, "1.01%",
			"failureRate is 1.01% in step burst; at most 1% is allowed.",
		},
		"as many digits as the bound has": {
			atMost("failureRate", "0.001%"), sent(100_000, 0, failed(1)), passed, "0.001%",
			"failureRate is 0.001% in step burst; at most 0.001% is allowed.",
		},
		"failure rate of one request": {
			v1alpha1.Threshold{Metric: "failureRate", Requests: []string{"create", "follow"}, Max: ptr("0%")}, sent(9, 1, failed(1)), broken, "10%",
			"failureRate of create, follow is 10% in step burst; at most 0% is allowed.",
		},
		"failure rate of the request that does not fail": {
			v1alpha1.Threshold{Metric: "failureRate", Requests: []string{"follow"}, Max: ptr("0%")}, sent(9, 1, failed(9)), passed, "0%",
			"failureRate of follow is 0% in step burst; at most 0% is allowed.",
		},
		"rate-limited rate": {
			atLeast("rateLimitedRate", "50%"), sent(3, 0, func(o *outcome) {
				o.merged.Requests[0].Outcomes[measure.Success]--
				o.merged.Requests[0].Outcomes[measure.RateLimited]++
			}), broken, "33.33%",
			"rateLimitedRate is 33.33% in step burst; at least 50% is required.",
		},
		"unsent rate": {
			atMost("unsentRate", "0%"), sent(64, 0, func(o *outcome) { o.merged.Due, o.merged.Unsent = 100, 36 }), broken, "36%",
			"unsentRate is 36% in step burst; at most 0% is allowed.",
		},
		"unsent rate of no schedule": {
			atMost("unsentRate", "0%"), sent(64, 0, func(o *outcome) { o.merged.Due = 0 }), inconclusive, "",
			"unsentRate of step burst cannot be judged: no request was due.",
		},

		// Rates.
		"throughput kept":  {atLeast("throughput", "10"), sent(50, 50, failed(50)), passed, "10", "throughput is 10 in step burst; at least 10 is required."},
		"goodput breached": {atLeast("goodput", "10"), sent(50, 50, failed(1)), broken, "9.9", "goodput is 9.9 in step burst; at least 10 is required."},
		"goodput breached by a hair": {
			atLeast("goodput", "10"), sent(100, 0, func(o *outcome) { o.merged.Window += ms }), broken, "9.9",
			"goodput is 9.9 in step burst; at least 10 is required.",
		},
		"goodput of one request": {
			v1alpha1.Threshold{Metric: "goodput", Requests: []string{"follow"}, Min: ptr("5.00")}, sent(50, 50), passed, "5",
			"goodput of follow is 5 in step burst; at least 5.00 is required.",
		},
		"items are goodput where each request carries one": {
			atLeast("itemRate", "10"), sent(50, 50, failed(1)), broken, "9.9",
			"itemRate is 9.9 in step burst; at least 10 is required.",
		},
		"too few items by the generator's fault": {
			atLeast("itemRate", "1000"), sent(50, 50, sick), inconclusive, "10",
			"itemRate is 10 in step burst; at least 1000 is required, but the generator was the limit, not the target.",
		},
		"a burst without any answer has no goodput": {
			atLeast("goodput", "1"), sent(0, 0, unfinished(5), func(o *outcome) { o.merged.Window = 0 }), broken, "0",
			"goodput is 0 in step burst; at least 1 is required.",
		},
		"answers without a window": {
			atLeast("goodput", "1"), sent(5, 0, func(o *outcome) { o.merged.Window = 0 }), inconclusive, "",
			"goodput of step burst cannot be judged: the step has no window.",
		},

		// The rate-limit audit.
		"grants over the limit": {
			atMost("overLimitGrants", "0"), sent(200, 0, audited(150, 0, 0)), broken, "150",
			"overLimitGrants is 150 in step burst; at most 0 is allowed.",
		},
		"false denials kept": {
			atMost("falseDenials", "2"), sent(30, 0, audited(0, 2, 0)), passed, "2",
			"falseDenials is 2 in step burst; at most 2 is allowed.",
		},
		"clients not tracked": {
			atMost("overLimitGrants", "0"), sent(30, 0, audited(0, 0, 12)), inconclusive, "0",
			"overLimitGrants of step burst leaves out 12 requests of clients that were not tracked.",
		},
		"clients not tracked, and breached all the same": {
			atMost("falseDenials", "0"), sent(30, 0, audited(0, 1, 12)), broken, "1",
			"falseDenials is 1 in step burst; at most 0 is allowed.",
		},
		"no contract": {
			atMost("falseDenials", "0"), sent(30, 0, func(o *outcome) { o.result.RateLimit = nil }), inconclusive, "",
			"falseDenials of step burst cannot be judged: spec.rateLimit is not set.",
		},

		// The generator was the limit.
		"late by the generator's fault": {
			atMost("p95", "5ms"), sent(50, 50, sick), inconclusive, "20.015ms",
			"p95 is 20.015ms in step burst; at most 5ms is allowed, but the generator was the limit, not the target.",
		},
		"unsent by the generator's fault": {
			atMost("unsentRate", "0%"), sent(64, 0, sick, func(o *outcome) { o.merged.Due, o.merged.Unsent = 100, 36 }), inconclusive, "36%",
			"unsentRate is 36% in step burst; at most 0% is allowed, but the generator was the limit, not the target.",
		},
		"few by the generator's fault": {
			atLeast("goodput", "1000"), sent(50, 50, sick), inconclusive, "10",
			"goodput is 10 in step burst; at least 1000 is required, but the generator was the limit, not the target.",
		},
		"throughput too": {
			atLeast("throughput", "1000"), sent(50, 50, sick), inconclusive, "10",
			"throughput is 10 in step burst; at least 1000 is required, but the generator was the limit, not the target.",
		},
		"fast although the generator was late": {
			atMost("p95", "50ms"), sent(50, 50, sick), passed, "20.015ms",
			"p95 is 20.015ms in step burst; at most 50ms is allowed.",
		},
		"failures are the target's": {
			atMost("failureRate", "0%"), sent(50, 50, sick, failed(1)), broken, "1%",
			"failureRate is 1% in step burst; at most 0% is allowed.",
		},
		"denials are the target's": {
			atLeast("rateLimitedRate", "1%"), sent(50, 50, sick), broken, "0%",
			"rateLimitedRate is 0% in step burst; at least 1% is required.",
		},
		"grants over the limit are the target's": {
			atMost("overLimitGrants", "0"), sent(50, 50, sick, audited(10, 0, 0)), broken, "10",
			"overLimitGrants is 10 in step burst; at most 0 is allowed.",
		},
		"failures for want of descriptors are the generator's": {
			atMost("failureRate", "0%"), sent(50, 50, exhausted(1, 0), failed(1)), inconclusive, "1%",
			"failureRate is 1% in step burst; at most 0% is allowed, but the generator was the limit, not the target.",
		},
		"failures for want of ports too": {
			atMost("failureRate", "0%"), sent(50, 50, exhausted(0, 1), failed(1)), inconclusive, "1%",
			"failureRate is 1% in step burst; at most 0% is allowed, but the generator was the limit, not the target.",
		},
		"what could not be sent was not denied": {
			atLeast("rateLimitedRate", "1%"), sent(50, 50, exhausted(1, 0)), inconclusive, "0%",
			"rateLimitedRate is 0% in step burst; at least 1% is required, but the generator was the limit, not the target.",
		},
		"grants are the target's, whatever could not be sent": {
			atMost("overLimitGrants", "0"), sent(50, 50, exhausted(1, 1), audited(10, 0, 0)), broken, "10",
			"overLimitGrants is 10 in step burst; at most 0 is allowed.",
		},
		"false denials are the target's": {
			atMost("falseDenials", "0"), sent(50, 50, sick, audited(0, 3, 0)), broken, "3",
			"falseDenials is 3 in step burst; at most 0 is allowed.",
		},

		// Nothing to judge.
		"nothing was sent": {
			atMost("failureRate", "0%"), sent(0, 0), inconclusive, "",
			"failureRate of step burst cannot be judged: no request was sent.",
		},
		"nothing of one request was sent": {
			v1alpha1.Threshold{Metric: "p95", Requests: []string{"follow"}, Max: ptr("1s")}, sent(100, 0), inconclusive, "",
			"p95 of follow in step burst cannot be judged: no request was sent.",
		},
		"nothing was measured": {
			atMost("p95", "1s"), outcome{}, inconclusive, "",
			"p95 of step burst cannot be judged: no request was sent.",
		},
		"a bound that does not fit the metric": {
			atMost("p95", "1%"), sent(100, 0), inconclusive, "",
			`The bound of p95 cannot be read: "1%" is not a duration such as 500ms.`,
		},
		"no bound": {
			v1alpha1.Threshold{Metric: "failureRate"}, sent(100, 0), inconclusive, "",
			"The bound of failureRate cannot be read: exactly one of max and min must be set.",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			judged := verdict.Judge(spec(tc.threshold), nil, burst, tc.measured.merged, tc.measured.result)
			got, stop := judged.Thresholds, judged.Stop
			want := v1alpha1.ThresholdStatus{Name: string(tc.threshold.Metric), State: tc.state, Step: "burst", Observed: tc.observed, Message: tc.message}
			if tc.threshold.Max != nil {
				want.Limit = *tc.threshold.Max
			} else if tc.threshold.Min != nil {
				want.Limit = *tc.threshold.Min
			}
			if diff := cmp.Diff([]v1alpha1.ThresholdStatus{want}, got); diff != "" {
				t.Errorf("thresholds (-want +got):\n%s", diff)
			}
			if stop {
				t.Error("a threshold that continues stops the run")
			}
		})
	}
}

// Of 10 s, 40 requests create with 25 items each and 60 requests follow.
func TestItemsAreThoseOfTheRequestsThatAreNamed(t *testing.T) {
	tests := map[string]struct {
		requests []string
		want     string
	}{
		"all":    {nil, "106"},
		"create": {[]string{"create"}, "100"},
		"follow": {[]string{"follow"}, "6"},
		"both":   {[]string{"create", "follow"}, "106"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			threshold := atLeast("itemRate", "1")
			threshold.Requests = tc.requests
			s := spec(threshold)
			s.Requests[0].Items = 25
			o := sent(40, 60)
			got := verdict.Judge(s, nil, burst, o.merged, o.result).Thresholds
			if got[0].Observed != tc.want || got[0].State != v1alpha1.ThresholdPassed {
				t.Errorf("%s with %s observed, want Passed with %s", got[0].State, got[0].Observed, tc.want)
			}
		})
	}
}

func TestWhichStepsAreJudged(t *testing.T) {
	upTo := atMost("failureRate", "0%")
	upTo.Name, upTo.UpTo = "small", ptr(int32(1000))
	tests := map[string]struct {
		step plan.Step
		want v1alpha1.ThresholdState
	}{
		"fewer users": {users(10), v1alpha1.ThresholdPassed},
		"as many":     {users(1000), v1alpha1.ThresholdPassed},
		"more users":  {users(1001), v1alpha1.ThresholdPending},
		"arrivals":    {arrivals, v1alpha1.ThresholdPassed},
		"a pause":     {pause, v1alpha1.ThresholdPending},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := sent(10, 0)
			got := verdict.Judge(spec(upTo), nil, tc.step, o.merged, o.result).Thresholds
			if got[0].State != tc.want {
				t.Errorf("state %s, want %s", got[0].State, tc.want)
			}
			if got[0].Name != "small" || got[0].Limit != "0%" {
				t.Errorf("name %q and limit %q, want small and 0%%", got[0].Name, got[0].Limit)
			}
		})
	}
}

func TestTheWorstStepCounts(t *testing.T) {
	pass := func(latency time.Duration) outcome { return sent(0, 0, slow(100, latency)) }
	few := sent(1, 0)
	tests := map[string]struct {
		threshold v1alpha1.Threshold
		steps     []outcome
		state     v1alpha1.ThresholdState
		step      string
	}{
		"the first breach":                    {atMost("p95", "1s"), []outcome{pass(ms), pass(2 * time.Second), pass(3 * time.Second)}, v1alpha1.ThresholdFailed, "1"},
		"a breach over a doubt":               {atMost("p95", "1s"), []outcome{few, pass(2 * time.Second), few}, v1alpha1.ThresholdFailed, "1"},
		"a doubt over a pass":                 {atMost("p95", "1s"), []outcome{pass(ms), few, pass(ms)}, v1alpha1.ThresholdInconclusive, "1"},
		"the first doubt":                     {atMost("p95", "1s"), []outcome{few, few}, v1alpha1.ThresholdInconclusive, "0"},
		"the narrowest pass below a maximum":  {atMost("p95", "1s"), []outcome{pass(9 * ms), pass(120 * ms), pass(30 * ms)}, v1alpha1.ThresholdPassed, "1"},
		"units do not matter":                 {atMost("p95", "5s"), []outcome{pass(900 * time.Microsecond), pass(2 * time.Second), pass(900 * ms)}, v1alpha1.ThresholdPassed, "1"},
		"the narrowest pass above a minimum":  {atLeast("throughput", "1"), []outcome{sent(100, 0), sent(20, 0), sent(50, 0)}, v1alpha1.ThresholdPassed, "1"},
		"the first of passes that are as far": {atMost("failureRate", "1%"), []outcome{sent(10, 0), sent(10, 0)}, v1alpha1.ThresholdPassed, "0"},
		"the largest share":                   {atMost("failureRate", "50%"), []outcome{sent(10, 0, failed(1)), sent(10, 0, failed(4)), sent(10, 0)}, v1alpha1.ThresholdPassed, "1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []v1alpha1.ThresholdStatus
			for i, o := range tc.steps {
				step := users(10)
				step.Name = string(rune('0' + i))
				before := append([]v1alpha1.ThresholdStatus(nil), got...)
				next := verdict.Judge(spec(tc.threshold), got, step, o.merged, o.result).Thresholds
				if diff := cmp.Diff(before, got); diff != "" {
					t.Errorf("Judge changed its argument (-want +got):\n%s", diff)
				}
				got = next
			}
			if got[0].State != tc.state || got[0].Step != tc.step {
				t.Errorf("%s in step %s, want %s in step %s", got[0].State, got[0].Step, tc.state, tc.step)
			}
			if !strings.Contains(got[0].Message, "step "+tc.step) {
				t.Errorf("message %q is about another step than %s", got[0].Message, tc.step)
			}
		})
	}
}

func TestStop(t *testing.T) {
	stopping := atMost("failureRate", "0%")
	stopping.OnBreach = v1alpha1.BreachStopLadder
	going := atMost("failureRate", "0%")
	ladder := func(stop bool, thresholds ...v1alpha1.Threshold) *v1alpha1.LoadTestSpec {
		s := spec(thresholds...)
		s.Ladder = &v1alpha1.Ladder{StopOnBreach: stop}
		return s
	}
	broken := []v1alpha1.ThresholdStatus{{Name: "failureRate", State: v1alpha1.ThresholdFailed, Step: "0"}}
	tests := map[string]struct {
		spec     *v1alpha1.LoadTestSpec
		previous []v1alpha1.ThresholdStatus
		measured outcome
		want     bool
	}{
		"a breach that stops":               {spec(stopping), nil, sent(10, 0, failed(1)), true},
		"no breach":                         {spec(stopping), nil, sent(10, 0), false},
		"a doubt does not stop":             {spec(stopping), nil, sent(0, 0), false},
		"a breach that goes on":             {spec(going), nil, sent(10, 0, failed(1)), false},
		"a ladder that stops on any breach": {ladder(true, going), nil, sent(10, 0, failed(1)), true},
		"a ladder that goes on":             {ladder(false, going), nil, sent(10, 0, failed(1)), false},
		"one of two stops":                  {spec(going, stopping), nil, sent(10, 0, failed(1)), true},
		"an earlier breach is over":         {spec(stopping), broken, sent(10, 0), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := verdict.Judge(tc.spec, tc.previous, burst, tc.measured.merged, tc.measured.result).Stop; got != tc.want {
				t.Errorf("stop is %t, want %t", got, tc.want)
			}
		})
	}
}

func TestSentencesFitTheAPI(t *testing.T) {
	threshold := atMost("p95", "1s")
	for _, letter := range "abc" {
		threshold.Requests = append(threshold.Requests, strings.Repeat(string(letter), 63))
	}
	s := spec(threshold)
	s.Requests[0].Name = threshold.Requests[0]
	step := users(1)
	step.Name = strings.Repeat("ü", 400)
	o := sent(100, 0)
	got := verdict.Judge(s, nil, step, o.merged, o.result).Thresholds
	if n := len([]rune(got[0].Message)); n != 512 {
		t.Errorf("message has %d characters, want 512", n)
	}
	s.Thresholds[0].Requests = append(s.Thresholds[0].Requests, "d")
	got = verdict.Judge(s, nil, burst, o.merged, o.result).Thresholds
	if want := "p95 of 4 requests is 10.007ms in step burst; at most 1s is allowed."; got[0].Message != want {
		t.Errorf("message %q, want %q", got[0].Message, want)
	}
}

func TestNoThresholds(t *testing.T) {
	o := sent(10, 0)
	got := verdict.Judge(spec(), nil, burst, o.merged, o.result)
	if len(got.Thresholds) != 0 || got.Step != "" || got.Stop {
		t.Errorf("judged as %+v, want nothing", got)
	}
}
