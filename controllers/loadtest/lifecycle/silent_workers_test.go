package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// cutOff is a worker that has had no session in the life of this process.
var cutOff = exchange.Worker{Pod: exchange.PodRunning}

// measured is a report of a step in which so many requests were sent.
func measured(step int32, reporting int32, sent int64, until time.Time) *exchange.Report {
	m := measure.NewMeasurement(1)
	r := &m.Requests[0]
	m.Due, m.Window, r.Sent, r.Expected, r.Outcomes[measure.Success] = sent, time.Second, sent, sent, sent
	return &exchange.Report{Step: step, Merged: m, Reporting: reporting, Until: until, MeanWindow: time.Second}
}

// A process that takes a run over after the limit of its step gives the workers the
// time to find it: what they hold is not lost by its absence.
func TestStepIsNotGivenUpBeforeWorkersCouldFindTheOperator(t *testing.T) {
	over := began.Add(5 * time.Minute) // the limit was 110 s after began
	stop := ptr.To(metav1.NewMicroTime(began.Add(12 * time.Second)))
	for name, tc := range map[string]struct {
		stop   *metav1.MicroTime
		worker exchange.Worker
		// since is for how long this process has been there; negative: it has not
		// directed the run yet.
		since time.Duration
		wake  time.Duration // 0: it is given up
	}{
		"in its first pass":                  {nil, cutOff, -1, 5 * time.Second},
		"after 10 s":                         {nil, cutOff, 10 * time.Second, 20 * time.Second},
		"after 30 s":                         {nil, cutOff, 30 * time.Second, 0},
		"after 30 s, with its worker there":  {nil, ready, 30 * time.Second, 70 * time.Second},
		"after 100 s, with its worker there": {nil, ready, 100 * time.Second, 0},
		"cut, in its first pass":             {stop, cutOff, -1, 5 * time.Second},
		"cut, after 10 s":                    {stop, cutOff, 10 * time.Second, 20 * time.Second},
		"cut, after 10 s, its worker there":  {stop, ready, 10 * time.Second, 20 * time.Second},
		"cut, after 30 s":                    {stop, cutOff, 30 * time.Second, 0},
		"in its first pass, the worker gone": {nil, exchange.Worker{Pod: exchange.PodEnded}, -1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			lt := limited(0)
			lt.Status.Internal.StopTime, lt.Spec.Terminate = tc.stop, tc.stop != nil
			lt.Status.Steps[0].ReportedUntil = lt.Status.Steps[0].StartTime // so that it was begun
			seen := awaited(tc.worker)
			if seen.Since = over.Add(-tc.since); tc.since < 0 {
				seen.Since = time.Time{}
			}
			d := lifecycle.Decide(lt, policy.Rules{}, seen, over)
			if given := d.Status.Verdict != ""; given != (tc.wake == 0) {
				t.Fatalf("verdict %q, step %s", d.Status.Verdict, d.Status.Steps[0].State)
			}
			if tc.wake != 0 && d.RequeueAfter != tc.wake {
				t.Errorf("again after %v, want %v", d.RequeueAfter, tc.wake)
			}
		})
	}
}

// Before a process has directed a run it has no sessions of it, and says nothing.
func TestFirstPassSaysNothingOfSessions(t *testing.T) {
	lt := limited(0)
	lt.Status.Workers.Ready = 1
	seen := awaited(cutOff)
	seen.Since = time.Time{}
	if got, want := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(15*time.Second)).Status.Workers, lt.Status.Workers; got != want {
		t.Errorf("workers %+v, want %+v as before", got, want)
	}
}

// Of a worker whose messages the operator does not accept, people see why.
func TestSilenceSaysWhatIsNotAccepted(t *testing.T) {
	refused := cutOff
	refused.LastSeen, refused.Refusal = began.Add(12*time.Second), "requests[0].outcomes: 13 classes, there are 16"
	d := lifecycle.Decide(limited(0), policy.Rules{}, awaited(refused), began.Add(20*time.Second))
	const want = "False WorkerSilent: The operator does not accept what worker 0 sends: requests[0].outcomes: 13 classes, there are 16. Its image may be of another version than the operator. The run waits for its measurements until the step's time limit."
	same.As(t, "WorkersReady", want, said(d.Status, v1beta1.ConditionWorkersReady))
}

