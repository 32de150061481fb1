package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// against is the ladder, compared with an earlier run.
func against() v1beta1.LoadTestSpec {
	spec := ladder()
	spec.Baseline = &v1beta1.Baseline{Name: "before"}
	spec.Thresholds = []v1beta1.Threshold{{Metric: "goodput", MaxDecrease: "10%"}}
	return spec
}

// earlier is a run of the same ladder; "": it has not finished.
func earlier(verdict v1beta1.Verdict) *v1beta1.LoadTest {
	lt := accepted(ladder())
	lt.Name = "before"
	for i := range lt.Status.Steps {
		if step := &lt.Status.Steps[i]; !step.Load.IsPause() {
			step.State, step.WorkersReporting = v1beta1.StepComplete, 3
			step.Result = &v1beta1.StepResult{Goodput: "100.0"}
		}
	}
	if lt.Status.Verdict = verdict; verdict != "" {
		lt.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue}}
	}
	return lt
}

func decide(lt *v1beta1.LoadTest, seen lifecycle.Observed, after time.Duration) lifecycle.Decision {
	return lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(after))
}

func TestBaselineIsCopiedWhenTheRunIsAccepted(t *testing.T) {
	for _, verdict := range []v1beta1.Verdict{v1beta1.VerdictPassed, v1beta1.VerdictFailed} {
		lt := &v1beta1.LoadTest{Spec: against()}
		if !lifecycle.NeedsBaseline(lt) {
			t.Error("the baseline is not looked up")
		}
		d := decide(lt, lifecycle.Observed{Baseline: earlier(verdict)}, 0)
		copied := d.Status.Baseline
		if d.Status.Verdict != "" || copied == nil || copied.Verdict != verdict || len(copied.Steps) != 2 || copied.Steps[1].Figures[0].Value != "100" {
			t.Fatalf("verdict %q, copied %+v", d.Status.Verdict, copied)
		}
		lt.Status = d.Status
		if over := (&v1beta1.LoadTest{Spec: against()}); lifecycle.NeedsBaseline(lt) || lifecycle.NeedsBaseline(but(over, finish)) {
			t.Error("the baseline is looked up again, or once the run is over")
		}
		if again := decide(lt, lifecycle.Observed{Baseline: earlier(v1beta1.VerdictInconclusive)}, time.Second).Status; again.Verdict != "" || again.Baseline.Verdict != verdict {
			t.Errorf("it is copied again: %+v", again.Baseline)
		}
		if d := decide(lt, lifecycle.Observed{Workers: make([]exchange.Worker, 3)}, time.Second); d.Job != lifecycle.JobCreate {
			t.Errorf("with the baseline deleted the Job is %v, want created", d.Job)
		}
	}
}

// A run that is compared with the level of a schedule waits for nothing: the level is there, or the
// run is refused.
func TestLevelIsCopiedWhenTheRunIsAccepted(t *testing.T) {
	spec := against()
	spec.Baseline = &v1beta1.Baseline{Schedule: "nightly"}
	level := &baseline.Level{Schedule: "nightly"}
	for range 3 {
		lt := &v1beta1.LoadTest{Spec: spec}
		if !lifecycle.NeedsBaseline(lt) {
			t.Error("the level is not looked up")
		}
		d := decide(lt, lifecycle.Observed{Level: level}, 0)
		if d.Status.Verdict != v1beta1.VerdictError || !strings.HasPrefix(messageOf(d.Status.Conditions, v1beta1.ConditionAccepted), "spec.baseline.schedule: a level needs 3 LoadTests of schedule nightly that passed") {
			t.Errorf("of %d runs: verdict %q, %+v", len(level.Runs), d.Status.Verdict, d.Status.Conditions)
		}
		level.Runs = append(level.Runs, baseline.Read(&spec, earlier(v1beta1.VerdictPassed)))
	}
	d := decide(&v1beta1.LoadTest{Spec: spec}, lifecycle.Observed{Level: level}, 0)
	if copied := d.Status.Baseline; d.Status.Verdict != "" || copied == nil || copied.Schedule != "nightly" || len(copied.Steps) != 6 {
		t.Errorf("verdict %q, copied %+v", d.Status.Verdict, copied)
	}
	unread := decide(&v1beta1.LoadTest{Spec: spec}, lifecycle.Observed{}, 0)
	lt := &v1beta1.LoadTest{Spec: spec, Status: unread.Status}
	got := decide(lt, lifecycle.Observed{Workers: make([]exchange.Worker, 3)}, time.Second)
	if got.Job == lifecycle.JobCreate || !strings.HasPrefix(messageOf(got.Status.Conditions, v1beta1.ConditionWorkersReady), "The LoadTests of schedule nightly (spec.baseline) have not been read.") {
		t.Errorf("before it was read: Job %v, %+v", got.Job, got.Status.Conditions)
	}
}

