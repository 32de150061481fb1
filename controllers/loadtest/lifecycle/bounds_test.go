package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// A status that is refused again is written without what a baseline and the target were,
// from the time on that it is written without results.
func TestAbandonedStatusLosesItsSurroundingsWithItsResults(t *testing.T) {
	for refused, kept := range []bool{true, true, false, false} {
		lt := limited(1)
		lt.Status.Baseline, lt.Status.Environment = &v1beta1.BaselineStatus{Name: "before"}, &v1beta1.EnvironmentStatus{}
		s := lifecycle.Abandon(lt, lifecycle.StatusRefused("too large", refused), lifecycle.Observed{}, began.Add(time.Hour)).Status
		if (s.Baseline != nil) != kept || (s.Environment != nil) != kept {
			t.Errorf("refused %d times: baseline %v, environment %v; want them kept: %t", refused, s.Baseline, s.Environment, kept)
		}
	}
}

// storing adds an audit of what the first request of a run stores.
func storing(lt *v1beta1.LoadTest) *v1beta1.LoadTest {
	lt.Spec.Requests[0].Name, lt.Spec.Requests[0].Items = "append", 10
	lt.Spec.Audits = []v1beta1.Audit{{Name: "events", Stored: &v1beta1.Stored{Value: ".n", Requests: []string{"append"}}}}
	return lt
}

// lastOf is the last report of step 0, of workers that went to the end of it.
func lastOf(workers int32, window time.Duration) lifecycle.Observed {
	final := ready
	final.Final, final.Reported, final.Sent = true, true, 5
	seen := awaited()
	for range workers {
		seen.Workers = append(seen.Workers, final)
	}
	seen.Step = measured(0, workers, 5*int64(workers), began.Add(20*time.Second))
	seen.Step.ShortestWindow = window
	return seen
}

// A run whose status has no audits, as before there were any, goes on without them.
func TestRunWithoutAuditsInItsStatusGoesOn(t *testing.T) {
	lt := storing(limited(0))
	s := decide(lt, lastOf(1, 10*time.Second), 20*time.Second).Status
	if s.Verdict != "" || s.Steps[0].State != v1beta1.StepComplete || s.Steps[1].State != v1beta1.StepRunning {
		t.Errorf("verdict %q (%s), the steps are %s and %s; want none, Complete, Running", s.Verdict, failure(s), s.Steps[0].State, s.Steps[1].State)
	}
	lt = storing(&v1beta1.LoadTest{Spec: ladder()})
	lt.Spec.Terminate = true
	if s := decide(lt, lifecycle.Observed{}, 0).Status; s.Verdict != v1beta1.VerdictCanceled || said(s, v1beta1.ConditionAuditsPassed) != "" {
		t.Errorf("ended before it began: verdict %s, AuditsPassed is %s", s.Verdict, said(s, v1beta1.ConditionAuditsPassed))
	}
}

// Users without a rate may have sent any number of requests by the time that their worker
// ended: no bound is known of what the target stored.
func TestStoredItemsHaveNoBoundWithoutAPlannedNumber(t *testing.T) {
	for name, tc := range map[string]struct {
		ends  bool
		known bool
	}{"both said how many they sent": {false, true}, "one ended without saying so": {true, false}} {
		lt := storing(limited(0))
		lt.Status.Audits, lt.Status.Workers.Desired = plan.Audits(&lt.Spec), 2
		seen := lastOf(2, 10*time.Second)
		if tc.ends {
			seen.Workers[1].Final, seen.Workers[1].Pod = false, exchange.PodEnded
		}
		if a := decide(lt, seen, 20*time.Second).Status.Audits[0]; a.Acknowledged != 100 || (a.Unknown != nil) != tc.known {
			t.Errorf("%s: %d are acknowledged, %v unknown; want 100, and a bound: %t", name, a.Acknowledged, a.Unknown, tc.known)
		}
	}
}

