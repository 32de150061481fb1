package lifecycle_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// How a run is getting on is written once a second, less often if its object is large or
// all runs write much, and not right before the end of a step, which says it all; what a
// step came to is written at once.
func TestPaceOfLiveWrites(t *testing.T) {
	now := began.Add(15 * time.Second)
	// The step ends in 5 s, and is given up in as many.
	const untilLimit = 95 * time.Second
	ago := func(d time.Duration, size int) lifecycle.Written {
		return lifecycle.Written{At: now.Add(-d), Size: size}
	}
	for name, tc := range map[string]struct {
		written lifecycle.Written
		from    time.Duration // when the store can take more
		final   bool
		again   time.Duration // 0: it is written
	}{
		"nothing was written before":      {},
		"a small object":                  {written: ago(time.Second, 10_000)},
		"a small object, too soon":        {written: ago(900*time.Millisecond, 10_000), again: 100 * time.Millisecond},
		"a small object, all runs at all": {written: ago(time.Second, 10_000), from: 300 * time.Millisecond, again: 300 * time.Millisecond},
		"a large object":                  {written: ago(5*time.Second, 250_000)},
		"a large object, too soon":        {written: ago(2*time.Second, 250_000), again: 3 * time.Second},
		"a large object, soon to end":     {written: ago(time.Minute, 260_000), again: untilLimit},
		"a clock that was set back":       {written: ago(-time.Hour, 10_000), again: time.Second},
		"the end of a step":               {written: ago(0, 1_000_000), from: time.Minute, final: true},
	} {
		t.Run(name, func(t *testing.T) {
			merged := measure.NewMeasurement(1)
			merged.Requests[0].Response.Record(time.Millisecond)
			merged.Requests[0].Errors = map[measure.Outcome]string{measure.Refused: "connection refused"}
			worker := ready
			worker.Final = tc.final
			seen := one(worker)
			seen.Step = &exchange.Report{Merged: merged, Reporting: 1, Until: now}
			seen.Written, seen.LiveFrom = tc.written, now.Add(tc.from)
			lt := limited(0)
			lt.Spec.Target.Trace = &v1beta1.Trace{Sampled: "1%"}
			lt.Status = lifecycle.Decide(lt, policy.Rules{}, one(ready), now).Status
			d := lifecycle.Decide(lt, policy.Rules{}, seen, now)
			result := d.Status.Steps[0].Result
			if written := !equality.Semantic.DeepEqual(lt.Status, d.Status); written != (tc.again == 0) || written != (result != nil) {
				t.Fatalf("written: %t, with result %v; want %t", written, result, tc.again == 0)
			}
			if tc.again != 0 && d.RequeueAfter != tc.again {
				t.Errorf("again after %v, want %v", d.RequeueAfter, tc.again)
			}
			if result != nil && (result.Histogram != "") != tc.final || result != nil && (len(result.Requests[0].ErrorSamples) > 0) != tc.final {
				t.Errorf("histogram %q, samples %v; want them at the end of a step only", result.Histogram, result.Requests[0].ErrorSamples)
			}
			if result != nil && (result.Traces != nil) != tc.final {
				t.Errorf("traces %v, want them at the end of a step only", result.Traces)
			}
		})
	}
}