// People see that a worker is silent, and since when; the status is written once.
func TestSilenceIsSaidOnce(t *testing.T) {
	lt := limited(0)
	left := cutOff
	left.LastSeen = began.Add(12 * time.Second)
	d := lifecycle.Decide(lt, policy.Rules{}, awaited(left), began.Add(20*time.Second))
	const want = "False WorkerSilent: 1 of 1 worker silent since 10:00:12 UTC: the pod runs, but the worker is not connected. The run waits for its measurements until the step's time limit."
	if got := said(d.Status, v1beta1.ConditionWorkersReady); got != want || len(d.Events) != 1 {
		t.Errorf("WorkersReady is %s with %d events, want %s with one", got, len(d.Events), want)
	}
	lt.Status = d.Status
	again := awaited(cutOff) // as it is to another process
	again.Since = began.Add(24 * time.Second)
	d = lifecycle.Decide(lt, policy.Rules{}, again, began.Add(30*time.Second))
	if got := said(d.Status, v1beta1.ConditionWorkersReady); got != want || len(d.Events) != 0 {
		t.Errorf("WorkersReady is %s with events %v, want it as before", got, d.Events)
	}
	lt.Status = d.Status
	s := lifecycle.Decide(lt, policy.Rules{}, one(ready), began.Add(40*time.Second)).Status
	if got := said(s, v1beta1.ConditionWorkersReady); s.Workers.Silent != 0 || got != "True AllReady: All 1 worker ready." {
		t.Errorf("%d silent, WorkersReady %s; want none, and all ready", s.Workers.Silent, got)
	}
}

// What was measured before all workers were lost stands; the run is no error.
func TestWhatWasMeasuredBeforeAllWereLostStands(t *testing.T) {
	for name, seen := range map[string]lifecycle.Observed{
		"silent until the limit": awaited(cutOff),
		"ended":                  awaited(exchange.Worker{Pod: exchange.PodEnded}),
	} {
		t.Run(name, func(t *testing.T) {
			lt := limited(1)
			s := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(5*time.Minute)).Status
			if s.Verdict != v1beta1.VerdictInconclusive || s.Workers.Lost != 1 || s.Steps[0].State != v1beta1.StepComplete || s.Steps[1].State != v1beta1.StepCut {
				t.Errorf("verdict %s, %d lost, steps %s and %s; want Inconclusive, 1, Complete and Cut", s.Verdict, s.Workers.Lost, s.Steps[0].State, s.Steps[1].State)
			}
			lt = limited(0)
			s = lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(5*time.Minute)).Status
			if s.Verdict != v1beta1.VerdictError || s.Steps[0].State != v1beta1.StepCut {
				t.Errorf("with nothing measured: verdict %s, step %s; want Error and Cut", s.Verdict, s.Steps[0].State)
			}
		})
	}
}

