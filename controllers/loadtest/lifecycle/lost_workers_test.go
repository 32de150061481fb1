package lifecycle_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
	"github.com/loadtest-dev/loadtest-operator/test/world"
)

// In a run that has begun, a worker is there, silent, or lost: silent is one whose pod
// runs and that has had no session for a while, lost one that has no such pod.
func TestWorkerLossDetection(t *testing.T) {
	now := began.Add(15 * time.Second)
	running := exchange.Worker{Pod: exchange.PodRunning, Connected: true, Ready: true}
	absent := func(d time.Duration) exchange.Worker {
		return exchange.Worker{Pod: exchange.PodRunning, Ready: true, LastSeen: now.Add(-d)}
	}
	ending := running
	ending.PodEnding = true
	cutOff := absent(6 * time.Second)
	cutOff.PodEnding = true
	other := exchange.Worker{Pod: exchange.PodRunning, Connected: true}
	for name, tc := range map[string]struct {
		job                 lifecycle.JobState
		worker              exchange.Worker
		ready, silent, lost int32
	}{
		"there":                        {lifecycle.JobPresent, running, 1, 0, 0},
		"there, and not ready":         {lifecycle.JobPresent, other, 0, 0, 0},
		"heard of long ago, and there": {lifecycle.JobPresent, exchange.Worker{Pod: exchange.PodRunning, Connected: true, Ready: true, LastSeen: began.Add(-time.Hour)}, 1, 0, 0},
		"never seen by this process":   {lifecycle.JobPresent, exchange.Worker{Pod: exchange.PodRunning}, 0, 1, 0},
		"absent for a moment":          {lifecycle.JobPresent, absent(5*time.Second - 1), 0, 0, 0},
		"absent for 5 s":               {lifecycle.JobPresent, absent(5 * time.Second), 0, 1, 0},
		"absent for minutes":           {lifecycle.JobPresent, absent(time.Hour), 0, 1, 0},
		"ending, and there":            {lifecycle.JobPresent, ending, 0, 0, 1},
		"ending, and not there":        {lifecycle.JobPresent, cutOff, 0, 0, 1},
		"ended":                        {lifecycle.JobPresent, exchange.Worker{Pod: exchange.PodEnded, Connected: true, Ready: true}, 0, 0, 1},
		"deleted":                      {lifecycle.JobPresent, exchange.Worker{Connected: true, Ready: true}, 0, 0, 1},
		"of a Job that is gone":        {lifecycle.JobAbsent, running, 0, 0, 1},
		"of a Job that has ended":      {lifecycle.JobFinished, running, 0, 0, 1},
		"of a Job that goes":           {lifecycle.JobDeleting, running, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			lt := limited(0)
			lt.Status.Workers.Desired = 2
			seen := awaited(tc.worker, other)
			seen.Job = tc.job
			if tc.job == lifecycle.JobAbsent || tc.job == lifecycle.JobFinished {
				lt.Status.Workers.Desired, seen.Workers = 1, seen.Workers[:1] // no other could be there
			}
			s := lifecycle.Decide(lt, policy.Rules{}, seen, now).Status
			same.As(t, "workers", v1beta1.WorkerCounts{Desired: lt.Status.Workers.Desired, Ready: tc.ready, Silent: tc.silent, Lost: tc.lost}, s.Workers)
		})
	}
}

// A worker that is heard of again is lost no more.
func TestWorkerThatIsHeardOfAgainIsNotLost(t *testing.T) {
	lt := limited(0)
	lt.Status.Workers.Lost = 1
	lt.Status.Conditions = []metav1.Condition{{
		Type: v1beta1.ConditionWorkersReady, Status: metav1.ConditionFalse, Reason: v1beta1.ReasonWorkerLost, Message: "1 of 1 worker lost.",
	}}
	s := lifecycle.Decide(lt, policy.Rules{}, one(exchange.Worker{Connected: true, Ready: true}), began.Add(15*time.Second)).Status
	if got := said(s, v1beta1.ConditionWorkersReady); s.Workers.Lost != 0 || got != "True AllReady: All 1 worker ready." {
		t.Errorf("%d lost, WorkersReady %s; want none, and all ready", s.Workers.Lost, got)
	}
}

// What was said of a loss stays when another worker falls silent.
func TestLossIsSaidBeforeSilence(t *testing.T) {
	lt := continuing(limited(0))
	lt.Status.Workers.Desired, lt.Status.Workers.Lost = 3, 1
	d := lifecycle.Decide(lt, policy.Rules{}, awaited(exchange.Worker{Pod: exchange.PodEnded}, cutOff, ready), began.Add(15*time.Second))
	if got := said(d.Status, v1beta1.ConditionWorkersReady); got != "" || len(d.Events) > 0 || d.Status.Workers.Silent != 1 {
		t.Errorf("WorkersReady is written anew: %s, events %v, workers %+v", got, d.Events, d.Status.Workers)
	}
}