// What the workers say while they get ready is how the run is getting on; that all are
// ready is not.
func TestPaceOfReadiness(t *testing.T) {
	lt := accepted(ladder())
	written := lifecycle.Written{At: began.Add(time.Second), Size: 100_000}
	decide := func(w ...exchange.Worker) lifecycle.Decision {
		seen := awaited(w...)
		seen.Written = written
		d, err := lifecycle.DecideUnwritten(lt, policy.Rules{}, seen, began.Add(2*time.Second))
		must.Report(t, "inputs", err)
		return d
	}
	lt.Status = lifecycle.Decide(lt, policy.Rules{}, awaited(coming, coming, coming), began.Add(time.Second)).Status
	for name, w := range map[string]exchange.Worker{
		"one is ready":     ready,
		"one waits":        {Pod: exchange.PodRunning, Connected: true, Reason: v1beta1.ReasonTargetUnreachable, Message: "try 7"},
		"one says how far": {Pod: exchange.PodRunning, Connected: true, Message: "setup: 5 of 9 requests sent"},
	} {
		if d := decide(w, coming, coming); !equality.Semantic.DeepEqual(lt.Status, d.Status) || d.RequeueAfter != time.Second {
			t.Errorf("%s: written, again after %v; want nothing for a second", name, d.RequeueAfter)
		}
	}
	held := accepted(ladder())
	held.Spec.Suspend = true
	held.Status = lifecycle.Decide(held, policy.Rules{}, lifecycle.Observed{}, began).Status
	if again := lifecycle.Decide(held, policy.Rules{}, lifecycle.Observed{}, began).Events; len(again) > 0 {
		t.Errorf("it is said again that the run is held: %v", again)
	}
	held.Spec.Suspend = false
	if d := lifecycle.Decide(held, rules(t, "stop: {}"), lifecycle.Observed{Written: written}, began.Add(time.Second)); said(d.Status, v1beta1.ConditionSuspended) == said(held.Status, v1beta1.ConditionSuspended) {
		t.Error("the reason of an event is not written")
	}
	if d := decide(ready, ready, ready); d.Status.Steps[0].State != v1beta1.StepRunning {
		t.Error("the first step is put off")
	}
}

// The end of a step is written at once, whatever that costs. A step that is shorter than
// what its end costs begins later.
func TestShortStepsOfLargeObjectsWaitForTheStore(t *testing.T) {
	now := began.Add(15 * time.Second)
	for name, tc := range map[string]struct {
		ago  time.Duration
		size int
		want time.Duration // from the end of a step to the begin of one of 10 s
	}{
		"nothing was written before": {0, 0, 500 * time.Millisecond},
		"a small object":             {0, 10_000, 500 * time.Millisecond},
		"as long as two writes cost": {0, 250_000, 500 * time.Millisecond},
		"a large object":             {time.Minute, 1_000_000, 10 * time.Second},
		"written a moment ago":       {0, 1_000_000, 30 * time.Second},
		"a clock that was set back":  {-time.Hour, 1_000_000, 30 * time.Second},
	} {
		merged := measure.NewMeasurement(1)
		merged.Window = 10 * time.Second
		worker := ready
		worker.Final = true
		seen := one(worker)
		seen.Step = &exchange.Report{Merged: merged, ShortestWindow: merged.Window, Reporting: 1, Until: now}
		seen.Written = lifecycle.Written{At: now.Add(-tc.ago), Size: tc.size}
		lt := limited(0)
		lt.Status = lifecycle.Decide(lt, policy.Rules{}, one(ready), now).Status
		steps := lifecycle.Decide(lt, policy.Rules{}, seen, now).Status.Steps
		if start := steps[1].StartTime; steps[0].Result == nil || start == nil || start.Sub(now) != tc.want {
			t.Errorf("%s: the step is %s, and the next begins at %v, want %v after %v", name, steps[0].State, start, tc.want, now)
		}
	}
}

// The UIDs of LoadTests that a pass creates for loads are written with its status, however little else it says.
func TestPaceOfLoads(t *testing.T) {
	f := newFamily(t)
	f.refused["late"] = &lifecycle.Refusal{Message: "the quota is used up", At: f.now}
	f.pass()
	f.says("readers", metav1.ConditionFalse, v1beta1.ReasonWaiting)
	f.pass()
	f.ready("readers")
	seen := f.seen()
	seen.Written = lifecycle.Written{At: began, Size: 1_000_000}
	for after, creates := range map[time.Duration]bool{4 * time.Second: false, 5 * time.Second: true} {
		d := lifecycle.Decide(f.parent, f.rules, seen, began.Add(after))
		written := !equality.Semantic.DeepEqual(f.parent.Status, d.Status)
		if created := len(d.CreateLoads) > 0; created != creates || written != creates {
			t.Errorf("after %s: creates a load: %t, written: %t; want both %t", after, created, written, creates)
		}
	}
}