// A process that took the run over has the reports of the workers one after another:
// until they are all here, what stands in the status stands.
func TestCountsNeverFall(t *testing.T) {
	until := began.Add(20 * time.Second)
	for name, tc := range map[string]struct {
		workers   []exchange.Worker
		reporting int32
		sent      int64
		want      int64
		now       time.Duration
	}{
		"one of three is here":                   {[]exchange.Worker{ready, cutOff, cutOff}, 1, 100, 300, 20 * time.Second},
		"one of three is here, with more":        {[]exchange.Worker{ready, cutOff, cutOff}, 1, 400, 300, 20 * time.Second},
		"all are here":                           {[]exchange.Worker{ready, ready, ready}, 3, 330, 330, 20 * time.Second},
		"one was lost, and two are here":         {[]exchange.Worker{ready, ready, ended}, 2, 220, 300, 20 * time.Second},
		"one was lost, and two are beyond it":    {[]exchange.Worker{ready, ready, ended}, 2, 320, 320, 20 * time.Second},
		"one was lost, and two ended with less":  {[]exchange.Worker{final, final, ended}, 2, 280, 300, 20 * time.Second},
		"one was lost, and two ended with more":  {[]exchange.Worker{final, final, ended}, 2, 380, 380, 20 * time.Second},
		"one ended, and two are given up":        {[]exchange.Worker{final, cutOff, cutOff}, 1, 400, 400, 2 * time.Minute},
		"reports of an earlier version are more": {[]exchange.Worker{final, final, final}, 3, 500, 500, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			lt := limited(0)
			lt.Status.Workers.Desired = 3
			step := &lt.Status.Steps[0]
			step.WorkersReporting, step.ReportedUntil = 3, ptr.To(metav1.NewMicroTime(began.Add(15*time.Second)))
			step.Result = &v1beta1.StepResult{Counts: v1beta1.Counts{Sent: 300, Completed: 300, Expected: 300}, Due: 300}
			seen := awaited(tc.workers...)
			seen.Step = measured(0, tc.reporting, tc.sent, until)
			s := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(tc.now)).Status
			less := seen
			less.Step = measured(0, tc.reporting, 299, until)
			less.Step.Merged.Due = 1000
			if got := lifecycle.Decide(lt, policy.Rules{}, less, began.Add(tc.now)).Status.Steps[0].Result; got.Sent != 300 {
				t.Errorf("of less that was sent, and more that was due, there are %d", got.Sent)
			}
			if got := s.Steps[0].Result; got.Sent != tc.want || got.Due != tc.want {
				t.Errorf("%d sent of %d due, want %d", got.Sent, got.Due, tc.want)
			}
		})
	}
}

// A step begins when every worker can be directed to: one that has no session for a
// moment would begin it late, and one that is about to end, not at all.
func TestStepBeginsWhenEveryWorkerIsConnected(t *testing.T) {
	now := began.Add(30 * time.Second)
	left := cutOff
	left.LastSeen = now.Add(-time.Second)
	away := cutOff
	away.LastSeen = now.Add(-100 * time.Second)
	for name, tc := range map[string]struct {
		worker exchange.Worker
		pause  bool
		state  v1beta1.StepState
		wake   time.Duration
	}{
		"it is there":                       {ready, false, v1beta1.StepRunning, 100*time.Second + 500*time.Millisecond},
		"it left a second ago":              {left, false, v1beta1.StepPending, 4 * time.Second},
		"it left for longer than a step is": {away, false, v1beta1.StepSkipped, 30 * time.Second},
		"its pod is being deleted":          {leaving, false, v1beta1.StepSkipped, 30 * time.Second},
		"a pause begins without it":         {left, true, v1beta1.StepRunning, 0},
	} {
		t.Run(name, func(t *testing.T) {
			lt := limited(1)
			next := &lt.Status.Steps[1]
			next.State, next.StartTime = v1beta1.StepPending, nil
			if tc.pause {
				next.Load = paused(time.Minute)
			}
			d := lifecycle.Decide(lt, policy.Rules{}, one(tc.worker), now)
			s := d.Status
			if s.Steps[1].State != tc.state {
				t.Fatalf("the step is %s, want %s", s.Steps[1].State, tc.state)
			}
			if tc.wake != 0 && d.RequeueAfter != tc.wake {
				t.Errorf("again after %v, want %v", d.RequeueAfter, tc.wake)
			}
			if tc.state == v1beta1.StepSkipped && (s.Verdict != v1beta1.VerdictInconclusive || s.Workers.Lost != 1) {
				t.Errorf("verdict %s with %d lost, want Inconclusive with one", s.Verdict, s.Workers.Lost)
			}
		})
	}
}