// The message names the first worker whose pod has a known end.
func TestLossMessageNamesTheFirstEndedWorker(t *testing.T) {
	ended := exchange.Worker{Pod: exchange.PodEnded, PodMessage: "OOMKilled, exit code 137"}
	waits := exchange.Worker{Pod: exchange.PodWaiting, Connected: true, PodMessage: "waits for a node"}
	for name, tc := range map[string]struct {
		workers []exchange.Worker
		want    string
	}{
		"the one that ended":     {[]exchange.Worker{waits, ended, waits}, "1 of 3 workers lost; worker 1: OOMKilled, exit code 137."},
		"one that ended somehow": {[]exchange.Worker{{Pod: exchange.PodEnded}, ended, waits}, "2 of 3 workers lost; worker 1: OOMKilled, exit code 137."},
		"one that had to end":    {[]exchange.Worker{waits, {Pod: exchange.PodRunning, Connected: true, Cut: true}, waits}, "1 of 3 workers lost; worker 1: had to end before its step was over."},
		"one that was evicted":   {[]exchange.Worker{waits, {Pod: exchange.PodRunning, Connected: true, Cut: true, PodEnding: true, PodMessage: "its pod was evicted"}, waits}, "1 of 3 workers lost; worker 1: had to end before its step was over: its pod was evicted."},
		"one that was deleted":   {[]exchange.Worker{waits, {PodTakenAway: true, PodMessage: "its pod was deleted"}, waits}, "1 of 3 workers lost; worker 1: its pod was deleted."},
		"no pod ended":           {[]exchange.Worker{waits, waits, {}}, "1 of 3 workers lost."},
	} {
		t.Run(name, func(t *testing.T) {
			lt := limited(0)
			lt.Status.Workers.Desired = 3
			d := lifecycle.Decide(lt, policy.Rules{}, awaited(tc.workers...), began.Add(15*time.Second))
			same.As(t, "condition", "False WorkerLost: "+tc.want, said(d.Status, v1beta1.ConditionWorkersReady))
			same.As(t, "events", []lifecycle.Event{{Warning: true, Reason: v1beta1.ReasonWorkerLost, Message: tc.want}}, d.Events)
		})
	}
}

// rests makes the second step of a run a pause.
func rests(lt *v1beta1.LoadTest, d time.Duration) *v1beta1.LoadTest {
	after := lt.Status.Steps[1]
	after.State, after.StartTime = v1beta1.StepPending, nil
	lt.Status.Steps[1].Name, lt.Status.Steps[1].Load = "pause", paused(d)
	lt.Status.Steps = append(lt.Status.Steps, after)
	return lt
}

func paused(d time.Duration) v1beta1.StepLoad {
	return v1beta1.StepLoad{Pause: &metav1.Duration{Duration: d}}
}

// Workers are directed to nothing in a pause: it is in no worker's plan.
func TestAPauseIsNoStart(t *testing.T) {
	d := lifecycle.Decide(rests(limited(1), time.Minute), policy.Rules{}, one(exchange.Worker{Connected: true, Ready: true}), began.Add(31*time.Second))
	if d.Directive.Start != nil || d.Directive.Acknowledged != 1 {
		t.Errorf("in a pause workers are directed %+v, want the step before it acknowledged", d.Directive)
	}
	if want := 58500 * time.Millisecond; d.RequeueAfter != want { // 500 ms ahead of its end
		t.Errorf("again after %v, want %v", d.RequeueAfter, want)
	}
}

// The instant to look at a pause again that is shorter than its lead has passed.
func TestShortPauseIsLookedAtAgainAtOnce(t *testing.T) {
	seen := one(exchange.Worker{Connected: true, Ready: true, Final: true})
	seen.Step = &exchange.Report{Merged: measure.NewMeasurement(1), Reporting: 1, Until: began.Add(20 * time.Second), ShortestWindow: 10 * time.Second}
	d := lifecycle.Decide(rests(limited(0), time.Millisecond), policy.Rules{}, seen, began.Add(20*time.Second))
	if d.Status.Steps[1].State != v1beta1.StepRunning || d.RequeueAfter != time.Millisecond {
		t.Errorf("the pause is %s, again after %v; want Running, at once", d.Status.Steps[1].State, d.RequeueAfter)
	}
}

