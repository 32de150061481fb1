package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
	"github.com/loadtest-dev/loadtest-operator/test/world"
)

// plannedElsewhere is a ladder without parallelism whose status was written by an
// operator with other constants: fewer users for each worker, other names of steps and
// other time limits. This one would plan one worker, and a pause in between.
func plannedElsewhere(t *testing.T) *world.World {
	t.Helper()
	spec := ladder()
	spec.Parallelism = nil
	w := newWorld(t, spec)
	w.LoadTest().Status = lifecycle.Decide(w.LoadTest(), policy.Rules{}, lifecycle.Observed{}, began).Status
	if n := w.LoadTest().Status.Workers.Desired; n != 1 {
		t.Fatalf("this operator plans %d workers, want 1", n)
	}
	rate := v1beta1.NewDecimal("2")
	load := func(users int32) v1beta1.StepLoad {
		return v1beta1.StepLoad{Users: users, RatePerUser: &rate, Duration: &metav1.Duration{Duration: 2 * time.Second}, Requests: 4 * int64(users)}
	}
	limit := &metav1.Duration{Duration: 5 * time.Second}
	w.LoadTest().Status.Workers.Desired = 3
	w.LoadTest().Status.Steps = []v1beta1.StepStatus{
		{Name: "few", Rung: 1, State: v1beta1.StepPending, Load: load(50), TimeLimit: limit},
		{Name: "many", Rung: 2, State: v1beta1.StepPending, Load: load(500), TimeLimit: limit},
	}
	w.SetWorkers(3)
	return w
}

func TestRunGoesOnWithThePlanInStatus(t *testing.T) {
	w := plannedElsewhere(t)
	planned := w.LoadTest().Status.DeepCopy()
	story := storyOf(t, w)
	s := w.LoadTest().Status
	if s.Verdict != v1beta1.VerdictPassed || len(s.Steps) != 2 || s.MaxSustainedUsers == nil || *s.MaxSustainedUsers != 500 {
		t.Fatalf("verdict %s after %d steps, want Passed after 2 and 500 users sustained; its story:\n%s", s.Verdict, len(s.Steps), story)
	}
	for i, step := range s.Steps {
		if step.WorkersReporting != 3 || step.Result == nil || step.Result.Sent != step.Load.Requests {
			t.Errorf("step %s has %d workers and result %+v, want 3 workers and the %d requests of the plan", step.Name, step.WorkersReporting, step.Result, step.Load.Requests)
		}
		same.As(t, "step "+step.Name+" was planned anew", planned.Steps[i].Load, step.Load)
	}
	same.As(t, "time between the steps, the lead and no pause", 500*time.Millisecond, s.Steps[1].StartTime.Sub(s.Steps[0].CompletionTime.Time))
}

func TestStepIsGivenUpAtTheTimeLimitInStatus(t *testing.T) {
	w := plannedElsewhere(t)
	start := metav1.NewMicroTime(began.Add(10 * time.Second))
	w.LoadTest().Status.Steps[0].State, w.LoadTest().Status.Steps[0].StartTime = v1beta1.StepRunning, &start
	there := exchange.Worker{Pod: exchange.PodRunning, Connected: true, Ready: true}
	final := there
	final.Final = true
	seen := awaited(final, final, there)
	seen.Step = &exchange.Report{Merged: measure.NewMeasurement(1), Reporting: 3, Until: start.Time}
	decide := func(after time.Duration) lifecycle.Decision {
		return lifecycle.Decide(w.LoadTest(), policy.Rules{}, seen, start.Add(after))
	}
	if d := decide(4 * time.Second); d.Status.Steps[0].State != v1beta1.StepRunning || d.RequeueAfter != time.Second {
		t.Errorf("after 4 s the step is %s, again after %v; want Running, and 1s", d.Status.Steps[0].State, d.RequeueAfter)
	}
	if s := decide(5 * time.Second).Status; s.Steps[0].State != v1beta1.StepCut || s.Workers.Lost != 1 || s.Steps[0].Coverage != "0%" {
		t.Errorf("after 5 s the step is %s, of %q, with %d workers lost; want Cut, of 0%%, with 1", s.Steps[0].State, s.Steps[0].Coverage, s.Workers.Lost)
	}
}

// Assignments are of the plan in status, for as many workers as the Job has.
func TestAssignmentsAreOfThePlanInStatus(t *testing.T) {
	w := plannedElsewhere(t)
	list := plan.Assignments(w.LoadTest())
	if len(list) != 3 {
		t.Fatalf("%d assignments, want one for each of 3 workers", len(list))
	}
	for n, a := range list {
		steps := a.GetSteps()
		if len(steps) != 2 || steps[0].GetTotal() != 50 || steps[1].GetTotal() != 500 || a.GetWorkers() != 3 {
			t.Errorf("worker %d of %d has steps %v, want shares of 50 and 500 users", n, a.GetWorkers(), steps)
		}
	}
}