// A run that is held waits for a worker that is silent as long as it is held.
func TestHeldRunGivesNoWorkerUp(t *testing.T) {
	lt := limited(1)
	lt.Spec.Suspend = true
	lt.Status.Steps[1].State, lt.Status.Steps[1].StartTime = v1beta1.StepPending, nil
	lt.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionSuspended, Status: metav1.ConditionFalse, LastTransitionTime: metav1.NewTime(began)}} // held before
	d := lifecycle.Decide(lt, rules(t, "limits: {namespaces: [{held: 1ns}]}"), awaited(cutOff), began.Add(time.Hour))
	same.As(t, "time until the next pass", time.Millisecond, d.RequeueAfter)
	s := d.Status
	if s.Verdict != "" || s.Workers.Silent != 1 || s.Phase != v1beta1.PhaseSuspended {
		t.Errorf("verdict %q, %d silent in phase %s; want none, 1, Suspended", s.Verdict, s.Workers.Silent, s.Phase)
	}
}

// A worker that is silent when the run is over, and had reported all, was not lost.
func TestWorkerThatLeftAfterItsLastReportIsNotLost(t *testing.T) {
	lt := limited(1)
	lt.Status.Workers.Silent = 1
	done := cutOff
	done.Final = true
	seen := awaited(done)
	seen.Step = measured(1, 1, 10, began.Add(40*time.Second))
	s := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(40*time.Second)).Status
	if s.Verdict == "" || s.Workers.Silent != 0 || s.Workers.Lost != 0 || !strings.HasPrefix(said(s, v1beta1.ConditionWorkersReady), "True AllReady") {
		t.Errorf("verdict %q, workers %+v, WorkersReady %s", s.Verdict, s.Workers, said(s, v1beta1.ConditionWorkersReady))
	}
}

// A worker whose pod is being deleted does not count as ready before the first step.
func TestRunDoesNotBeginWithAWorkerThatIsEnding(t *testing.T) {
	spec := ladder()
	spec.Parallelism = ptr.To[int32](1)
	lt := accepted(spec)
	s := lifecycle.Decide(lt, policy.Rules{}, awaited(leaving), began.Add(time.Second)).Status
	if s.Steps[0].State != v1beta1.StepPending || s.Workers.Ready != 0 {
		t.Errorf("the first step is %s with %d ready, want Pending with none", s.Steps[0].State, s.Workers.Ready)
	}
}

// A step whose instant has passed before any worker was directed to begin it, as when
// the operator ended in between, begins anew and together instead of late.
func TestStepThatNoWorkerWasDirectedToBeginStartsAnew(t *testing.T) {
	start := began.Add(30 * time.Second)
	report := measured(1, 1, 5, start)
	for name, tc := range map[string]struct {
		edit    func(*v1beta1.LoadTest, *lifecycle.Observed)
		after   time.Duration
		anew    bool // is another instant chosen
		directs bool // are workers directed to begin it
	}{
		"in its first pass":          {func(_ *v1beta1.LoadTest, s *lifecycle.Observed) { s.Since = time.Time{} }, time.Second, true, false},
		"in a later pass":            {func(*v1beta1.LoadTest, *lifecycle.Observed) {}, 2 * time.Second, true, false},
		"in its first pass, in time": {func(_ *v1beta1.LoadTest, s *lifecycle.Observed) { s.Since = time.Time{} }, 0, false, true},
		"before all workers are back": {func(_ *v1beta1.LoadTest, s *lifecycle.Observed) {
			s.Workers[0] = there(exchange.Worker{LastSeen: start})
		}, 2 * time.Second, false, false},
		"when this process directed it": {func(_ *v1beta1.LoadTest, s *lifecycle.Observed) { s.Undirected = false }, 2 * time.Second, false, true},
		"when one reports it":           {func(_ *v1beta1.LoadTest, s *lifecycle.Observed) { s.Step = report }, 2 * time.Second, false, true},
		"when one had reported it": {func(lt *v1beta1.LoadTest, _ *lifecycle.Observed) {
			lt.Status.Steps[1].ReportedUntil = lt.Status.Steps[1].StartTime
		}, 2 * time.Second, false, true},
		"when it is cut, and ends soon": {func(lt *v1beta1.LoadTest, _ *lifecycle.Observed) {
			lt.Status.Internal.StopTime = lt.Status.Steps[1].StartTime
		}, 2 * time.Second, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			lt, seen := limited(1), one(ready)
			seen.Since, seen.Undirected = start.Add(time.Second), true
			tc.edit(lt, &seen)
			d := lifecycle.Decide(lt, policy.Rules{}, seen, start.Add(tc.after))
			want := start
			if tc.anew {
				want = start.Add(tc.after + 500*time.Millisecond)
			}
			if got := d.Status.Steps[1]; got.State != v1beta1.StepRunning || !got.StartTime.Time.Equal(want) || (d.Directive.Start != nil) != tc.directs {
				t.Errorf("the step is %s from %v, directed %+v; want Running from %v", got.State, got.StartTime, d.Directive.Start, want)
			}
		})
	}
}