// A run that loses its worker before any step was measured has no generator to
// speak of. It is not held before a step that does not begin.
func TestWorkerLostInAPauseEndsTheRun(t *testing.T) {
	lt := limited(0)
	lt.Spec.Suspend = true
	lt.Status.Steps[0].Load = paused(time.Second)
	d := lifecycle.Decide(lt, policy.Rules{}, awaited(exchange.Worker{Pod: exchange.PodEnded}), began.Add(11*time.Second))
	if s := d.Status; s.Verdict != v1beta1.VerdictInconclusive || said(s, v1beta1.ConditionGeneratorHealthy) != "" || s.Steps[1].State != v1beta1.StepSkipped {
		t.Errorf("verdict %s, generator %q, second step %s; want Inconclusive, nothing, Skipped", s.Verdict, said(s, v1beta1.ConditionGeneratorHealthy), s.Steps[1].State)
	}
	same.As(t, "time until the next pass, 30s for workers to end", 30*time.Second, d.RequeueAfter)
}

// A report that is of another plan ends the run once, and as what it is.
func TestReportOfAnotherPlanEndsTheRun(t *testing.T) {
	seen := one(exchange.Worker{Connected: true, Ready: true, Final: true})
	seen.Step = &exchange.Report{Merged: measure.NewMeasurement(2), Reporting: 1, Until: began.Add(20 * time.Second)}
	d := lifecycle.Decide(limited(0), policy.Rules{}, seen, began.Add(20*time.Second))
	want := "InvalidResult: step one: measured 2 requests, the spec has 1 and the status 1"
	same.As(t, "condition", want, failure(d.Status))
	if s := d.Status; s.Steps[0].State != v1beta1.StepCut || s.Steps[1].State != v1beta1.StepSkipped || len(d.Events) != 1 {
		t.Errorf("the steps are %s and %s with events %v; want Cut, Skipped and one", s.Steps[0].State, s.Steps[1].State, d.Events)
	}
}

// Questions with headers are no client's where there is no limiter.
func TestQuestionsMatterToLimitersOnly(t *testing.T) {
	lt := limited(0)
	lt.Spec.Audits = nil
	lt.Spec.Preflight = []v1beta1.Preflight{{HTTP: &v1beta1.Query{Headers: []v1beta1.Header{{Name: "A", Value: ptr.To("b")}}}}}
	seen := one(exchange.Worker{Connected: true, Ready: true})
	seen.Step = &exchange.Report{Merged: measure.NewMeasurement(1), Reporting: 1, Until: began.Add(15 * time.Second)}
	if s := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(15*time.Second)).Status; s.Steps[0].Result == nil || s.Steps[0].Result.RateLimit != nil {
		t.Errorf("the result is %+v, want one without an audit", s.Steps[0].Result)
	}
}

// lossStories are runs that go on when a worker is lost.
var lossStories = map[string]func(*world.World){
	"goes-on-without-a-worker": func(w *world.World) {
		goesOn(w)
		w.Workers[1].DiesIn = 1500 * time.Millisecond
	},
	"goes-on-without-a-worker-and-breaches": func(w *world.World) {
		goesOn(w)
		w.Workers[1].DiesIn = 1500 * time.Millisecond
		w.After(6*time.Second, func() { w.Latency = 300 * time.Millisecond })
	},
	"goes-on-without-a-worker-that-is-drained-in-a-rest": func(w *world.World) {
		goesOn(w)
		w.After(6*time.Second, w.Workers[0].Drain)
	},
	"goes-on-without-a-worker-by-users-without-a-rate": func(w *world.World) {
		goesOn(w)
		w.LoadTest().Spec.Ladder.RatePerUser = nil
		w.Workers[1].DiesIn = 1500 * time.Millisecond
	},
	"goes-on-without-a-worker-and-aborts": func(w *world.World) {
		goesOn(w)
		aborts(w)
		w.LoadTest().Spec.Ladder.RatePerUser = nil
		w.Workers[1].DiesIn = 1500 * time.Millisecond
		w.After(26*time.Second, func() { w.Latency = 300 * time.Millisecond })
	},
	"goes-on-until-no-worker-is-left": func(w *world.World) {
		goesOn(w)
		w.LoadTest().Spec.Repetitions = 2
		for i, x := range w.Workers {
			w.After(time.Duration(4+5*i)*time.Second, func() { x.Die("OOMKilled, exit code 137") })
		}
	},
	"goes-on-while-a-worker-is-silent": func(w *world.World) {
		goesOn(w)
		w.LoadTest().Spec.Target.Timeout = &metav1.Duration{Duration: time.Second}
		w.After(4*time.Second, w.Workers[1].FallSilent)
	},
}

func goesOn(w *world.World) {
	if w.LoadTest().Spec.Worker == nil {
		w.LoadTest().Spec.Worker = &v1beta1.Worker{}
	}
	w.LoadTest().Spec.Worker.OnLoss = v1beta1.LossContinue
}
