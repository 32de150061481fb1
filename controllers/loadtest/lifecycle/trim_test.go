package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What there is no room for is left out, the histogram before the results of the requests.
func TestOversizedResultsAreTrimmed(t *testing.T) {
	merged := measure.NewMeasurement(1)
	merged.Requests[0].Response.Record(time.Millisecond)
	merged.Requests[0].Errors = map[measure.Outcome]string{measure.Refused: "connection refused"}
	histogram, err := merged.Requests[0].Response.Encode()
	must.Succeed(t, err)
	requests := v1beta1.JSONSize([]v1beta1.RequestResult{oneRequest(t, merged)})
	all := requests + len(histogram)
	for name, tc := range map[string]struct {
		left                int // room beside what the other step has
		own                 int // a histogram of this step, earlier
		requests, histogram bool
	}{
		"for all":                          {left: 500_000, requests: true, histogram: true},
		"just for all":                     {left: all, requests: true, histogram: true},
		"just for all, in place of an old": {left: all, own: 100_000, requests: true, histogram: true},
		"not for the histogram":            {left: all - 1, requests: true},
		"not for that in place of an old":  {left: all - 1, own: 100_000, requests: true},
		"just for the requests":            {left: requests, requests: true},
		"not for the requests":             {left: requests - 1, histogram: true},
		"for nothing":                      {left: 0},
		// Of a run that an earlier operator began.
		"for less than there is": {left: -300_000},
	} {
		t.Run(name, func(t *testing.T) {
			lt := limited(1)
			lt.Status.Steps[0].Result.Requests = []v1beta1.RequestResult{oneRequest(t, merged)}
			lt.Status.Steps[0].Result.Histogram = strings.Repeat("x", lifecycle.Room(lt, lt.Status.Steps)-requests-tc.left)
			lt.Status.Steps[1].Result = &v1beta1.StepResult{Histogram: strings.Repeat("x", tc.own)}
			if tc.left <= 0 {
				lt.Spec.Target.Trace = &v1beta1.Trace{Sampled: "1%"}
			}
			seen := lifecycle.Observed{
				Job:     lifecycle.JobPresent,
				Workers: []exchange.Worker{{Pod: exchange.PodRunning, Connected: true, Ready: true, Final: true}},
				Step:    &exchange.Report{Step: 1, Merged: merged, Reporting: 1, Until: began.Add(time.Minute)},
			}
			result := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(31*time.Second)).Status.Steps[1].Result
			if result == nil || result.ResponseTime == nil {
				t.Fatalf("the result is %v, want that of one response", result)
			}
			if result.Traces != nil {
				t.Errorf("there are traces %+v", result.Traces)
			}
			same.As(t, "it has a histogram", tc.histogram, result.Histogram != "")
			if got := len(result.Requests) > 0; got != tc.requests || got == (result.RequestsOmitted > 0) {
				t.Errorf("there are results of requests: %t, %d omitted; want %t", got, result.RequestsOmitted, tc.requests)
			}
		})
	}
}

// What the steps to come may need for their requests is left for them.
func TestRoomIsLeftForTheStepsToCome(t *testing.T) {
	merged := measure.NewMeasurement(1)
	merged.Requests[0].Response.Record(time.Millisecond)
	histogram, err := merged.Requests[0].Response.Encode()
	must.Succeed(t, err)
	requests := v1beta1.JSONSize([]v1beta1.RequestResult{oneRequest(t, merged)})
	for left, want := range map[int][2]bool{
		2 * requests: {true, false}, 2*requests + len(histogram): {true, true}, 2*requests + len(histogram) - 1: {true, false}, 2*requests - 1: {false, true},
	} {
		lt := limited(0)
		lt.Annotations = map[string]string{"a": ""}
		lt.Annotations["a"] = strings.Repeat("x", lifecycle.Room(lt, lt.Status.Steps)-left)
		seen := lifecycle.Observed{
			Job:     lifecycle.JobPresent,
			Workers: []exchange.Worker{{Pod: exchange.PodRunning, Connected: true, Ready: true, Final: true}},
			Step:    &exchange.Report{Merged: merged, Reporting: 1, Until: began.Add(time.Minute)},
		}
		result := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(21*time.Second)).Status.Steps[0].Result
		if got := [2]bool{len(result.Requests) > 0, result.Histogram != ""}; got != want {
			t.Errorf("with room for %d bytes there are requests and a histogram: %v, want %v", left, got, want)
		}
	}
}