// An instant that was read back too late to direct workers by it, as after an API server
// was away, is chosen anew: farther ahead than twice what it was missed by.
func TestStepWhoseInstantIsReadBackLateStartsAnew(t *testing.T) {
	start := began.Add(30 * time.Second)
	for name, tc := range map[string]struct {
		after      time.Duration
		readBack   time.Duration
		undirected bool
		ahead      time.Duration // of the other instant; 0: none is chosen
	}{
		"at the instant":                     {0, time.Second, true, 0},
		"they would begin it late":           {time.Nanosecond, 100 * time.Millisecond, true, 500*time.Millisecond + 2},
		"later still":                        {8 * time.Second, 9 * time.Second, true, 16500 * time.Millisecond},
		"a worker came that late":            {8 * time.Second, 100 * time.Millisecond, true, 700 * time.Millisecond},
		"they were directed, and are silent": {8 * time.Second, 9 * time.Second, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			lt, seen := limited(1), one(ready)
			seen.Since, seen.Undirected, seen.ReadBack = start.Add(-time.Minute), tc.undirected, tc.readBack
			seen.Step = &exchange.Report{Step: 0, Merged: measure.NewMeasurement(1)} // of the step before
			d := lifecycle.Decide(lt, policy.Rules{}, seen, start.Add(tc.after))
			want := start
			if tc.ahead > 0 {
				want = start.Add(tc.after + tc.ahead)
			}
			if got := d.Status.Steps[1]; !got.StartTime.Time.Equal(want) || (d.Directive.Start == nil) != (tc.ahead > 0) {
				t.Errorf("the step is %s from %v, directed %+v; want Running from %v", got.State, got.StartTime, d.Directive.Start, want)
			}
		})
	}
}

// Workers that another process directed begin the step by its instant, whether or not it has
// come; only those that are ready have said so. No other is directed to begin it before that is
// known of all: who connects after the instant would begin the step late.
func TestStepThatWorkersBeganKeepsItsInstant(t *testing.T) {
	start := began.Add(30 * time.Second)
	begun, unready := there(exchange.Worker{Connected: true, Begun: 2}), there(exchange.Worker{Connected: true})
	const ahead, later = -200 * time.Millisecond, 2 * time.Second
	for name, tc := range map[string]struct {
		workers []exchange.Worker
		after   time.Duration // of this pass, since the first instant
		want    time.Duration // from the first instant to that of the step
		directs bool
	}{
		"one began it, the others are connected":           {[]exchange.Worker{begun, unready, ready}, later, 0, true},
		"one may have begun it":                            {[]exchange.Worker{ready, unready, ready}, later, 0, false},
		"none began it":                                    {[]exchange.Worker{ready, ready, ready}, later, 2500 * time.Millisecond, false},
		"ahead: one was directed, the others are away":     {[]exchange.Worker{begun, cutOff, cutOff}, ahead, 0, true},
		"ahead: none of those that are here was directed":  {[]exchange.Worker{ready, ready, cutOff}, ahead, 0, false},
		"ahead: one that is here may have been directed":   {[]exchange.Worker{ready, ready, unready}, ahead, 0, false},
		"ahead: none is here":                              {[]exchange.Worker{cutOff, cutOff, cutOff}, ahead, 0, false},
		"ahead: none was directed":                         {[]exchange.Worker{ready, ready, ready}, ahead, 0, true},
		"ahead: one was directed and died, the others not": {[]exchange.Worker{ready, ready, ended}, ahead, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			lt, seen := limited(1), lifecycle.Observed{Job: lifecycle.JobPresent, Workers: tc.workers}
			seen.Since, seen.Undirected = start.Add(-time.Second), true
			d := lifecycle.Decide(lt, policy.Rules{}, seen, start.Add(tc.after))
			if got := d.Status.Steps[1].StartTime.Sub(start); got != tc.want || (d.Directive.Start != nil) != tc.directs {
				t.Errorf("the step begins %v after the first instant, directed %+v; want %v, directed: %t", got, d.Directive.Start, tc.want, tc.directs)
			}
		})
	}
}

