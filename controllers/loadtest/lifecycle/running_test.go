package lifecycle_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A step of 10 s from the tenth second on is given up 100 s after its start: its
// requests time out after 30 s, and a report may take a minute. A worker is found silent
// 5 s after its session ended.
func TestRunningStepWakesUpAtItsNextInstant(t *testing.T) {
	now := began.Add(20 * time.Second)
	silent := exchange.Worker{Pod: exchange.PodRunning, LastSeen: now.Add(-10 * time.Second)}
	left := exchange.Worker{Pod: exchange.PodRunning, LastSeen: now.Add(-2 * time.Second)}
	final, back := left, left
	final.Final, back.Connected = true, true
	for name, tc := range map[string]struct {
		worker exchange.Worker
		cut    *time.Duration
		want   time.Duration
	}{
		"at its limit":                     {ready, nil, 90 * time.Second},
		"a worker that is silent":          {silent, nil, 90 * time.Second},
		"when a worker becomes silent":     {left, nil, 3 * time.Second},
		"one that left when it was done":   {final, nil, 90 * time.Second},
		"a worker that is back":            {back, nil, 90 * time.Second},
		"one that this operator never met": {exchange.Worker{Pod: exchange.PodRunning}, nil, 90 * time.Second},
		"15 s after it was cut":            {ready, ptr.To(18 * time.Second), 13 * time.Second},
		"at its limit, though cut":         {ready, ptr.To(105 * time.Second), 90 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			lt := limited(0)
			lt.Status.Workers.Desired = 2
			if tc.cut != nil {
				lt.Spec.Terminate, lt.Status.Internal.StopTime = true, ptr.To(metav1.NewMicroTime(began.Add(*tc.cut)))
			}
			seen := awaited(ready, tc.worker)
			seen.Step = &exchange.Report{Merged: measure.NewMeasurement(1), Reporting: 1, Until: now}
			same.As(t, "time until the next pass", tc.want, lifecycle.Decide(lt, policy.Rules{}, seen, now).RequeueAfter)
		})
	}
}

// A worker without a final report when a step is given up is counted as lost, once.
func TestWorkersWithoutFinalReportAreLostAtTheLimit(t *testing.T) {
	endedLater := exchange.Worker{Pod: exchange.PodEnded, Final: true}
	for name, tc := range map[string]struct {
		workers []exchange.Worker
		report  bool
		want    int32
	}{
		"no worker":                         {[]exchange.Worker{final, final, final}, true, 0},
		"one is silent":                     {[]exchange.Worker{final, ready, final}, true, 1},
		"one has ended, and one is silent":  {[]exchange.Worker{final, ended, ready}, true, 2},
		"one ended when it was done":        {[]exchange.Worker{final, endedLater, ready}, true, 2},
		"one was done with the step before": {[]exchange.Worker{endedLater, ready, ready}, false, 3},
	} {
		t.Run(name, func(t *testing.T) {
			lt := limited(0)
			lt.Status.Workers.Desired = 3
			seen := awaited(tc.workers...)
			if tc.report {
				seen.Step = &exchange.Report{Merged: measure.NewMeasurement(1), Reporting: 3, Until: began.Add(20 * time.Second)}
			}
			s := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(2*time.Minute)).Status
			same.As(t, "lost workers", tc.want, s.Workers.Lost)
			want := "False WorkerLost"
			if tc.want == 0 {
				want = "True AllReady"
			}
			if got := said(s, v1beta1.ConditionWorkersReady); got[:len(want)] != want {
				t.Errorf("WorkersReady is %s, want %s", got, want)
			}
		})
	}
}

// What the workers measured stands in the step's status, in whole microseconds.
func TestAReportStandsInTheStatus(t *testing.T) {
	merged := measure.NewMeasurement(1)
	merged.FirstStart, merged.LastStart = began.Add(10*time.Second), began.Add(10*time.Second+1_500_300)
	until := began.Add(12 * time.Second)
	seen := one(ready)
	seen.Step = &exchange.Report{Merged: merged, Reporting: 1, Until: until, MeanWindow: 10*time.Second + 400}
	got := lifecycle.Decide(limited(0), policy.Rules{}, seen, until).Status.Steps[0]
	want := limited(0).Status.Steps[0]
	want.WorkersReporting, want.ReportedUntil = 1, ptr.To(metav1.NewMicroTime(until))
	want.Window, want.StartSkew = &metav1.Duration{Duration: 10 * time.Second}, &metav1.Duration{Duration: 1500 * time.Microsecond}
	want.Result = got.Result
	if diff := cmp.Diff(want, got); diff != "" || got.Result == nil {
		t.Errorf("the step's status (-want +got):\n%s", diff)
	}
	merged.FirstStart, merged.LastStart = time.Time{}, time.Time{} // of a step in which nothing was sent
	if skew := lifecycle.Decide(limited(0), policy.Rules{}, seen, until).Status.Steps[0].StartSkew; skew != nil {
		t.Errorf("a step that no worker began has a skew of %v", skew)
	}
}