// A number that the reader has not told of by the end of the wait is given up.
func TestNumberThatNoWorkerHasReadIsGivenUp(t *testing.T) {
	lt := storing(limited(1))
	second := &lt.Status.Steps[1]
	second.State, second.CompletionTime, second.Result = v1beta1.StepComplete, ptr.To(metav1.NewMicroTime(began.Add(40*time.Second))), &v1beta1.StepResult{}
	lt.Status.Audits = plan.Audits(&lt.Spec)
	lt.Status.Internal.Auditing = &v1beta1.Auditing{Point: v1beta1.AuditAfter, Since: *second.CompletionTime, Reason: v1beta1.ReasonAllStepsRan}
	if d := decide(lt, awaited(exchange.Worker{Pod: exchange.PodEnded, Connected: true, Ready: true}, ready), 41*time.Second); d.Directive.Read == nil || d.Directive.Read.Worker != 1 {
		t.Errorf("to be read by a worker that has ended: %+v", d.Directive.Read)
	}
	if s := lifecycle.Decide(lt, rules(t, "stop: {}"), one(ready), began.Add(41*time.Second)).Status; !strings.HasPrefix(failure(s), "Stopped: ") {
		t.Errorf("stopped: verdict %s, %s", s.Verdict, failure(s))
	}
	if d := decide(lt, awaited(leaving, ready), 41*time.Second); d.Directive.Read == nil || d.Directive.Read.Worker != 1 {
		t.Errorf("to be read: %+v", d.Directive.Read)
	}
	if d := decide(lt, one(ready), 41*time.Second); d.RequeueAfter != lt.Status.Audits[0].MaxWait.Duration-time.Second {
		t.Errorf("again after %v", d.RequeueAfter)
	}
	a := decide(lt, one(ready), time.Hour).Status.Audits[0]
	two := lt.DeepCopy()
	two.Spec.Audits = append(two.Spec.Audits, *lt.Spec.Audits[len(lt.Spec.Audits)-1].DeepCopy())
	two.Spec.Audits[len(two.Spec.Audits)-1].Name = "two"
	two.Status.Audits = plan.Audits(&two.Spec)
	two.Status.Audits[0].State, two.Status.Audits[0].Message = v1beta1.AuditInconclusive, "It was not read before."
	if got := decide(two, one(ready), time.Hour).Status.Audits; len(got) != 2 || got[0].Message != "It was not read before." || got[1].Message == "" {
		t.Errorf("audits %+v", got)
	}
	ended := lt.DeepCopy()
	ended.Spec.Terminate = true
	if s := decide(ended, one(ready), time.Hour).Status; s.Verdict != v1beta1.VerdictCanceled || s.Internal.Auditing != nil {
		t.Errorf("terminated: verdict %s, %+v", s.Verdict, s.Internal.Auditing)
	}
	if a.State != v1beta1.AuditInconclusive || !strings.Contains(a.Message, "no worker read it within ") {
		t.Errorf("the audit is %s: %s", a.State, a.Message)
	}
}

// continuing is a run that goes on when workers are lost.
func continuing(lt *v1beta1.LoadTest) *v1beta1.LoadTest {
	lt.Spec.Worker = &v1beta1.Worker{OnLoss: v1beta1.LossContinue}
	return lt
}

// No step begins once every worker has ended, though the run goes on without some.
func TestNoStepBeginsWithoutAWorker(t *testing.T) {
	for name, tc := range map[string]struct {
		workers []exchange.Worker
		state   v1beta1.StepState
		reason  string
	}{
		"one is left": {[]exchange.Worker{ready, ended}, v1beta1.StepRunning, ""},
		"none is":     {[]exchange.Worker{ended, ended}, v1beta1.StepSkipped, v1beta1.ReasonStoppedOnWorkerLoss},
	} {
		lt := continuing(rests(limited(1), 5*time.Second)) // until the 35th second
		lt.Status.Workers.Desired = 2
		s := decide(lt, awaited(tc.workers...), 35*time.Second).Status
		if complete := said(s, v1beta1.ConditionCarriedOut); s.Steps[2].State != tc.state || !strings.HasPrefix(complete, strings.TrimSpace("True "+tc.reason)) && tc.reason != "" {
			t.Errorf("%s: the step is %s, CarriedOut is %s; want %s, %s", name, s.Steps[2].State, complete, tc.state, tc.reason)
		}
	}
}

