package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// said is a condition of a status, as status, reason and message.
func said(s v1beta1.LoadTestStatus, kind string) string {
	c := meta.FindStatusCondition(s.Conditions, kind)
	if c == nil {
		return ""
	}
	return string(c.Status) + " " + c.Reason + ": " + c.Message
}

// failure is why a run could not go to its end; empty: it did, or it has not finished.
func failure(s v1beta1.LoadTestStatus) string {
	c := v1beta1.NotCarriedOut(s.Conditions)
	if c == nil {
		return ""
	}
	return c.Reason + ": " + c.Message
}

// A finished run may lack its steps: its workers need to hold none of their results.
func TestFinishedRunAcknowledgesEveryStep(t *testing.T) {
	lt := &v1beta1.LoadTest{}
	meta.SetStatusCondition(&lt.Status.Conditions, metav1.Condition{Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue})
	if d := lifecycle.Decide(lt, policy.Rules{}, one(ready), began).Directive; !d.Finish || d.Acknowledged != plan.MaxSteps {
		t.Errorf("finish %v, %d steps acknowledged; want true, %d", d.Finish, d.Acknowledged, plan.MaxSteps)
	}
}

// After a run its workers end, by themselves or with their Job, and are forgotten;
// in the end the LoadTest goes.
func TestFinishedRunRemovesItsJobAndThenItself(t *testing.T) {
	type will struct {
		Job            lifecycle.JobAction
		Forget, Delete bool
		RequeueAfter   time.Duration
	}
	minute, none := ptr.To[int32](60), ptr.To[int32](0)
	for name, tc := range map[string]struct {
		job   lifecycle.JobState
		after time.Duration
		ttl   *int32
		want  will
	}{
		"workers end":                      {lifecycle.JobPresent, 0, nil, will{RequeueAfter: 30 * time.Second}},
		"workers do not end":               {lifecycle.JobPresent, 30 * time.Second, nil, will{Job: lifecycle.JobDelete}},
		"their Job goes":                   {lifecycle.JobDeleting, time.Hour, nil, will{}},
		"their Job is gone":                {lifecycle.JobAbsent, time.Second, nil, will{Forget: true}},
		"workers have ended":               {lifecycle.JobFinished, time.Second, nil, will{Forget: true, RequeueAfter: time.Hour - time.Second}},
		"their pods are kept for an hour":  {lifecycle.JobFinished, time.Hour, nil, will{Forget: true, Job: lifecycle.JobDelete}},
		"there never were any":             {lifecycle.JobForeign, time.Second, nil, will{Forget: true}},
		"its time to live":                 {lifecycle.JobFinished, 59 * time.Second, minute, will{Forget: true, RequeueAfter: time.Second}},
		"its time to live is over":         {lifecycle.JobFinished, time.Minute, minute, will{Forget: true, Delete: true}},
		"no time to live":                  {lifecycle.JobPresent, 0, none, will{Delete: true, RequeueAfter: 30 * time.Second}},
		"the sooner of the two":            {lifecycle.JobPresent, 10 * time.Second, minute, will{RequeueAfter: 20 * time.Second}},
		"its time to live, not its Job's":  {lifecycle.JobPresent, 50 * time.Second, minute, will{Job: lifecycle.JobDelete, RequeueAfter: 10 * time.Second}},
		"a Job that is there for too long": {lifecycle.JobPresent, time.Hour, minute, will{Job: lifecycle.JobDelete, Delete: true}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := ladder()
			spec.Terminate, spec.TTLSecondsAfterFinished = true, tc.ttl
			d := lifecycle.Decide(accepted(spec), policy.Rules{}, lifecycle.Observed{Job: tc.job}, began.Add(tc.after))
			same.As(t, "decision", tc.want, will{d.Job, d.Forget, d.Delete, d.RequeueAfter})
			if !d.Directive.Finish || len(d.Events) > 0 {
				t.Errorf("workers are directed %+v with events %v, want that they may go, in silence", d.Directive, d.Events)
			}
		})
	}
}

// A run that is to be ended before it was taken up never begins.
func TestTerminatedFromTheBeginning(t *testing.T) {
	spec := ladder()
	spec.Terminate = true
	s := accepted(spec).Status
	if s.Verdict != v1beta1.VerdictCanceled || s.Phase != v1beta1.PhaseFinished || s.StartTime != nil || len(s.Steps) > 0 {
		t.Errorf("verdict %s, phase %s, started %v with %d steps; want Canceled before it began", s.Verdict, s.Phase, s.StartTime, len(s.Steps))
	}
}

// Workers of a run that is held before it began are of no use, whatever became of
// their Job.
func TestHeldBeforeItBegan(t *testing.T) {
	for job, want := range map[lifecycle.JobState]lifecycle.JobAction{
		lifecycle.JobAbsent: lifecycle.JobKeep, lifecycle.JobPresent: lifecycle.JobDelete, lifecycle.JobFinished: lifecycle.JobDelete,
		lifecycle.JobDeleting: lifecycle.JobKeep,
	} {
		lt := accepted(ladder())
		lt.Spec.Suspend = true
		seen := three(exchange.Worker{Connected: true})
		seen.Job = job
		d := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(time.Second))
		if d.Job != want || d.Status.Workers.Ready != 0 || d.Status.StartTime != nil {
			t.Errorf("Job %v: to do %v, %d workers ready, started %v; want %v, none, not", job, d.Job, d.Status.Workers.Ready, d.Status.StartTime, want)
		}
	}
}