func messageOf(conditions []metav1.Condition, kind string) string {
	if c := meta.FindStatusCondition(conditions, kind); c != nil {
		return c.Message
	}
	return ""
}

func TestRunThatCannotBeComparedIsNotAccepted(t *testing.T) {
	scheduled := against()
	scheduled.Baseline = &v1beta1.Baseline{Schedule: "nightly", Optional: true}
	other := earlier(v1beta1.VerdictPassed)
	other.Status.Steps[0].Load.Users, other.Status.Steps[2].Load.Users = 1, 2
	for name, tc := range map[string]struct {
		seen *v1beta1.LoadTest
		want string
	}{
		"inconclusive": {earlier(v1beta1.VerdictInconclusive), "BaselineRefused: spec.baseline.name: the verdict of LoadTest before is Inconclusive"},
		"canceled":     {earlier(v1beta1.VerdictCanceled), "BaselineRefused: spec.baseline.name: the verdict of LoadTest before is Canceled"},
		"another load": {other, "BaselineRefused: spec.baseline.name: no step of LoadTest before has the same name and load"},
	} {
		t.Run(name, func(t *testing.T) {
			waiting := accepted(against())
			for when, lt := range map[string]*v1beta1.LoadTest{"at once": {Spec: against()}, "after a wait": waiting} {
				d := decide(lt, lifecycle.Observed{Baseline: tc.seen, Workers: make([]exchange.Worker, 3)}, time.Second)
				if got := said(d.Status, v1beta1.ConditionAccepted); !strings.HasPrefix(got, "False "+tc.want) {
					t.Errorf("%s: Accepted is %s", when, got)
				}
				if got := failure(d.Status); d.Status.Verdict != v1beta1.VerdictError || !strings.HasPrefix(got, tc.want) || d.Status.Baseline != nil {
					t.Errorf("%s: verdict %s, it ended with %s", when, d.Status.Verdict, got)
				}
				if d.Job == lifecycle.JobCreate {
					t.Errorf("%s: workers are created", when)
				}
			}
		})
	}
}

func TestBaselineIsWaitedFor(t *testing.T) {
	const until = " The run gives up at 10:01:00 UTC (startDeadlineSeconds)."
	for name, tc := range map[string]struct {
		seen *v1beta1.LoadTest
		want string
	}{
		"not there": {nil, "BaselinePending: LoadTest before (spec.baseline) does not exist." + until},
		"running":   {earlier(""), "BaselinePending: LoadTest before (spec.baseline) has not finished." + until},
	} {
		t.Run(name, func(t *testing.T) {
			lt := accepted(against())
			// Workers that are there already do not open the gate.
			for _, seen := range []lifecycle.Observed{{Workers: make([]exchange.Worker, 3)}, awaited(ready, ready, ready)} {
				seen.Baseline, seen.BaselineAbsent = tc.seen, tc.seen == nil
				d := decide(lt, seen, time.Second)
				if got := said(d.Status, v1beta1.ConditionWorkersReady); got != "False "+tc.want {
					t.Errorf("WorkersReady is %s, want %s", got, tc.want)
				}
				if d.Job != lifecycle.JobKeep || d.RequeueAfter != 2*time.Second || d.Status.Steps[0].State != v1beta1.StepPending {
					t.Errorf("Job %v, again after %v, step %s", d.Job, d.RequeueAfter, d.Status.Steps[0].State)
				}
			}
			d := decide(lt, lifecycle.Observed{Baseline: tc.seen, Workers: make([]exchange.Worker, 3)}, time.Minute)
			if got := failure(d.Status); !strings.HasPrefix(got, "StartDeadlineExceeded: ") || !strings.Contains(got, "LoadTest before (spec.baseline) ") {
				t.Errorf("after the deadline CarriedOut is %s", got)
			}
			d = decide(lt, lifecycle.Observed{Baseline: earlier(v1beta1.VerdictPassed), Workers: make([]exchange.Worker, 3)}, 2*time.Second)
			if d.Status.Baseline == nil || d.Job != lifecycle.JobCreate {
				t.Errorf("when it has finished, %+v is copied and the Job is %v", d.Status.Baseline, d.Job)
			}
		})
	}
}

