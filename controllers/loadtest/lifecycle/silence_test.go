package lifecycle_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// denied is the report of a step whose first request was answered 429.
func denied() *measure.Measurement { return deniedAfter(0) }

// deniedAfter is the outcome of a request that was sent that long after the step began.
func deniedAfter(d time.Duration) *measure.Measurement {
	m := measure.NewMeasurement(1)
	m.Requests[0].Sent, m.Requests[0].Outcomes[measure.RateLimited] = 1, 1
	ledger := &measure.Ledger{}
	ledger.Record(0, d, d+time.Millisecond, measure.RateLimited)
	m.Clients = measure.NewClients(measure.MaxLedgerBytes)
	m.Clients.Add("192.0.2.1", ledger)
	return m
}

// A denial is called false only if the silence before it has certainly refilled
// the bucket: what was sent and stands in no result may have taken the tokens.
func TestUnreportedRequestsMayHaveTakenTheTokens(t *testing.T) {
	const (
		before = 0
		second = 1
	)
	tests := map[string]struct {
		step int // that reports
		edit func(*v1beta1.LoadTest)
		want int64
		from int32 // which step on the process has begun
	}{
		"silence since the start":                  {before, func(*v1beta1.LoadTest) {}, 1, 0},
		"silence since the step before":            {second, func(*v1beta1.LoadTest) {}, 1, 0},
		"the least silence that refills":           {before, startedAfter(1100 * time.Millisecond), 1, 0},
		"a silence that may be too short":          {before, startedAfter(900 * time.Millisecond), 0, 0},
		"a step before without a result":           {second, func(lt *v1beta1.LoadTest) { lt.Status.Steps[before].Result = nil }, 0, 0},
		"a step before that was cut":               {second, func(lt *v1beta1.LoadTest) { continuing(lt).Status.Steps[before].State = v1beta1.StepCut }, 0, 0},
		"a worker that has not reported":           {second, func(lt *v1beta1.LoadTest) { lt.Status.Workers.Desired = 2 }, 0, 0},
		"a setup before the first step":            {before, func(lt *v1beta1.LoadTest) { lt.Spec.Setup = &v1beta1.Setup{} }, 0, 0},
		"a setup before the step before":           {second, func(lt *v1beta1.LoadTest) { lt.Spec.Setup = &v1beta1.Setup{} }, 1, 0},
		"a warm-up of the step":                    {second, warmUp(second), 0, 0},
		"a warm-up of the step before":             {second, warmUp(before), 0, 0},
		"a warm-up of the step after":              {before, warmUp(second), 1, 0},
		"questions without a worker":               {before, asks(""), 1, 0},
		"questions of a client":                    {before, asks("x-forwarded-for"), 0, 0},
		"questions of a client, before a step":     {second, asks("x-forwarded-for"), 1, 0},
		"questions with the target's headers":      {before, func(lt *v1beta1.LoadTest) { asks("")(lt); lt.Spec.Target.Headers = client("X-Forwarded-For") }, 0, 0},
		"the target's headers, without questions":  {before, func(lt *v1beta1.LoadTest) { lt.Spec.Target.Headers = client("X-Forwarded-For") }, 1, 0},
		"a step that another process began":        {before, func(*v1beta1.LoadTest) {}, 0, 1},
		"a step after one that another began":      {second, func(*v1beta1.LoadTest) {}, 0, 1},
		"a request of the step before that is out": {second, func(lt *v1beta1.LoadTest) { lt.Status.Steps[before].Result.Outcomes.Timeout = 1 }, 0, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			lt := limited(tc.step)
			tc.edit(lt)
			seen := one(exchange.Worker{Connected: true, Ready: true, Final: true})
			seen.Since, seen.From = began, tc.from
			seen.Step = &exchange.Report{Step: int32(tc.step), Merged: denied(), Reporting: 1, Until: began.Add(time.Minute)}
			d := lifecycle.Decide(lt, policy.Rules{}, seen, lt.Status.Steps[tc.step].StartTime.Add(time.Second))
			result := d.Status.Steps[tc.step].Result
			if result == nil {
				t.Fatal("the step has no result")
			}
			same.As(t, "false denials", tc.want, result.RateLimit.FalseDenials)
		})
	}
}

// A bucket that was empty when a step began has refilled 9 s later, unless requests that
// no report tells of may still be under way.
func TestUnreportedRequestsMayTakeWhatRefills(t *testing.T) {
	for name, tc := range map[string]struct {
		step int
		edit func(*v1beta1.LoadTest)
		want int64
	}{
		"no silence before the step":         {0, startedAfter(0), 1},
		"a setup before it":                  {0, func(lt *v1beta1.LoadTest) { lt.Spec.Setup = &v1beta1.Setup{} }, 0},
		"a worker that has not reported":     {0, func(lt *v1beta1.LoadTest) { lt.Status.Workers.Desired = 2 }, 0},
		"a request of the step before it":    {1, func(lt *v1beta1.LoadTest) { lt.Status.Steps[0].Result.Outcomes.Timeout = 1 }, 0},
		"none of the step before it is left": {1, func(*v1beta1.LoadTest) {}, 1},
	} {
		lt := limited(tc.step)
		tc.edit(lt)
		seen := one(exchange.Worker{Connected: true, Ready: true, Final: true})
		seen.Since = began
		seen.Step = &exchange.Report{Step: int32(tc.step), Merged: deniedAfter(9 * time.Second), Reporting: 1, Until: began.Add(time.Minute)}
		result := lifecycle.Decide(lt, policy.Rules{}, seen, lt.Status.Steps[tc.step].StartTime.Add(10*time.Second)).Status.Steps[tc.step].Result
		if result == nil || result.RateLimit.FalseDenials != tc.want {
			t.Errorf("%s: the result is %+v, want %d false denials", name, result, tc.want)
		}
	}
}