// A status whose current step is out of range is carried on by the steps' states.
func TestCurrentStepOutOfRangeIsIgnored(t *testing.T) {
	for _, current := range []int32{-1, 2, 127} {
		lt := limited(1)
		lt.Status.CurrentStep = current
		s := lifecycle.Decide(lt, policy.Rules{}, one(ready), began.Add(31*time.Second)).Status
		if s.Steps[1].State != v1beta1.StepRunning || s.Verdict != "" {
			t.Errorf("current step %d: the second step is %s with verdict %q, want Running", current, s.Steps[1].State, s.Verdict)
		}
	}
	over := limited(1)
	over.Status.Steps[1].State, over.Status.Steps[1].CompletionTime = v1beta1.StepComplete, over.Status.Steps[1].StartTime
	if s := lifecycle.Decide(over, policy.Rules{}, one(ready), began.Add(41*time.Second)).Status; s.Verdict == "" || failure(s) != "" {
		t.Errorf("a run whose steps are all over: verdict %q, %s", s.Verdict, failure(s))
	}
}

// A status that contradicts itself ends the run, with a sentence that says where.
func TestRunWithAnInconsistentStatusEnds(t *testing.T) {
	for want, edit := range map[string]func(*v1beta1.LoadTestStatus){
		"steps is empty, but startTime is set":                     func(s *v1beta1.LoadTestStatus) { s.Steps = nil },
		"versus does not follow from spec.versus":                  func(s *v1beta1.LoadTestStatus) { s.Versus = &v1beta1.VersusStatus{} },
		"search does not follow from spec.search":                  func(s *v1beta1.LoadTestStatus) { s.Search = &v1beta1.SearchStatus{} },
		"otherTargets do not follow from spec.otherTargets":        func(s *v1beta1.LoadTestStatus) { s.OtherTargets = make([]v1beta1.OtherTargetStatus, 1) },
		"workers.desired is less than 1":                           func(s *v1beta1.LoadTestStatus) { s.Workers.Desired = 0 },
		"verdict is set, but condition Finished is not True":       func(s *v1beta1.LoadTestStatus) { s.Verdict = v1beta1.VerdictPassed },
		"steps[1] is Running without a startTime":                  func(s *v1beta1.LoadTestStatus) { s.Steps[1].StartTime = nil },
		"steps[0] is Complete without a completionTime":            func(s *v1beta1.LoadTestStatus) { s.Steps[0].CompletionTime = nil },
		"steps[1] is Running, but the step before it is Pending":   func(s *v1beta1.LoadTestStatus) { s.Steps[0].State = v1beta1.StepPending },
		"targetURL is empty, but a step has begun":                 func(s *v1beta1.LoadTestStatus) { s.TargetURL = "" },
		`steps[1] is in state "Cut", but the run is not finished`:  func(s *v1beta1.LoadTestStatus) { s.Steps[1].State = v1beta1.StepCut },
		"steps[1] has no timeLimit":                                func(s *v1beta1.LoadTestStatus) { s.Steps[1].TimeLimit = nil },
		"audits do not match spec.audits":                          func(s *v1beta1.LoadTestStatus) { s.Audits = make([]v1beta1.AuditStatus, 1) },
		"auditing does not belong to this part of the run":         func(s *v1beta1.LoadTestStatus) { s.Internal.Auditing = &v1beta1.Auditing{Point: v1beta1.AuditBefore} },
		"steps[1] is Running, but auditing is after the last step": func(s *v1beta1.LoadTestStatus) { s.Internal.Auditing = &v1beta1.Auditing{Point: v1beta1.AuditAfter} },
		"steps[1] has no duration":                                 func(s *v1beta1.LoadTestStatus) { s.Steps[1].Load.Duration = nil },
	} {
		t.Run(want, func(t *testing.T) {
			lt := limited(1)
			edit(&lt.Status)
			d := lifecycle.Decide(lt, policy.Rules{}, one(ready), began.Add(31*time.Second))
			want := "InvalidStatus: The run cannot continue from this status: status." + want + ". Create the LoadTest again."
			if got := failure(d.Status); got != want || d.Status.Verdict != v1beta1.VerdictError || !d.Forget {
				t.Errorf("verdict %s, not carried out %s; want Error, %s", d.Status.Verdict, got, want)
			}
		})
	}
	lt := continuing(limited(1))
	lt.Status.Steps[0].State, lt.Status.Steps[1].State = v1beta1.StepRunning, v1beta1.StepCut
	if got := failure(decide(lt, one(ready), 31*time.Second).Status); !strings.Contains(got, `steps[1] is in state "Cut", but the run is not finished`) {
		t.Errorf("a step that was cut before the one that runs: %s", got)
	}
}