// A run that an earlier operator took up, with less room than this one leaves, waits all the same.
func TestWaitsNeedNoRoom(t *testing.T) {
	lt := accepted(against())
	lt.Annotations = map[string]string{"a": strings.Repeat("x", 1_200<<10)}
	for name, seen := range map[string]lifecycle.Observed{"the baseline": {}, "the target": {Access: &lifecycle.Access{Problem: "?"}}} {
		seen.Workers = make([]exchange.Worker, 3)
		if s := decide(lt, seen, time.Second).Status; s.Verdict != "" {
			t.Errorf("for %s: verdict %s, %s", name, s.Verdict, failure(s))
		}
	}
}

// A run that is held before its first step may be resumed with another plan: what was
// copied for the first is not kept.
func TestHeldRunForgetsItsBaseline(t *testing.T) {
	lt := accepted(against())
	lt.Status.Baseline = &v1beta1.BaselineStatus{Name: "before"}
	lt.Status.Environment = &v1beta1.EnvironmentStatus{}
	s := &lt.Status.Internal
	s.Access, s.ControlAccess, s.OtherAccess, s.Auditing = leadsTo(1), leadsTo(1), []v1beta1.TargetAccess{{}}, &v1beta1.Auditing{Point: v1beta1.AuditBefore}
	lt.Spec.Suspend = true
	lt.Status = decide(lt, awaited(coming), time.Second).Status
	if lt.Status.Baseline != nil || !lifecycle.NeedsBaseline(lt) {
		t.Errorf("%+v is kept", lt.Status.Baseline)
	}
	if s.Access != nil || s.ControlAccess != nil || s.OtherAccess != nil || s.Auditing != nil || lt.Status.Environment != nil {
		t.Errorf("kept of its target is %+v, %+v", lt.Status.Environment, s)
	}
	lt.Spec.Suspend, lt.Spec.Ladder.Users = false, []int32{1000}
	if d := decide(lt, lifecycle.Observed{Baseline: earlier(v1beta1.VerdictPassed)}, time.Minute); len(d.Status.Baseline.Steps) != 1 || d.Status.Baseline.Steps[0].Rung != 1 {
		t.Errorf("copied %+v", d.Status.Baseline)
	}
}

// Figures that leave no room for the results of the run are refused: its status could
// not be written.
func TestBaselineLeavesRoomForResults(t *testing.T) {
	spec := against()
	spec.Requests[0].HTTP.Body = strings.Repeat("x", 1_163<<10)
	lt := &v1beta1.LoadTest{Spec: spec}
	if d := decide(lt, lifecycle.Observed{}, 0); d.Status.Verdict != "" {
		t.Fatalf("without figures: %s", said(d.Status, v1beta1.ConditionAccepted))
	}
	before := earlier(v1beta1.VerdictPassed)
	before.Name, before.UID, before.Spec.Requests = strings.Repeat("n", 9<<10), "u", spec.Requests
	d := decide(lt, lifecycle.Observed{Baseline: before}, 0)
	if got := said(d.Status, v1beta1.ConditionAccepted); !strings.HasPrefix(got, "False BaselineRefused: spec.baseline: its figures take 9 KiB, but the LoadTest has ") {
		t.Errorf("Accepted is %s", got)
	}
}

// selected is the ladder, compared with the last run of some labels.
func selected(optional bool) v1beta1.LoadTestSpec {
	spec := against()
	spec.Baseline = &v1beta1.Baseline{Selector: map[string]v1beta1.LabelValue{"app": "shop"}, Optional: optional}
	return spec
}