// A run that is ended in the pass that finds its step done goes no further.
func TestTerminatedRunEndsWithTheStepThatIsDone(t *testing.T) {
	lt := limited(0)
	lt.Spec.Terminate = true
	seen := one(final)
	seen.Step = &exchange.Report{Merged: measure.NewMeasurement(1), Reporting: 1, Until: began.Add(20 * time.Second), ShortestWindow: 10 * time.Second}
	s := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(20*time.Second)).Status
	if s.Steps[0].State != v1beta1.StepComplete || s.Steps[1].State != v1beta1.StepSkipped || s.Verdict != v1beta1.VerdictCanceled {
		t.Errorf("the steps are %s and %s, verdict %s; want Complete, Skipped, Canceled", s.Steps[0].State, s.Steps[1].State, s.Verdict)
	}
}

// So is one that the administrator stops in that pass.
func TestStoppedRunEndsWithTheStepThatIsDone(t *testing.T) {
	seen := one(final)
	seen.Step = &exchange.Report{Merged: measure.NewMeasurement(1), Reporting: 1, Until: began.Add(20 * time.Second), ShortestWindow: 10 * time.Second}
	s := lifecycle.Decide(limited(0), rules(t, "stop: {}"), seen, began.Add(20*time.Second)).Status
	if s.Steps[0].State != v1beta1.StepCut || s.Verdict != v1beta1.VerdictCanceled {
		t.Errorf("the step is %s, verdict %s; want Cut, Canceled", s.Steps[0].State, s.Verdict)
	}
}

// A pause ends when it says, even if another follows, unless that has passed: then
// what follows has to reach all workers in time.
func TestWhenTheStepAfterAPauseBegins(t *testing.T) {
	ended := began.Add(35 * time.Second)
	for name, tc := range map[string]struct {
		pause time.Duration // that follows; 0: load
		now   time.Time
		want  time.Time
	}{
		"a pause":             {time.Minute, ended.Add(-300 * time.Millisecond), ended},
		"a pause, late":       {time.Minute, ended.Add(time.Second), ended.Add(time.Second)}, // whatever the store can take
		"load":                {0, ended.Add(-500 * time.Millisecond), ended},
		"load, a moment late": {0, ended.Add(-300 * time.Millisecond), ended.Add(200 * time.Millisecond)},
		"load, after a hold":  {0, ended.Add(time.Minute), ended.Add(time.Minute + 500*time.Millisecond)},
	} {
		t.Run(name, func(t *testing.T) {
			lt := rests(limited(1), 5*time.Second) // from the 30th second on
			if tc.pause > 0 {
				lt.Status.Steps[2].Load = paused(tc.pause)
			}
			seen := one(ready)
			if tc.pause > 0 {
				seen.Written = lifecycle.Written{At: tc.now, Size: 1_000_000}
			}
			d := lifecycle.Decide(lt, policy.Rules{}, seen, tc.now)
			if got := d.Status.Steps[2]; got.State != v1beta1.StepRunning || !got.StartTime.Time.Equal(tc.want) {
				t.Errorf("the step is %s, from %v; want Running, from %v", got.State, got.StartTime, tc.want)
			}
			if want := tc.want.Add(tc.pause - 500*time.Millisecond).Sub(tc.now); tc.pause > 0 && d.RequeueAfter != want {
				t.Errorf("again after %v, want %v", d.RequeueAfter, want)
			}
		})
	}
}

// A pause that never began ends never: what follows it begins at once.
func TestStepAfterAPauseThatNeverBegan(t *testing.T) {
	lt := continuing(rests(limited(1), 5*time.Second))
	lt.Status.Steps[1].State, lt.Status.Steps[1].StartTime = v1beta1.StepCut, nil
	if s := decide(lt, one(ready), time.Minute).Status.Steps[2]; s.StartTime == nil || !s.StartTime.Time.Equal(began.Add(time.Minute+500*time.Millisecond)) {
		t.Errorf("the step is %s from %v", s.State, s.StartTime)
	}
}

// Two workers that each had 20 answers a second have 40 together, though one of them
// reported a second later than the other.
func TestRatesOfARunningStepAreOfWhatEachWorkerReported(t *testing.T) {
	lt := limited(0)
	lt.Status.Workers.Desired = 2
	merged := measure.NewMeasurement(1)
	merged.Due, merged.Window = 100, 3*time.Second
	r := &merged.Requests[0]
	r.Sent, r.Expected, r.CompletedInWindow, r.ExpectedInWindow, r.Outcomes[measure.Success] = 100, 100, 100, 100, 100
	seen := awaited(ready, ready)
	seen.Step = &exchange.Report{Merged: merged, Reporting: 2, Until: began.Add(13 * time.Second), MeanWindow: 2500 * time.Millisecond}
	s := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(13*time.Second)).Status
	if got := s.Steps[0].Result; got.Goodput != "40.0" || s.Summary.Goodput != "40/s" {
		t.Errorf("goodput is %s, in the summary %s, want 40.0 and 40/s", got.Goodput, s.Summary.Goodput)
	}
	same.As(t, "window of the report, which must not change", 3*time.Second, merged.Window)
}

