package verdict_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const ms = time.Millisecond

func ptr[T any](v T) *T { return &v }

func atMost(metric v1beta1.Metric, limit string) v1beta1.Threshold {
	return v1beta1.Threshold{Metric: metric, Max: ptr(intstr.Parse(limit))}
}

func atLeast(metric v1beta1.Metric, limit string) v1beta1.Threshold {
	return v1beta1.Threshold{Metric: metric, Min: ptr(intstr.Parse(limit))}
}

// spec has the requests create and follow. That is not in the mix: no step must send it.
func spec(thresholds ...v1beta1.Threshold) *v1beta1.LoadTestSpec {
	return &v1beta1.LoadTestSpec{
		Requests:   []v1beta1.Request{{Name: "create", HTTP: &v1beta1.HTTPRequest{Method: "POST"}}, {Name: "follow", Weight: ptr(int32(0))}},
		Thresholds: thresholds,
	}
}

func users(n int32) v1beta1.StepStatus {
	return v1beta1.StepStatus{Name: "burst", Load: v1beta1.StepLoad{Users: n, Duration: &metav1.Duration{Duration: 30 * time.Second}}}
}

var (
	burst    = users(1000)
	arrivals = v1beta1.StepStatus{Name: "steady", Load: v1beta1.StepLoad{Rate: ptr(v1beta1.NewDecimal("5")), Duration: &metav1.Duration{Duration: 3 * time.Second}}}
	pause    = v1beta1.StepStatus{Name: "rest", Load: v1beta1.StepLoad{Pause: &metav1.Duration{Duration: time.Second}}}
)

// judge folds a step with that outcome into earlier results; nil: there are none of
// the spec's thresholds, and no defaults.
func judge(s *v1beta1.LoadTestSpec, previous []v1beta1.ThresholdStatus, step v1beta1.StepStatus, o outcome) verdict.Judged {
	step.Result = o.result
	if previous == nil {
		previous = verdict.Thresholds(s, plan.RequestNames(s), nil)
	}
	return verdict.Judge(s, &v1beta1.LoadTestStatus{Requests: plan.RequestNames(s), Steps: []v1beta1.StepStatus{step}, Thresholds: previous}, 0, o.merged)
}

// outcome is a measured step and what the status says of it.
type outcome struct {
	merged *measure.Measurement
	result *v1beta1.StepResult
}