// A run that selects its baseline waits for none: it is there, or the run is refused.
func TestSelectedBaselineIsNotWaitedFor(t *testing.T) {
	passed := earlier(v1beta1.VerdictPassed)
	passed.Labels = map[string]string{"app": "shop"}
	d := decide(&v1beta1.LoadTest{Spec: selected(false)}, lifecycle.Observed{Baseline: passed}, 0)
	if copied := d.Status.Baseline; d.Status.Verdict != "" || copied == nil || copied.Name != "before" || len(copied.Steps) != 2 {
		t.Errorf("verdict %q, copied %+v", d.Status.Verdict, copied)
	}
	const want = "BaselineRefused: spec.baseline.selector: no LoadTest with labels app=shop has passed; run one without spec.baseline first, or set spec.baseline.optional to true."
	for when, lt := range map[string]*v1beta1.LoadTest{"at once": {Spec: selected(false)}, "after a wait": accepted(selected(false))} {
		d := decide(lt, lifecycle.Observed{BaselineAbsent: true, Workers: make([]exchange.Worker, 3)}, time.Second)
		if got := failure(d.Status); d.Status.Verdict != v1beta1.VerdictError || got != want {
			t.Errorf("%s: verdict %s, it ended with %s", when, d.Status.Verdict, got)
		}
	}
	d = decide(accepted(selected(false)), lifecycle.Observed{Workers: make([]exchange.Worker, 3)}, time.Second)
	if got := said(d.Status, v1beta1.ConditionWorkersReady); d.Job == lifecycle.JobCreate || !strings.HasPrefix(got, "False BaselinePending: The LoadTests of spec.baseline.selector have not been read.") {
		t.Errorf("before it was looked up: Job %v, WorkersReady is %s", d.Job, got)
	}
}

// With optional, a run begins without a baseline, and its status says why. It waits for one that
// has not finished.
func TestOptionalBaseline(t *testing.T) {
	named := against()
	named.Baseline.Optional = true
	scheduled := against()
	scheduled.Baseline = &v1beta1.Baseline{Schedule: "nightly", Optional: true}
	other := earlier(v1beta1.VerdictPassed)
	other.Status.Steps[0].Load.Users, other.Status.Steps[2].Load.Users = 1, 2
	for name, tc := range map[string]struct {
		spec v1beta1.LoadTestSpec
		seen lifecycle.Observed
		want string
	}{
		"none of that name":     {named, lifecycle.Observed{BaselineAbsent: true}, "spec.baseline.name: LoadTest before does not exist."},
		"none with the labels":  {selected(true), lifecycle.Observed{BaselineAbsent: true}, "spec.baseline.selector: no LoadTest with labels app=shop has passed."},
		"no level":              {scheduled, lifecycle.Observed{Level: &baseline.Level{Schedule: "nightly"}}, "spec.baseline.schedule: a level needs 3 LoadTests of schedule nightly that passed, sent the traffic of this run, and measured what it compares in a step that it has, too; 0 LoadTests passed, and 0 of them sent that traffic; let it keep more (spec.successfulRunsHistoryLimit), or compare with one LoadTest (spec.baseline.name)."},
		"one of other loads":    {named, lifecycle.Observed{Baseline: other}, "spec.baseline.name: no step of LoadTest before has the same name and load as a step of this run; name one with the same ladder or steps, or run them against the earlier version first."},
		"one that was canceled": {named, lifecycle.Observed{Baseline: earlier(v1beta1.VerdictCanceled)}, "spec.baseline.name: the verdict of LoadTest before is Canceled, so its figures say nothing about its target; name one whose verdict is Passed or Failed."},
	} {
		t.Run(name, func(t *testing.T) {
			d := decide(&v1beta1.LoadTest{Spec: tc.spec}, tc.seen, 0)
			b := d.Status.Baseline
			if d.Status.Verdict != "" || b == nil || b.Missing != tc.want || b.Name != "" || len(b.Steps) != 0 {
				t.Fatalf("verdict %q, baseline %+v", d.Status.Verdict, b)
			}
			lt := &v1beta1.LoadTest{Spec: tc.spec, Status: d.Status}
			if d := decide(lt, lifecycle.Observed{Workers: make([]exchange.Worker, 3)}, time.Second); d.Job != lifecycle.JobCreate || lifecycle.NeedsBaseline(lt) {
				t.Errorf("the Job is %v, want created; the baseline is looked up: %t", d.Job, lifecycle.NeedsBaseline(lt))
			}
		})
	}
	for name, seen := range map[string]lifecycle.Observed{"running": {Baseline: earlier("")}, "not looked up": {}} {
		if d := decide(&v1beta1.LoadTest{Spec: named}, seen, 0); d.Status.Baseline != nil {
			t.Errorf("%s: baseline %+v", name, d.Status.Baseline)
		}
	}
}