// startedAfter begins the first step that long after the run was first directed.
func startedAfter(d time.Duration) func(*v1beta1.LoadTest) {
	return func(lt *v1beta1.LoadTest) { lt.Status.Steps[0].StartTime = ptr.To(metav1.NewMicroTime(began.Add(d))) }
}

// The silence before a step that follows a pause began with the pause.
func TestAPauseIsSilent(t *testing.T) {
	lt := rests(limited(1), 5*time.Second)
	lt.Status.Steps[1].State, lt.Status.Steps[1].CompletionTime = v1beta1.StepComplete, ptr.To(metav1.NewMicroTime(began.Add(29*time.Second)))
	lt.Status.Steps[2].State, lt.Status.Steps[2].StartTime = v1beta1.StepRunning, ptr.To(metav1.NewMicroTime(began.Add(30*time.Second)))
	lt.Status.CurrentStep = 2
	seen := one(exchange.Worker{Connected: true, Ready: true, Final: true})
	seen.Step = &exchange.Report{Step: 2, Merged: denied(), Reporting: 1, Until: began.Add(time.Minute)}
	result := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(31*time.Second)).Status.Steps[2].Result
	if result == nil || result.RateLimit.FalseDenials != 1 {
		t.Errorf("the result is %+v, want one false denial, 10 s after the step before", result)
	}
}

// What a lost worker sent after its last report may have taken the tokens.
func TestALostWorkerMayHaveTakenTheTokens(t *testing.T) {
	lt := limited(0)
	lt.Status.Workers.Desired = 2
	seen := awaited(there(exchange.Worker{Connected: true, Ready: true, Final: true}), exchange.Worker{Pod: exchange.PodEnded})
	seen.Step = &exchange.Report{Merged: denied(), Reporting: 2, Until: began.Add(time.Minute)}
	result := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(15*time.Second)).Status.Steps[0].Result
	if result == nil || result.RateLimit.FalseDenials != 0 {
		t.Errorf("the result is %+v, want no false denial", result)
	}
	lt.Status.Workers.Desired, seen.Workers, seen.Step.Reporting, seen.Since = 1, seen.Workers[:1], 1, time.Time{}
	if result := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(15*time.Second)).Status.Steps[0].Result; result == nil || result.RateLimit.FalseDenials != 0 {
		t.Errorf("of a process that has directed nothing the result is %+v, want no false denial", result)
	}
}

// The ledgers of a step come with the last snapshots.
func TestAStepIsAuditedAtItsEnd(t *testing.T) {
	lt := limited(0)
	seen := one(exchange.Worker{Connected: true, Ready: true})
	seen.Step = &exchange.Report{Merged: denied(), Reporting: 1, Until: began.Add(15 * time.Second)}
	result := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(15*time.Second)).Status.Steps[0].Result
	if result == nil || result.RateLimit != nil {
		t.Errorf("the result of a running step is %+v, want one without an audit", result)
	}
}

func warmUp(step int) func(*v1beta1.LoadTest) {
	return func(lt *v1beta1.LoadTest) {
		lt.Status.Steps[step].Load.WarmUp = &metav1.Duration{Duration: time.Second}
	}
}

// asks adds a question with a header, unless its name is empty.
func asks(header string) func(*v1beta1.LoadTest) {
	return func(lt *v1beta1.LoadTest) {
		lt.Spec.Preflight = []v1beta1.Preflight{{HTTP: &v1beta1.Query{Path: "/version", Headers: client(header)}}}
	}
}

func client(header string) []v1beta1.Header {
	if header == "" {
		return nil
	}
	return []v1beta1.Header{{Name: header, Value: ptr.To("192.0.2.1")}}
}

// limited is a run of two steps against a limiter, in the given one of them. Each
// begins 10 s after all that was before.
func limited(step int) *v1beta1.LoadTest {
	instant := func(d time.Duration) *metav1.MicroTime { return ptr.To(metav1.NewMicroTime(began.Add(d))) }
	users := func(name string) v1beta1.Step {
		return v1beta1.Step{Name: name, Users: ptr.To[int32](1), Duration: &metav1.Duration{Duration: 10 * time.Second}}
	}
	lt := &v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{
		Target:   v1beta1.Target{URL: "http://ratelimiter"},
		Requests: []v1beta1.Request{{Name: "home", HTTP: &v1beta1.HTTPRequest{}}},
		Steps:    []v1beta1.Step{users("one"), users("two")},
		Audits:   []v1beta1.Audit{{Name: "contract", RateLimit: &v1beta1.RateLimit{Capacity: 5, RefillPerSecond: v1beta1.NewDecimal("1"), ClientHeader: "X-Forwarded-For"}}},
	}}
	lt.Status = v1beta1.LoadTestStatus{
		StartTime:   ptr.To(metav1.NewTime(began)),
		CurrentStep: int32(step),
		Workers:     v1beta1.WorkerCounts{Desired: 1, Ready: 1},
		TargetURL:   lt.Spec.Target.URL,
		Requests:    plan.RequestNames(&lt.Spec),
		Steps:       plan.Steps(&lt.Spec),
	}
	lt.Status.Steps[0].State, lt.Status.Steps[0].StartTime = v1beta1.StepRunning, instant(10*time.Second)
	if step == 1 {
		first := &lt.Status.Steps[0]
		first.State, first.CompletionTime, first.Result = v1beta1.StepComplete, instant(20*time.Second), &v1beta1.StepResult{}
		lt.Status.Steps[1].State, lt.Status.Steps[1].StartTime = v1beta1.StepRunning, instant(30*time.Second)
	}
	return lt
}