// sent is a step of 10 s in which create and follow were sent that many
// requests, all answered as expected in 10 ms, and in 20 ms.
func sent(create, follow int64, edits ...func(*outcome)) outcome {
	o := outcome{merged: measure.NewMeasurement(2), result: &v1beta1.StepResult{
		Generator: &v1beta1.GeneratorStatus{Healthy: true},
		RateLimit: &v1beta1.RateLimitStatus{},
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
	o.merged.Timeline, o.merged.UserTime = &measure.Timeline{}, 10*time.Second
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

// withoutCourse is what workers measured of which one did not report the course of the step.
func withoutCourse(o *outcome) { o.merged.Timeline = nil }

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

// displaced is a load that was not the planned one by the generator's fault.
func displaced(o *outcome) {
	o.result.Generator = &v1beta1.GeneratorStatus{LoadDisplaced: true, Message: "The load was displaced."}
}

// exhausted are failures for want of a descriptor or a port.
func exhausted(descriptors, ports int64) func(*outcome) {
	return func(o *outcome) {
		o.merged.Health.DescriptorsExhausted, o.merged.Health.PortsExhausted = descriptors, ports
		failed(descriptors + ports)(o)
		outcomes := &o.merged.Requests[0].Outcomes
		outcomes[measure.ServerError], outcomes[measure.Other] = 0, descriptors+ports
	}
}

func audited(over, falsely, untracked int64) func(*outcome) {
	return func(o *outcome) {
		o.result.RateLimit = &v1beta1.RateLimitStatus{OverLimitGrants: over, FalseDenials: falsely, Untracked: untracked}
	}
}

func ramp(from int32, to string) v1beta1.StepStatus {
	step := users(from)
	step.Load.RampTo = rateOf(to)
	return step
}

func TestThresholdIsAboutStepsUpToItsUsers(t *testing.T) {
	upToUsers := atMost("failureRate", "0%")
	upToUsers.Name, upToUsers.UpToUsers = "small", ptr(int32(1000))
	tests := map[string]struct {
		step v1beta1.StepStatus
		want v1beta1.ThresholdState
	}{
		"fewer users":            {users(10), v1beta1.ThresholdPassed},
		"as many":                {users(1000), v1beta1.ThresholdPassed},
		"more users":             {users(1001), v1beta1.ThresholdPending},
		"arrivals":               {arrivals, v1beta1.ThresholdPassed},
		"a pause":                {pause, v1beta1.ThresholdPending},
		"a ramp":                 {ramp(10, "1000"), v1beta1.ThresholdPassed},
		"a ramp to more users":   {ramp(10, "1001"), v1beta1.ThresholdPending},
		"a ramp from more users": {ramp(1001, "10"), v1beta1.ThresholdPending},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := sent(10, 0)
			got := judge(spec(upToUsers), nil, tc.step, o).Thresholds
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
		threshold v1beta1.Threshold
		steps     []outcome
		state     v1beta1.ThresholdState
		step      string
	}{
		"the first breach":                    {atMost("p95", "1s"), []outcome{pass(ms), pass(2 * time.Second), pass(3 * time.Second)}, v1beta1.ThresholdFailed, "1"},
		"a breach over a doubt":               {atMost("p95", "1s"), []outcome{few, pass(2 * time.Second), few}, v1beta1.ThresholdFailed, "1"},
		"a doubt over a pass":                 {atMost("p95", "1s"), []outcome{pass(ms), few, pass(ms)}, v1beta1.ThresholdInconclusive, "1"},
		"the first doubt":                     {atMost("p95", "1s"), []outcome{few, few}, v1beta1.ThresholdInconclusive, "0"},
		"the narrowest pass below a maximum":  {atMost("p95", "1s"), []outcome{pass(9 * ms), pass(120 * ms), pass(30 * ms)}, v1beta1.ThresholdPassed, "1"},
		"units do not matter":                 {atMost("p95", "5s"), []outcome{pass(900 * time.Microsecond), pass(2 * time.Second), pass(900 * ms)}, v1beta1.ThresholdPassed, "1"},
		"the narrowest pass above a minimum":  {atLeast("throughput", "1"), []outcome{sent(100, 0), sent(20, 0), sent(50, 0)}, v1beta1.ThresholdPassed, "1"},
		"the first of passes that are as far": {atMost("failureRate", "1%"), []outcome{sent(10, 0), sent(10, 0)}, v1beta1.ThresholdPassed, "0"},
		"the first above a minimum, too":      {atLeast("throughput", "1"), []outcome{sent(10, 0), sent(10, 0)}, v1beta1.ThresholdPassed, "0"},
		"the largest share":                   {atMost("failureRate", "50%"), []outcome{sent(10, 0, failed(1)), sent(10, 0, failed(4)), sent(10, 0)}, v1beta1.ThresholdPassed, "1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []v1beta1.ThresholdStatus
			for i, o := range tc.steps {
				step := users(10)
				step.Name = string(rune('0' + i))
				before := append([]v1beta1.ThresholdStatus(nil), got...)
				next := judge(spec(tc.threshold), got, step, o).Thresholds
				same.As(t, "Judge changed its argument", before, got)
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

func TestTheLatestProbeOfASearchCounts(t *testing.T) {
	s := spec(atMost("failureRate", "1%"))
	status := accepted(s, users(10), users(10))
	status.Search = &v1beta1.SearchStatus{}
	if got := judged(status, s, sent(10, 0, failed(1)), sent(10, 0)).Thresholds[0].State; got != passed {
		t.Errorf("after a probe that kept the threshold it is %s", got)
	}
}

// Another version within a step may be what breached, and what kept. It is said what was measured.
func TestAStepInWhichTheTargetChangedIsInconclusive(t *testing.T) {
	step := burst
	step.Environment = &v1beta1.StepEnvironment{Changes: []v1beta1.EnvironmentChange{{Spoils: v1beta1.SpoiledStep}}}
	for _, limit := range []string{"15ms", "25ms"} {
		got := judge(spec(atMost("p95", limit)), nil, step, sent(100, 900)).Thresholds[0]
		want := "p95 is 20.015ms in step burst; at most " + limit + " is allowed, but the target was changed during the step."
		if got.State != inconclusive || got.Message != want {
			t.Errorf("%s: %s", got.State, got.Message)
		}
	}
	if got := judge(spec(atMost("p95", "15ms")), nil, step, sent(100, 900, displaced)).Thresholds[0]; got.State != inconclusive || got.Reason != "" {
		t.Errorf("with a displaced load it is %s for %s", got.State, got.Reason)
	}
}

func TestBreachStopsTheRunWhereAsked(t *testing.T) {
	stopping := atMost("failureRate", "0%")
	stopping.OnBreach = v1beta1.BreachStopLadder
	going, aborting := atMost("failureRate", "0%"), atMost("failureRate", "0%")
	aborting.OnBreach = v1beta1.BreachAbort
	searching := spec(stopping)
	searching.Search = &v1beta1.Search{}
	ladder := func(stop bool, thresholds ...v1beta1.Threshold) *v1beta1.LoadTestSpec {
		s := spec(thresholds...)
		s.Ladder = &v1beta1.Ladder{StopOnBreach: stop}
		return s
	}
	broken := []v1beta1.ThresholdStatus{{Name: "failureRate", State: v1beta1.ThresholdFailed, Step: "0"}}
	tests := map[string]struct {
		spec     *v1beta1.LoadTestSpec
		previous []v1beta1.ThresholdStatus
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
		"the other of two stops":            {spec(stopping, going), nil, sent(10, 0, failed(1)), true},
		"a breach that aborts":              {spec(aborting), nil, sent(10, 0, failed(1)), true},
		"a breach of a search":              {searching, nil, sent(10, 0, failed(1)), false},
		"an earlier breach is over":         {spec(stopping), broken, sent(10, 0), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "stop", tc.want, judge(tc.spec, tc.previous, burst, tc.measured).Stop)
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
	got := judge(s, nil, step, o).Thresholds
	if n := len(got[0].Message); n != 512 {
		t.Errorf("message has %d bytes, want 512", n)
	}
	s.Thresholds[0].Requests = nil
	step.Name = strings.Repeat("ü", (512-len("p95 is 10.007ms in step ; at most 1s is allowed."))/2)
	got = judge(s, nil, step, o).Thresholds
	if !strings.HasSuffix(got[0].Message, "allowed.") || len(got[0].Message) != 512 {
		t.Errorf("a message of 512 bytes is cut: %q", got[0].Message)
	}
	s.Thresholds[0].Requests = append(threshold.Requests, "d")
	got = judge(s, nil, burst, o).Thresholds
	if want := "p95 of 4 requests is 10.007ms in step burst; at most 1s is allowed."; got[0].Message != want {
		t.Errorf("message %q, want %q", got[0].Message, want)
	}
}

func TestRunWithoutThresholdsIsNotJudged(t *testing.T) {
	o := sent(10, 0)
	got := judge(spec(), nil, burst, o)
	if len(got.Thresholds) != 0 || got.Step != "" || got.Stop {
		t.Errorf("judged as %+v, want nothing", got)
	}
}

// A result without a value, of another operator, stays.
func TestResultWithoutAValueIsNotNarrower(t *testing.T) {
	previous := []v1beta1.ThresholdStatus{{Name: "p95", State: passed}}
	if got := judge(spec(atMost("p95", "1s")), previous, burst, sent(100, 0)).Thresholds; got[0].Observed != "" {
		t.Errorf("%+v", got[0])
	}
}