// oneRequest is the result of the only request of a step that has ended.
func oneRequest(t *testing.T, merged *measure.Measurement) v1beta1.RequestResult {
	t.Helper()
	lt := limited(1)
	result, err := results.StepResult(lt, &lt.Status.Steps[1], merged, 0)
	must.Succeed(t, err)
	return result.Requests[0]
}

// The largest LoadTests that are accepted come to their end in what a cluster stores
// of one object, whatever is measured.
func TestTheLargestRunsFitTheStore(t *testing.T) {
	const bound = 1_200 << 10 // of 1.5 MiB: the API server adds who manages which field
	for name, tc := range map[string]struct {
		steps, repetitions, types, body int
		named                           bool
	}{
		"the most steps":                       {steps: 64, repetitions: 2, types: 32},
		"the most types":                       {steps: 30, repetitions: 1, types: 32},
		"the most types that thresholds name":  {steps: 30, repetitions: 1, types: 32, named: true},
		"the most steps of one type":           {steps: 64, repetitions: 2, types: 1},
		"few steps, and the longest of bodies": {steps: 2, repetitions: 1, types: 32, body: 65_536},
	} {
		t.Run(name, func(t *testing.T) {
			lt := large(tc.steps, tc.repetitions, tc.types, tc.body)
			if tc.named {
				for _, r := range lt.Spec.Requests {
					lt.Spec.Thresholds[0].Types = append(lt.Spec.Thresholds[0].Types, r.Type)
				}
			}
			for refused(lt) {
				lt.Spec.Requests = lt.Spec.Requests[1:]
			}
			runAll(t, lt, everything(t, lt))
			raw, err := json.Marshal(lt)
			must.Succeed(t, err)
			t.Logf("%d types, %d bytes", len(lt.Spec.Requests), len(raw))
			if len(raw) > bound {
				t.Errorf("the LoadTest has %d bytes, want at most %d", len(raw), bound)
			}
			if left := lifecycle.Room(lt, lt.Status.Steps); left < 0 {
				t.Errorf("there is room for %d bytes, want none or more", left)
			}
		})
	}
}

func refused(lt *v1beta1.LoadTest) bool {
	return lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{}, began).Status.Verdict == v1beta1.VerdictError
}

// large is a LoadTest of so many types of requests, each with a body of that length.
func large(steps, repetitions, types, body int) *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{
		Target:      v1beta1.Target{Service: &v1beta1.ServiceReference{Name: "ratelimiter"}},
		Parallelism: ptr.To[int32](1), Repetitions: int32(repetitions),
		Audits: []v1beta1.Audit{{Name: "contract", RateLimit: &v1beta1.RateLimit{Capacity: 5, RefillPerSecond: v1beta1.NewDecimal("1"), ClientHeader: "X-Forwarded-For"}}},
	}}
	lt.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": strings.Repeat(`{"a":1}`, 10_000)}
	for i := range types {
		lt.Spec.Requests = append(lt.Spec.Requests, v1beta1.Request{Name: "home",
			Type: fmt.Sprintf("%02d%s", i, strings.Repeat("<", 61)), HTTP: &v1beta1.HTTPRequest{Body: strings.Repeat("x", body)},
		})
	}
	for i := range steps {
		lt.Spec.Steps = append(lt.Spec.Steps, v1beta1.Step{
			Name: fmt.Sprintf("%02d%s", i, strings.Repeat("ü", 61)), Users: ptr.To(min(int32(i)+1, 2)), Duration: &metav1.Duration{Duration: time.Second},
		})
	}
	for i := range 2 { // each costs a merge of all types
		lt.Spec.Thresholds = append(lt.Spec.Thresholds, v1beta1.Threshold{
			Name: fmt.Sprintf("%02d%s", i, strings.Repeat("ü", 61)), Metric: "failureRate", Max: ptr.To(intstr.Parse("1%")), UpToUsers: ptr.To[int32](1), // in the first step, to save time
		})
	}
	return lt
}