// A deadline that passed stays passed, even if it is taken back or put off while the
// last reports are awaited.
func TestADeadlineTakenBackTooLate(t *testing.T) {
	for message, seconds := range map[string]*int64{
		"The run did not finish within activeDeadlineSeconds; what was measured is kept.":         nil,
		"The run did not finish within activeDeadlineSeconds (9000s); what was measured is kept.": ptr.To[int64](9000),
	} {
		lt := limited(0)
		stop := metav1.NewMicroTime(began.Add(12 * time.Second))
		lt.Spec.ActiveDeadlineSeconds, lt.Status.Internal.StopTime = seconds, &stop
		s := lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{Job: lifecycle.JobFinished, Workers: make([]exchange.Worker, 1)}, began.Add(13*time.Second)).Status
		same.As(t, "condition", "DeadlineExceeded: "+message, failure(s))
		if s.Steps[0].State != v1beta1.StepCut || s.Steps[1].State != v1beta1.StepSkipped {
			t.Errorf("the steps are %s and %s, want Cut and Skipped", s.Steps[0].State, s.Steps[1].State)
		}
	}
}

// The instant from which a run is cut is chosen once.
func TestTheCutIsNotPutOff(t *testing.T) {
	lt := limited(0)
	stop := metav1.NewMicroTime(began.Add(12 * time.Second))
	lt.Spec.Terminate, lt.Status.Internal.StopTime = true, &stop
	d := lifecycle.Decide(lt, policy.Rules{}, one(exchange.Worker{Connected: true, Ready: true}), began.Add(13*time.Second))
	if !d.Status.Internal.StopTime.Equal(&stop) || !d.Directive.Stop {
		t.Errorf("cut from %v, directed %+v; want from %v", d.Status.Internal.StopTime, d.Directive, stop)
	}
	if want := 14 * time.Second; d.RequeueAfter != want { // 15 s after the cut
		t.Errorf("again after %v, want %v", d.RequeueAfter, want)
	}
}

// A pause that is cut is not complete, even if its time is over by then.
func TestAPauseIsCut(t *testing.T) {
	begin := began
	for want, parent := range map[string]*lifecycle.Parent{
		"False Terminated: spec.terminate ended the run; what was measured is kept.":                             nil,
		"False Terminated: LoadTest sale, which has the load, ended it; what was measured is kept.":              {Name: "sale", Lists: true, Begin: &begin, Ends: true},
		"True EndedWithOthers: All loads ended that are not in the background. The steps after it were skipped.": {Name: "sale", Lists: true, Begin: &begin, Ends: true, Background: true},
	} {
		lt := rests(limited(1), 5*time.Second)
		lt.Spec.Terminate, lt.Status.Internal.StopTime = parent == nil, ptr.To(metav1.NewMicroTime(began.Add(31*time.Second)))
		seen := one(exchange.Worker{Connected: true, Ready: true})
		seen.Parent = parent
		s := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(36*time.Second)).Status
		if got := said(s, v1beta1.ConditionCarriedOut); got != want || s.Steps[0].State != v1beta1.StepComplete || s.Steps[1].State != v1beta1.StepCut || s.Steps[2].State != v1beta1.StepSkipped {
			t.Errorf("the steps are %s, %s and %s, CarriedOut %s; want Complete, Cut, Skipped, %s", s.Steps[0].State, s.Steps[1].State, s.Steps[2].State, got, want)
		}
	}
}

// A load in the background that ends before anything was reported of its step is not judged by it.
func TestALoadInTheBackgroundEndsWithoutAReport(t *testing.T) {
	lt, begin := limited(0), began
	lt.Status.Internal.StopTime = ptr.To(metav1.NewMicroTime(began.Add(12 * time.Second)))
	seen := one(exchange.Worker{Connected: true, Ready: true, Final: true})
	seen.Parent = &lifecycle.Parent{Name: "sale", Lists: true, Begin: &begin, Ends: true, Background: true}
	s := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(60*time.Second)).Status
	if s.Steps[0].State != v1beta1.StepCut || s.Verdict != v1beta1.VerdictInconclusive {
		t.Errorf("the step is %s, verdict %s; want Cut, Inconclusive", s.Steps[0].State, s.Verdict)
	}
}

// one is a run's only worker, whose pod runs.
func one(w exchange.Worker) lifecycle.Observed {
	return awaited(there(w))
}

func TestConditionsHaveGenerationAndTime(t *testing.T) {
	lt := &v1beta1.LoadTest{Spec: ladder()}
	lt.Generation = 7
	s := lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{}, began).Status
	if s.ObservedGeneration != 7 || len(s.Conditions) == 0 {
		t.Errorf("generation %d was observed, with %d conditions", s.ObservedGeneration, len(s.Conditions))
	}
	for _, c := range s.Conditions {
		if c.ObservedGeneration != 7 || !c.LastTransitionTime.Time.Equal(began) {
			t.Errorf("%s is of generation %d and %v, want 7 and %v", c.Type, c.ObservedGeneration, c.LastTransitionTime, began)
		}
	}
}

// A message is as long as it may be, and not longer.
func TestMessagesAreBounded(t *testing.T) {
	const rest = " has a status from 200 to 299."
	for n, want := range map[int]string{1024: strings.Repeat("x", 1024-len(rest)) + rest, 1025: strings.Repeat("x", 1025-len(rest)) + rest[:len(rest)-4] + "…"} {
		spec := ladder()
		spec.Preflight = []v1beta1.Preflight{{Name: strings.Repeat("x", n-len(rest))}}
		s := lifecycle.Decide(accepted(spec), policy.Rules{}, three(exchange.Worker{Connected: true, Ready: true, Answers: 16}), began).Status
		c := meta.FindStatusCondition(s.Conditions, v1beta1.ConditionTargetVerified)
		if c == nil || c.Message != want {
			t.Errorf("of a message of %d bytes there are: %v", n, c)
		}
	}
}