// A step that workers ended early, none of which is lost, ends the steps of a run that
// would go on without lost workers.
func TestStepThatIsCutWithoutALossEndsTheSteps(t *testing.T) {
	s := decide(continuing(limited(0)), lastOf(1, 9*time.Second), 20*time.Second).Status
	if s.Steps[0].State != v1beta1.StepCut || s.Steps[1].State != v1beta1.StepSkipped || s.Workers.Lost != 0 {
		t.Errorf("the steps are %s and %s, %d workers are lost; want Cut, Skipped, none", s.Steps[0].State, s.Steps[1].State, s.Workers.Lost)
	}
	stops := rests(limited(1), 5*time.Second)
	stops.Spec.Worker, stops.Status.Workers.Desired = &v1beta1.Worker{OnLoss: v1beta1.LossStop}, 2
	if s := decide(stops, awaited(ready, exchange.Worker{Pod: exchange.PodEnded}), 35*time.Second).Status; s.Steps[2].State != v1beta1.StepSkipped {
		t.Errorf("a run that is to stop at a loss goes on with a step that is %s", s.Steps[2].State)
	}
}

// A worker that began the step before says nothing of the one that is late.
func TestStepThatWorkersDidNotBeginIsStartedAnew(t *testing.T) {
	worker := ready
	worker.Begun = 1
	start := began.Add(30 * time.Second)
	seen := one(worker)
	seen.Since, seen.Undirected = start.Add(time.Second), true
	if got := decide(limited(1), seen, 32*time.Second).Status.Steps[1].StartTime; !got.After(start) {
		t.Errorf("the step begins at %v, want a later instant than the first", got)
	}
}

// The questions of both targets count: a worker that left one out is not ready.
func TestQuestionsOfBothTargetsAreAsked(t *testing.T) {
	for answers, want := range map[int32]string{
		3: "False PreflightFailed: preflight: 3 of 4 questions were asked; use a worker image of the operator's version.",
		4: "True PreflightPassed: ",
	} {
		spec := comparing()
		spec.Preflight, spec.Versus.Preflight = questions(), questions()
		lt := accepted(spec)
		seen := three(exchange.Worker{Connected: true, Ready: true, Answers: answers})
		for i := range seen.Workers {
			seen.Workers[i].Targets = 2
		}
		s := decide(lt, seen, time.Second).Status
		if got := said(s, v1beta1.ConditionTargetVerified); !strings.HasPrefix(got, want) {
			t.Errorf("%d answers: TargetVerified is %s, want %s", answers, got, want)
		}
	}
}

// The API server takes no event with a longer note than a condition has here: it would be lost.
func TestEventsAreAsShortAsConditions(t *testing.T) {
	lt := &v1beta1.LoadTest{Spec: ladder()}
	lt.Spec.Worker = &v1beta1.Worker{}
	for i := range 20 {
		lt.Spec.Worker.Tolerations = append(lt.Spec.Worker.Tolerations, corev1.Toleration{Key: fmt.Sprint("taint-", i)})
	}
	d := decide(lt, lifecycle.Observed{}, 0)
	for _, e := range d.Events {
		if c := v1beta1.NotCarriedOut(d.Status.Conditions); e.Message != c.Message || len(e.Message) != 1024 {
			t.Errorf("%d bytes in an event and %d in the condition, want the same 1024", len(e.Message), len(c.Message))
		}
	}
	if len(d.Events) == 0 {
		t.Error("there is no event")
	}
}