// everything is a step in which all that can be measured was, and in large numbers.
func everything(t *testing.T, lt *v1beta1.LoadTest) *measure.Measurement {
	t.Helper()
	const many = 1_234_567_890
	step := measure.NewMeasurement(len(lt.Spec.Requests))
	step.Window, step.Due, step.Unsent = 59*time.Minute+59*time.Second+999_999*time.Microsecond, 2*many, many
	step.Transport, step.Engine = strings.Repeat("<", 64), strings.Repeat("<", 64)
	messages := map[measure.Outcome]string{}
	for o := range measure.Outcome(measure.NumOutcomes) {
		if o != measure.Success {
			messages[o] = strings.Repeat("<", 256)
		}
	}
	times := measure.NewHistogram()
	for n := range time.Duration(10_000) { // enough for each quantile
		times.Record(time.Hour - 1 - n%3*time.Minute)
	}
	sooner := measure.NewHistogram()
	for n := range time.Duration(10_000) {
		sooner.Record(time.Hour - 5*time.Minute - 1 - n%3*time.Minute)
	}
	step.Lateness = sooner
	for i := range step.Requests {
		r := &step.Requests[i]
		r.Sent, r.Expected, r.Late, r.CompletedInWindow, r.ExpectedInWindow = many, many, many, many, many
		for o := range r.Outcomes {
			r.Outcomes[o] = many
		}
		for code := measure.MinStatus; code < measure.MinStatus+20; code++ {
			r.CountStatus(code, many)
		}
		r.Response, r.Service, r.Ideal = times.Clone(), times.Clone(), sooner.Clone()
		r.Undecided, r.Excused, r.Errors = many, many, messages
	}
	for d := time.Microsecond; d < time.Hour; d += time.Microsecond + d/1000 {
		step.Requests[0].Response.Record(d)
	}
	step.Clients = measure.NewClients(measure.MaxLedgerBytes)
	step.Clients.Untracked = many
	return step
}

// runAll lets a run come to its end; in each of its steps the same is measured. Those
// between the first and the last two are not played but copied, and what there is room
// for is taken.
func runAll(t *testing.T, lt *v1beta1.LoadTest, measured *measure.Measurement) {
	t.Helper()
	now := began
	pass := func(seen lifecycle.Observed) {
		now = now.Add(time.Minute)
		lt.Status = lifecycle.Decide(lt, policy.Rules{}, seen, now).Status
	}
	worker := exchange.Worker{Pod: exchange.PodRunning, Connected: true, Ready: true, Final: true}
	seen := lifecycle.Observed{Job: lifecycle.JobPresent, Workers: []exchange.Worker{worker}}
	step := func(i int) {
		seen.Step = &exchange.Report{Step: int32(i), Merged: measured, Reporting: 1, Until: now, ShortestWindow: time.Second}
		pass(seen)
	}
	pass(lifecycle.Observed{})
	pass(seen)
	step(0)
	last := len(lt.Status.Steps) - 1
	if last > 2 {
		copyFirst(t, lt, last-1)
		step(last - 1)
	}
	step(last)
	if lt.Status.Steps[last].Result == nil || lt.Status.Verdict == "" {
		t.Fatalf("the run is %s with verdict %q, want that it came to its end", lt.Status.Phase, lt.Status.Verdict)
	}
}

// copyFirst has step i run after others that came to what the first did, and one of
// them fill the room.
func copyFirst(t *testing.T, lt *v1beta1.LoadTest, i int) {
	t.Helper()
	first := lt.Status.Steps[0]
	left := lifecycle.Room(lt, lt.Status.Steps) - len(first.Result.Histogram) - results.DetailSize(first.Result)
	if left < 0 {
		t.Fatalf("the first step took %d bytes more than there was room for", -left)
	}
	for j := 1; j < i; j++ {
		other := first.DeepCopy()
		planned := &lt.Status.Steps[j]
		other.Name, other.Repetition, other.Rung, other.Load = planned.Name, planned.Repetition, planned.Rung, planned.Load
		other.Result.Requests, other.Result.Histogram = nil, ""
		lt.Status.Steps[j] = *other
	}
	lt.Status.Steps[1].Result.Histogram = strings.Repeat("x", left)
	lt.Status.Steps[i].State, lt.Status.Steps[i].StartTime = v1beta1.StepRunning, first.StartTime
	lt.Status.CurrentStep = int32(i)
}