// The figures that kubectl get prints belong to the step that it names.
func TestSummaryIsOfOneStep(t *testing.T) {
	p95 := &v1beta1.Latency{P95: &metav1.Duration{Duration: 25 * time.Millisecond}, P99: &metav1.Duration{Duration: 40 * time.Millisecond}}
	result := func(sent, failed int64, goodput string, latency *v1beta1.Latency) *v1beta1.StepResult {
		return &v1beta1.StepResult{Due: 2 * sent, Unsent: sent, Counts: v1beta1.Counts{Sent: sent, Failed: failed}, Throughput: "5000", Goodput: goodput, ResponseTime: latency}
	}
	first, cut := result(100, 50, "10", p95), result(400, 6, "30", p95)
	cut.Undecided = 4
	for name, tc := range map[string]struct {
		reporting int32
		second    *v1beta1.StepResult
		want      v1beta1.Summary
	}{
		"no report of it yet":   {0, nil, v1beta1.Summary{Step: "2/2", Workers: "1/1"}},
		"its own figures":       {1, result(400, 2, "30", p95), v1beta1.Summary{Step: "2/2", Workers: "1/1", Goodput: "30/s", P95: "25ms", Errors: "0.5%", P99: "40ms", Unsent: "50%"}},
		"some undecided":        {1, cut, v1beta1.Summary{Step: "2/2", Workers: "1/1", Goodput: "30/s", P95: "25ms", Errors: "0.5%", P99: "40ms", Unsent: "50%"}},
		"too few samples":       {1, result(1, 0, "1", &v1beta1.Latency{}), v1beta1.Summary{Step: "2/2", Workers: "1/1", Goodput: "1/s", Errors: "0%", Unsent: "50%"}},
		"nothing was sent yet":  {1, result(0, 0, "0", nil), v1beta1.Summary{Step: "2/2", Workers: "1/1", Goodput: "0/s"}},
		"a part of the workers": {0, result(400, 2, "30", p95), v1beta1.Summary{Step: "2/2", Workers: "1/1", P95: "25ms", Errors: "0.5%", P99: "40ms", Unsent: "50%"}},
	} {
		t.Run(name, func(t *testing.T) {
			lt := limited(1)
			lt.Status.Steps[0].Result, lt.Status.Steps[1].Result = first, tc.second
			lt.Status.Steps[1].WorkersReporting = tc.reporting
			same.As(t, "summary", tc.want, lifecycle.Decide(lt, policy.Rules{}, one(ready), began.Add(31*time.Second)).Status.Summary)
		})
	}
	inPause := rests(limited(1), time.Minute)
	inPause.Status.Steps[0].Result = first
	want := v1beta1.Summary{Step: "1/2", Workers: "1/1", Goodput: "10/s", P95: "25ms", Errors: "50%", P99: "40ms", Unsent: "50%"}
	same.As(t, "summary in a pause after the first of two steps", want, lifecycle.Decide(inPause, policy.Rules{}, one(ready), began.Add(31*time.Second)).Status.Summary)
	if got := lifecycle.Decide(limited(0), policy.Rules{}, one(ready), began.Add(15*time.Second)).Status.Summary.Step; got != "1/2" {
		t.Errorf("in the first of two steps it is in step %s", got)
	}
	refused := &v1beta1.LoadTest{}
	if got := lifecycle.Decide(refused, policy.Rules{}, lifecycle.Observed{}, began).Status.Summary; got != (v1beta1.Summary{Reason: "InvalidSpec"}) {
		t.Errorf("a refused run has the summary %+v", got)
	}
}

// Measurements that cannot be merged end the run: its result would never be known.
func TestReportWithoutAResultIsTheRunsError(t *testing.T) {
	lt, now := limited(0), began.Add(20*time.Second)
	seen := awaited(ready)
	seen.Step = &exchange.Report{Err: errors.New("the measurements cannot be merged"), Reporting: 1, Until: now}
	out := lifecycle.Decide(lt, policy.Rules{}, seen, now).Status
	same.As(t, "verdict", v1beta1.VerdictError, out.Verdict)
	failed := v1beta1.NotCarriedOut(out.Conditions)
	if failed == nil || failed.Reason != v1beta1.ReasonInvalidResult || !strings.Contains(failed.Message, "the measurements cannot be merged") {
		t.Errorf("CarriedOut is %+v, want why", failed)
	}
}