// A worker that died before the step began leaves none to begin it together.
func TestStepThatIsStartedAnewWithoutAWorkerIsCut(t *testing.T) {
	ended, never := awaited(exchange.Worker{Pod: exchange.PodEnded}), one(there(exchange.Worker{Connected: true, LastSeen: began.Add(time.Hour)}))
	ended.Since, never.Since = time.Time{}, began.Add(31*time.Second)
	for name, tc := range map[string]struct {
		seen  lifecycle.Observed
		after time.Duration
	}{"it died": {ended, 31 * time.Second}, "it is never ready": {never, time.Hour}} {
		s := lifecycle.Decide(limited(1), policy.Rules{}, tc.seen, began.Add(tc.after)).Status
		if s.Steps[1].State != v1beta1.StepCut || s.Verdict != v1beta1.VerdictInconclusive {
			t.Errorf("%s: the step is %s, the verdict %s; want Cut and Inconclusive", name, s.Steps[1].State, s.Verdict)
		}
	}
}

// What workers measured who began late, or not together, is not judged: it would be held
// against the target that requests were sent after they were due.
func TestStepThatAWorkerBeganLateIsNotJudged(t *testing.T) {
	start := began.Add(30 * time.Second)
	for name, began := range map[string][2]time.Time{
		"late":                  {start.Add(5 * time.Second), start.Add(5 * time.Second)},
		"one of them":           {start, start.Add(501 * time.Millisecond)},
		"not together":          {start.Add(-5 * time.Second), start.Add(-4 * time.Second)},
		"by an earlier instant": {start.Add(-5 * time.Second), start.Add(-5 * time.Second)},
	} {
		lt := limited(1)
		lt.Spec.Thresholds = []v1beta1.Threshold{{Metric: "failureRate", Max: ptr.To(intstr.Parse("1%"))}}
		lt.Status.Thresholds = verdict.Thresholds(&lt.Spec, lt.Status.Requests, lt.Status.Steps)
		seen := one(final)
		seen.Step = measured(1, 1, 10, start.Add(10*time.Second))
		seen.Step.ShortestWindow = 10 * time.Second
		m := seen.Step.Merged
		m.Requests[0].Expected, m.Requests[0].Outcomes = 0, [len(m.Requests[0].Outcomes)]int64{measure.ServerError: 10}
		m.FirstStart, m.LastStart = began[0], began[1]
		m.Requests[0].Late = 1
		s := lifecycle.Decide(lt, policy.Rules{}, seen, start.Add(10*time.Second)).Status
		if s.Verdict != v1beta1.VerdictInconclusive || s.Steps[1].State != v1beta1.StepCut || s.Steps[1].ThresholdState != "" {
			t.Errorf("%s: verdict %s, step %s (%s); want Inconclusive, and Cut", name, s.Verdict, s.Steps[1].State, s.Steps[1].Message)
		}
	}
}
