package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// family is a LoadTest with loads, and the LoadTests of these by name, whose statuses a test writes.
type family struct {
	t       *testing.T
	now     time.Time
	parent  *v1beta1.LoadTest
	tests   map[string]*v1beta1.LoadTest
	refused map[string]*lifecycle.Refusal
	rules   policy.Rules
	taken   string
	unread  bool   // the results of loads cannot be read yet
	events  string // their reasons, with an exclamation mark after warnings
}

// newFamily is a LoadTest with a load named readers, one named late, 30 s after it, and one in the
// background.
func newFamily(t *testing.T) *family {
	t.Helper()
	spec := ladder()
	steps := []v1beta1.Step{{Name: "all", Users: ptr.To[int32](100), Duration: &spec.Ladder.Duration}}
	spec.Ladder, spec.Parallelism, spec.Thresholds = nil, nil, nil
	spec.Loads = []v1beta1.Load{
		{Name: "readers", Steps: steps},
		{Name: "late", After: "readers", Delay: &metav1.Duration{Duration: 30 * time.Second}, Steps: steps},
		{Name: "noise", Background: true, Parallelism: ptr.To[int32](2), Steps: steps},
	}
	f := &family{t: t, now: began, parent: &v1beta1.LoadTest{Spec: spec}, tests: map[string]*v1beta1.LoadTest{}, refused: map[string]*lifecycle.Refusal{}}
	f.parent.Namespace, f.parent.Name, f.parent.UID = "shop", "sale", "parent"
	return f
}

// seen is what a pass over the LoadTest reads.
func (f *family) seen() lifecycle.Observed {
	var seen lifecycle.Observed
	for _, l := range f.parent.Status.Loads {
		seen.Loads = append(seen.Loads, lifecycle.LoadSeen{Test: f.tests[l.Test], Refused: f.refused[l.Name], Taken: f.taken == l.Name})
	}
	whole := lifecycle.NeedsResults(f.parent) && !f.unread
	for i := range seen.Loads {
		seen.Loads[i].Whole = whole
	}
	return seen
}

// pass makes passes over the LoadTest until nothing changes, and creates what they ask for.
func (f *family) pass() lifecycle.Decision {
	f.t.Helper()
	for range 20 {
		d, err := lifecycle.DecideUnwritten(f.parent, f.rules, f.seen(), f.now)
		must.Succeed(f.t, err)
		for _, e := range d.Events {
			if f.events += " " + e.Reason; e.Warning {
				f.events += "!"
			}
		}
		for _, one := range d.CreateLoads {
			if name := strings.TrimPrefix(one.Name, "sale-"); f.refused[name] == nil && f.taken != name {
				one.UID = types.UID("uid-" + name)
				f.tests[one.Name] = one
				f.load(&d.Status, name).UID = string(one.UID)
			}
		}
		if equality.Semantic.DeepEqual(f.parent.Status, d.Status) {
			return d
		}
		f.parent.Status = d.Status
	}
	f.t.Fatal("the status does not settle")
	return lifecycle.Decision{}
}

func (f *family) load(s *v1beta1.LoadTestStatus, name string) *v1beta1.LoadStatus {
	for i := range s.Loads {
		if s.Loads[i].Name == name {
			return &s.Loads[i]
		}
	}
	f.t.Fatalf("no load %s in %v", name, s.Loads)
	return nil
}

// ready has the workers of these loads ready.
func (f *family) ready(names ...string) {
	for _, name := range names {
		f.says(name, metav1.ConditionTrue, v1beta1.ReasonAllReady)
		f.tests["sale-"+name].Status.Workers.Ready = 1
	}
}

// says has a load that starts say of its workers whether they are ready.
func (f *family) says(name string, ready metav1.ConditionStatus, reason string) {
	s := &f.tests["sale-"+name].Status
	s.Phase = v1beta1.PhaseStarting
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: v1beta1.ConditionWorkersReady, Status: ready, Reason: reason, Message: "the workers of " + name})
}

// end ends a load with a verdict, after 10 requests of which 2 failed, and with the reason why it was
// carried out as far as it was.
func (f *family) end(name string, verdict v1beta1.Verdict, reason string) {
	f.t.Helper()
	one := f.tests["sale-"+name]
	s := &one.Status
	now := metav1.NewTime(f.now)
	s.Phase, s.Verdict, s.CompletionTime = v1beta1.PhaseFinished, verdict, &now
	set := func(kind string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message})
	}
	set(v1beta1.ConditionFinished, metav1.ConditionTrue, string(verdict), "")
	carried := metav1.ConditionTrue
	if verdict == v1beta1.VerdictError || verdict == v1beta1.VerdictCanceled {
		carried = metav1.ConditionFalse
	}
	set(v1beta1.ConditionCarriedOut, carried, reason, "the course of "+name)
	met := map[v1beta1.Verdict]metav1.ConditionStatus{v1beta1.VerdictPassed: metav1.ConditionTrue, v1beta1.VerdictFailed: metav1.ConditionFalse}[verdict]
	if met == "" {
		met = metav1.ConditionUnknown
	}
	set(v1beta1.ConditionThresholdsMet, met, "ReasonOf"+string(verdict), "the thresholds of "+name)
	h := measure.NewHistogram()
	h.RecordN(5*time.Millisecond, 8)
	h.RecordN(time.Second, 2)
	encoded, err := h.Encode()
	must.Succeed(f.t, err)
	result := &v1beta1.StepResult{Due: 11, Unsent: 1, Undecided: 1, Histogram: encoded}
	result.Sent, result.Expected, result.Failed = 10, 8, 2
	s.Steps = []v1beta1.StepStatus{{Name: "pause"}, {Name: "all", Result: result}}
}

// inTurn ends loads, each as the word after its name says, and passes after each moment: "a Passed, b Canceled"
// are of one.
func (f *family) inTurn(moments ...string) {
	f.t.Helper()
	for _, moment := range moments {
		for _, load := range strings.Split(moment, ", ") {
			name, verdict, _ := strings.Cut(load, " ")
			reason := v1beta1.ReasonAllStepsRan
			if verdict == string(v1beta1.VerdictCanceled) {
				reason = v1beta1.ReasonTerminated
			}
			f.end(name, v1beta1.Verdict(verdict), reason)
		}
		f.pass()
	}
}

// beganAt has the first step of a load begin so long after the first pass.
func (f *family) beganAt(name string, d time.Duration) {
	at := metav1.NewMicroTime(began.Add(d))
	f.tests["sale-"+name].Status.Steps[0].StartTime = &at
}

// endAll ends all loads whose LoadTests were created.
func (f *family) endAll(verdict v1beta1.Verdict, reason string) {
	f.t.Helper()
	for name := range f.tests {
		f.end(strings.TrimPrefix(name, "sale-"), verdict, reason)
	}
}

// line is how far each load is, in a word.
func (f *family) line() string {
	var list []string
	for _, l := range f.parent.Status.Loads {
		at := "-"
		if l.BeginTime != nil {
			at = l.BeginTime.Sub(began).String()
		}
		word := fmt.Sprintf("%s %s", l.Name, at)
		if l.Verdict != "" {
			word += " " + string(l.Verdict)
		}
		if l.Ended {
			word += " ended"
		}
		list = append(list, word)
	}
	return fmt.Sprintf("%s %s: %s", f.parent.Status.Phase, f.parent.Status.Verdict, strings.Join(list, ", "))
}

// why is the condition that explains the verdict.
func (f *family) why() string {
	if v1beta1.NotCarriedOut(f.parent.Status.Conditions) != nil {
		return said(f.parent.Status, v1beta1.ConditionCarriedOut)
	}
	return said(f.parent.Status, v1beta1.ConditionThresholdsMet)
}

func (f *family) expect(want string) {
	f.t.Helper()
	same.As(f.t, "how far the loads are", want, f.line())
}

// begun has the loads begin at 2 s.
func begun(t *testing.T) *family {
	t.Helper()
	f := newFamily(t)
	f.pass()
	f.now = f.now.Add(time.Second)
	f.ready("readers", "late", "noise")
	f.pass()
	return f
}

func TestLoadsBeginOnceAllAreReady(t *testing.T) {
	f := newFamily(t)
	if d := f.pass(); !d.Undirected || d.RequeueAfter != 0 {
		t.Errorf("workers are directed, or the next pass is due after %v", d.RequeueAfter)
	}
	f.expect("Starting : readers -, late -, noise -")
	same.As(t, "desired workers", 4, f.parent.Status.Workers.Desired)
	f.ready("readers", "noise")
	waits := func(want string) {
		t.Helper()
		f.pass()
		f.expect("Starting : readers -, late -, noise -")
		same.As(t, "WorkersReady", want, said(f.parent.Status, v1beta1.ConditionWorkersReady))
	}
	const waiting = "False Waiting: Not all loads have their workers ready yet: late."
	waits(waiting)
	f.refused["noise"] = &lifecycle.Refusal{Message: "the quota was used up", At: f.now} // before it was created
	f.says("late", metav1.ConditionFalse, v1beta1.ReasonWaiting)
	waits(waiting)
	f.says("late", metav1.ConditionFalse, v1beta1.ReasonUnschedulable)
	waits("False Unschedulable: Load late: the workers of late")
	f.says("readers", metav1.ConditionFalse, v1beta1.ReasonImagePull)
	waits("False ImagePull: Load readers: the workers of readers")
	f.ready("readers", "late")
	f.tests["sale-late"].Status.Phase = v1beta1.PhaseSuspended
	waits(waiting)
	f.now = f.now.Add(time.Second)
	f.ready("late")
	f.pass()
	f.expect("Running : readers 2s, late -, noise 2s")
	if s := f.parent.Status.Summary; s.Step != "0/3 loads" || s.Workers != "3/4" {
		t.Errorf("summary %+v", s)
	}
	same.As(t, "a load", v1beta1.LoadStatus{Name: "late", Test: "sale-late", UID: "uid-late", Phase: v1beta1.PhaseStarting}, f.parent.Status.Loads[1])
}

// The one after another begins at its end and the delay, what is in the background ends with the others,
// and all are added up.
func TestLoadsFollowEachOtherToTheEnd(t *testing.T) {
	f := begun(t)
	f.parent.Spec.ActiveDeadlineSeconds = ptr.To[int64](60)
	f.now = began.Add(10 * time.Second)
	f.end("readers", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
	same.As(t, "until the deadline", 50*time.Second, f.pass().RequeueAfter)
	f.now = began.Add(11 * time.Second)
	f.pass()
	f.expect("Running : readers 2s Passed, late 40s, noise 2s")
	if lifecycle.NeedsResults(f.parent) {
		t.Error("results are read while loads run")
	}
	f.now = began.Add(50 * time.Second)
	f.end("late", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
	f.pass()
	if f.parent.Status.Internal.StopTime == nil {
		t.Error("the load in the background is not ended")
	}
	f.expect("Running : readers 2s Passed, late 40s Passed, noise 2s ended")
	f.now, f.unread = began.Add(61*time.Second), true // it ends past the deadline, but was ended before
	f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
	same.As(t, "until results are read", time.Second, f.pass().RequeueAfter)
	f.expect("Running : readers 2s Passed, late 40s Passed, noise 2s Canceled ended")
	f.unread = false
	f.pass()
	f.expect("Finished Passed: readers 2s Passed, late 40s Passed, noise 2s Canceled ended")
	same.As(t, "events", " Started Passed", f.events)
	if lifecycle.NeedsResults(f.parent) {
		t.Error("results of a run that has finished are read")
	}
	s := &f.parent.Status
	if s.CompletionTime == nil || !s.CompletionTime.Time.Equal(f.now) || !s.Loads[0].CompletionTime.Time.Equal(began.Add(10*time.Second)) {
		t.Errorf("completed at %v, the first load at %v", s.CompletionTime, s.Loads[0].CompletionTime)
	}
	same.As(t, "Passed", "True Passed: Load readers: the thresholds of readers. Load late: the thresholds of late.", said(*s, v1beta1.ConditionPassed))
	same.As(t, "CarriedOut", "True AllStepsRan: All loads ran.", said(*s, v1beta1.ConditionCarriedOut))
	of := func(r *v1beta1.LoadResult) string {
		return fmt.Sprintf("due %d, sent %d, unsent %d, expected %d, failed %d (undecided %d), p50 %s of %d", r.Due, r.Sent, r.Unsent, r.Expected, r.Failed, r.Undecided, r.ResponseTime.P50.Duration, r.ResponseTime.Samples)
	}
	same.As(t, "noise", "due 11, sent 10, unsent 1, expected 8, failed 2 (undecided 1), p50 5.003ms of 10", of(s.Loads[2].Result))
	same.As(t, "together", "due 33, sent 30, unsent 3, expected 24, failed 6 (undecided 3), p50 5.003ms of 30", of(s.Together))
	same.As(t, "summary", v1beta1.Summary{Step: "3/3 loads", Workers: s.Summary.Workers, Errors: "10%", Unsent: "9.09%", P95: "1s"}, s.Summary)
}

// One load is carried out as several are. Without any answer its times are not known.
func TestLoadAlone(t *testing.T) {
	f := newFamily(t)
	f.parent.Spec.Loads = f.parent.Spec.Loads[:1]
	first := lifecycle.Decide(f.parent, f.rules, f.seen(), f.now)
	same.As(t, "event", []lifecycle.Event{{Reason: "Started", Message: "The run begins; LoadTests of its 1 load are created."}}, first.Events)
	same.As(t, "TargetVerified, which each load has", "", said(first.Status, v1beta1.ConditionTargetVerified))
	f.pass()
	f.ready("readers")
	f.pass()
	f.expect("Running : readers 1s")
	f.end("readers", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
	f.tests["sale-readers"].Status.Steps[1].Result = &v1beta1.StepResult{}
	f.pass()
	f.expect("Finished Passed: readers 1s Passed")
	same.As(t, "summary", v1beta1.Summary{Step: "1/1 loads", Workers: "0/1"}, f.parent.Status.Summary)
}

// The verdict is that of the worst load; those that the run ended do not count.
func TestVerdictOfLoads(t *testing.T) {
	for name, c := range map[string]struct {
		act        func(*family)
		want       string
		why        string
		endedEarly bool
	}{
		"one fails": {func(f *family) {
			f.inTurn("readers Failed", "late Inconclusive")
			f.end("noise", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan) // in the same moment
		}, "Finished Failed: readers 2s Failed, late 31s Inconclusive, noise 2s Passed", "False ReasonOfFailed: Load readers: the thresholds of readers.", false},
		"one is undecided": {func(f *family) {
			f.end("readers", v1beta1.VerdictInconclusive, v1beta1.ReasonStoppedOnWorkerLoss)
			f.pass()
			f.inTurn("late Passed", "noise Canceled")
		}, "Finished Inconclusive: readers 2s Inconclusive, late 31s Passed, noise 2s Canceled ended", "Unknown ReasonOfInconclusive: Load readers: the thresholds of readers.", false},
		"the background was cut as planned": {func(f *family) {
			f.inTurn("readers Passed", "late Passed")
			f.end("noise", v1beta1.VerdictInconclusive, v1beta1.ReasonEndedWithOthers)
			f.tests["sale-noise"].Status.Conditions[len(f.tests["sale-noise"].Status.Conditions)-1].Reason = v1beta1.ReasonStepCut
		}, "Finished Passed: readers 2s Passed, late 31s Passed, noise 2s Inconclusive ended", "True ReasonOfPassed: Load readers: the thresholds of readers. Load late: the thresholds of late.", false},
		"the background was cut, and lost a worker": {func(f *family) {
			f.inTurn("readers Passed", "late Passed")
			f.end("noise", v1beta1.VerdictInconclusive, v1beta1.ReasonEndedWithOthers)
		}, "Finished Inconclusive: readers 2s Passed, late 31s Passed, noise 2s Inconclusive ended", "Unknown ReasonOfInconclusive: Load noise: the thresholds of noise.", false},
		"the background was cut, and had failed": {func(f *family) {
			f.inTurn("readers Passed", "late Passed")
			f.end("noise", v1beta1.VerdictFailed, v1beta1.ReasonEndedWithOthers)
		}, "Finished Failed: readers 2s Passed, late 31s Passed, noise 2s Failed ended", "False ReasonOfFailed: Load noise: the thresholds of noise.", false},
		"one began a second late": {func(f *family) {
			f.inTurn("readers Passed", "late Passed")
			f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
			f.beganAt("readers", 3*time.Second)
		}, "Finished Passed: readers 2s Passed, late 31s Passed, noise 2s Canceled ended", "True ReasonOfPassed: Load readers: the thresholds of readers. Load late: the thresholds of late.", false},
		"one began later": {func(f *family) {
			f.inTurn("readers Passed", "late Passed")
			f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
			f.beganAt("readers", 3*time.Second+time.Millisecond)
		}, "Finished Inconclusive: readers 2s Passed, late 31s Passed, noise 2s Canceled ended", "Unknown LoadsApart: Load readers began 1s after its time, so that the loads were not sent side by side as planned. Run it again.", false},
		"one began later, and failed": {func(f *family) {
			f.inTurn("readers Failed", "late Passed")
			f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
			f.beganAt("readers", 4*time.Second)
		}, "Finished Failed: readers 2s Failed, late 31s Passed, noise 2s Canceled ended", "False ReasonOfFailed: Load readers: the thresholds of readers.", false},
		"a long one began later": {func(f *family) {
			f.now = began.Add(200 * time.Second)
			f.inTurn("readers Passed", "late Passed")
			f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
			f.beganAt("readers", 3*time.Second+900*time.Millisecond)
		}, "Finished Passed: readers 2s Passed, late 3m50s Passed, noise 2s Canceled ended", "True ReasonOfPassed: Load readers: the thresholds of readers. Load late: the thresholds of late.", false},
		"two could not be carried out": {func(f *family) {
			f.end("readers", v1beta1.VerdictError, v1beta1.ReasonStartDeadlineExceeded)
			f.end("noise", v1beta1.VerdictError, v1beta1.ReasonWorkerLost)
			f.pass()
			f.end("late", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
		}, "Finished Error: readers 2s Error, late - Canceled ended, noise 2s Error", "False StartDeadlineExceeded: Load readers: the course of readers. Load noise: the course of noise. What was measured is kept.", true},
		"one is canceled by hand": {func(f *family) {
			f.inTurn("noise Canceled", "readers Canceled, late Canceled")
		}, "Finished Canceled: readers 2s Canceled ended, late - Canceled ended, noise 2s Canceled", "False Terminated: Load noise: the course of noise. What was measured is kept.", true},
		"one aborts": {func(f *family) {
			f.end("readers", v1beta1.VerdictFailed, v1beta1.ReasonAborted)
			f.pass()
			f.inTurn("late Canceled, noise Canceled")
		}, "Finished Failed: readers 2s Failed, late - Canceled ended, noise 2s Canceled ended", "False ReasonOfFailed: Load readers: the thresholds of readers.", true},
		"the background fails before the others end": {func(f *family) {
			f.end("noise", v1beta1.VerdictFailed, v1beta1.ReasonStoppedOnBreach)
			f.pass()
			f.now = began.Add(5 * time.Second)
			f.inTurn("readers Passed", "late Passed")
		}, "Finished Failed: readers 2s Passed, late 35s Passed, noise 2s Failed", "False ReasonOfFailed: Load noise: the thresholds of noise.", false},
		"one is deleted": {func(f *family) {
			delete(f.tests, "sale-readers")
			f.pass()
			f.inTurn("late Canceled, noise Canceled")
		}, "Finished Error: readers 2s Error, late - Canceled ended, noise 2s Canceled ended", "False LoadDeleted: Load readers: LoadTest sale-readers was deleted before the run had ended. The results lack load readers, whose LoadTest was deleted. What else was measured is kept.", true},
		"one is deleted that had passed": {func(f *family) {
			f.inTurn("readers Passed")
			delete(f.tests, "sale-readers")
			f.pass()
			f.inTurn("late Canceled, noise Canceled")
		}, "Finished Error: readers 2s Error, late 31s Canceled ended, noise 2s Canceled ended", "False LoadDeleted: Load readers: LoadTest sale-readers was deleted before the run had ended. The results lack load readers, whose LoadTest was deleted. What else was measured is kept.", true},
		"one is deleted that had failed": {func(f *family) {
			f.inTurn("readers Failed")
			delete(f.tests, "sale-readers")
			f.inTurn("late Passed", "noise Canceled")
		}, "Finished Failed: readers 2s Failed, late 31s Passed, noise 2s Canceled ended", "False LoadDeleted: Load readers: the thresholds of readers. The results lack load readers, whose LoadTest was deleted.", false},
		"one is deleted and kept by a finalizer": {func(f *family) {
			f.tests["sale-readers"].DeletionTimestamp = &metav1.Time{Time: began}
			f.pass()
			f.inTurn("late Canceled, noise Canceled")
		}, "Finished Error: readers 2s Error, late - Canceled ended, noise 2s Canceled ended", "False LoadDeleted: Load readers: LoadTest sale-readers was deleted before the run had ended. The results lack load readers, whose LoadTest was deleted. What else was measured is kept.", true},
		"another takes its name": {func(f *family) {
			f.tests["sale-readers"] = &v1beta1.LoadTest{}
			f.pass()
			f.inTurn("late Canceled, noise Canceled")
		}, "Finished Error: readers 2s Error, late - Canceled ended, noise 2s Canceled ended", "False LoadDeleted: Load readers: LoadTest sale-readers was deleted before the run had ended. The results lack load readers, whose LoadTest was deleted. What else was measured is kept.", true},
		"results of one cannot be read": {func(f *family) {
			f.end("readers", v1beta1.VerdictFailed, v1beta1.ReasonAllStepsRan)
			f.tests["sale-readers"].Status.Steps[1].Result.Histogram = "torn"
			f.pass()
			f.inTurn("late Inconclusive", "noise Canceled")
		}, "Finished Failed: readers 2s Failed, late 31s Inconclusive, noise 2s Canceled ended", "False ReasonOfFailed: Load readers: step all: decode histogram: encoded histogram too short: got 3 bytes, need at least 8.", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := begun(t)
			c.act(f)
			f.pass()
			f.expect(c.want)
			same.As(t, "why", c.why, f.why())
			same.As(t, "others are ended early", c.endedEarly, strings.Count(f.events, "LoadsEnded") == 1)
			same.As(t, "warning", !strings.Contains(c.want, "Finished Passed"), strings.HasSuffix(f.events, "!"))
			if f.parent.Status.Together == nil {
				t.Error("nothing is kept of what was measured")
			}
		})
	}
}

// What the user, the administrator or a deadline ends is Canceled or Error, with what was measured.
func TestLoadsAreEndedWithTheRun(t *testing.T) {
	early := func(f *family) { f.end("readers", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan) } // is not judged
	for name, c := range map[string]struct {
		ask, then func(*family)
		want      string
	}{
		"terminated":      {func(f *family) { f.parent.Spec.Terminate = true }, early, "False Terminated: spec.terminate ended the run; what was measured is kept."},
		"stopped":         {func(f *family) { f.rules = rules(t, "stop: {by: jane}") }, func(f *family) { f.rules = policy.Rules{}; early(f) }, "False Stopped: Stopped by jane (operator configuration). What was measured is kept."},
		"out of its time": {func(f *family) { f.parent.Spec.ActiveDeadlineSeconds = ptr.To[int64](1) }, early, "False DeadlineExceeded: The run did not finish within activeDeadlineSeconds (1s); what was measured is kept."},
		"with time that comes late": {
			func(f *family) { f.parent.Spec.ActiveDeadlineSeconds = ptr.To[int64](1) }, func(f *family) { f.parent.Spec.ActiveDeadlineSeconds = nil },
			"False DeadlineExceeded: The run did not finish within activeDeadlineSeconds; what was measured is kept.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := begun(t)
			c.ask(f)
			f.pass()
			stop := f.parent.Status.Internal.StopTime
			for _, one := range f.tests {
				if p := lifecycle.ParentOf(one, f.parent); !p.Ends {
					t.Errorf("%s is not ended", one.Name)
				}
			}
			f.now = f.now.Add(time.Second)
			f.pass()
			same.As(t, "instant", stop, f.parent.Status.Internal.StopTime)
			f.endAll(v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
			c.then(f)
			f.pass()
			same.As(t, "why", c.want, f.why())
			if f.parent.Status.Together == nil || strings.Contains(f.events, "LoadsEnded") {
				t.Errorf("together %v after events%s", f.parent.Status.Together, f.events)
			}
		})
	}
}

// Loads that end by themselves in the moment in which the run is terminated are judged.
func TestLoadsThatAreTerminatedTooLate(t *testing.T) {
	f := begun(t)
	f.parent.Spec.Terminate = true
	f.endAll(v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
	f.pass()
	same.As(t, "why", v1beta1.VerdictPassed, f.parent.Status.Verdict)
}

// A LoadTest that the API server refuses is tried again until the start deadline, and then, or at once if
// it never takes it, the run ends.
func TestLoadsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		act  func(*family)
		want string
		why  string
	}{
		"until the start deadline": {func(f *family) { f.now = began.Add(time.Minute) }, "Finished Error: readers - Canceled ended, late - Error, noise - Canceled ended",
			"False CreateRefused: Load late: The API server refuses the LoadTest: the quota is used up. What was measured is kept."},
		"without a start deadline": {func(f *family) {
			f.now, f.parent.Spec.StartDeadlineSeconds = began.Add(time.Hour), nil
			f.pass()
			f.parent.Spec.Terminate = true
			delete(f.refused, "late") // it is not created any more
			f.pass()
			same.As(f.t, "created", 2, len(f.tests))
		}, "Finished Canceled: readers - Canceled ended, late - Canceled ended, noise - Canceled ended", "False Terminated: spec.terminate ended the run; what was measured is kept."},
		"for ever": {func(f *family) { f.refused["late"].Permanent = true }, "Finished Error: readers - Canceled ended, late - Error, noise - Canceled ended",
			"False CreateRefused: Load late: The API server refuses the LoadTest: the quota is used up. What was measured is kept."},
		"for a while": {func(f *family) {
			f.now = began.Add(5 * time.Second)
			same.As(f.t, "to be created", 1, len(f.pass().CreateLoads))
			delete(f.refused, "late")
			f.pass()
			same.As(f.t, "created", 3, len(f.tests))
			f.parent.Spec.Terminate = true
		}, "Finished Canceled: readers - Canceled ended, late - Canceled ended, noise - Canceled ended", "False Terminated: spec.terminate ended the run; what was measured is kept."},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFamily(t)
			f.refused["late"] = &lifecycle.Refusal{Message: "the quota is used up", At: f.now}
			d := f.pass()
			f.expect("Starting : readers -, late -, noise -")
			same.As(t, "WorkersReady", "False CreateRefused: The API server refuses LoadTest sale-late: the quota is used up.", said(f.parent.Status, v1beta1.ConditionWorkersReady))
			same.As(t, "until it is tried again", 5*time.Second, d.RequeueAfter)
			c.act(f)
			f.pass()
			f.endAll(v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
			f.pass()
			f.expect(c.want)
			same.As(t, "why", c.why, f.why())
		})
	}
}

// Of a run that ends no LoadTest is created.
func TestLoadsThatAreNotCreated(t *testing.T) {
	f := newFamily(t)
	f.taken = "late"
	f.pass()
	same.As(t, "CarriedOut", "False CreateRefused: A LoadTest named sale-late exists and is not of this run; delete it, or give the load another name.", f.why())
	same.As(t, "created", 0, len(f.tests))
	f = newFamily(t)
	f.refused["readers"], f.refused["late"] = &lifecycle.Refusal{Message: "no", At: f.now}, &lifecycle.Refusal{Message: "never", At: f.now}
	f.pass()
	same.As(t, "WorkersReady", "False CreateRefused: The API server refuses LoadTest sale-readers: no.", said(f.parent.Status, v1beta1.ConditionWorkersReady))
	f.refused["readers"].Permanent, f.refused["late"].Permanent = true, true
	f.pass()
	f.endAll(v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
	f.pass()
	f.expect("Finished Error: readers - Error, late - Canceled ended, noise - Canceled ended")
	same.As(t, "what becomes of it", "The run ended before the load could begin.", f.parent.Status.Loads[1].Message)
	f = begun(t)
	f.parent.Status.Loads = f.parent.Status.Loads[1:]
	f.pass()
	same.As(t, "of other loads", "False InvalidStatus: The run cannot continue from this status: status.loads do not follow from spec.loads. Create the LoadTest again.", f.why())
}

// A load waits with its workers for the instant that the LoadTest chooses, and begins at it.
func TestALoadBeginsAtTheInstantOfItsLoadTest(t *testing.T) {
	spec := ladder()
	parent := func(begin time.Duration) *lifecycle.Parent {
		at := began.Add(begin)
		return &lifecycle.Parent{Name: "sale", Lists: true, Begin: &at}
	}
	lt := &v1beta1.LoadTest{Spec: spec}
	lt.Status = lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{Parent: &lifecycle.Parent{Name: "sale"}}, began).Status
	if lt.Status.StartTime != nil {
		t.Fatal("a load begins before the LoadTest that has it says so")
	}
	lt.Status = lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{Parent: &lifecycle.Parent{Name: "sale", Lists: true}}, began).Status
	lt.Status.TargetURL = "http://shortener:8080"
	seen := three(exchange.Worker{Connected: true, Ready: true, Answers: 16, Descriptors: oneDigest})
	start := func(parent *lifecycle.Parent, after time.Duration) (string, time.Duration) {
		seen.Parent = parent
		d := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(after))
		switch s := d.Status; {
		case s.Phase == v1beta1.PhaseSuspended:
			return "suspended", 0
		case s.Verdict != "":
			return v1beta1.NotCarriedOut(s.Conditions).Message, 0
		case s.Steps[0].StartTime != nil:
			return s.Steps[0].StartTime.Sub(began).String(), 0
		}
		return "-", d.RequeueAfter
	}
	for name, c := range map[string]struct {
		parent *lifecycle.Parent
		after  time.Duration
		start  string
		again  time.Duration
	}{
		"not chosen":            {&lifecycle.Parent{Name: "sale", Lists: true}, 0, "-", 0},
		"past the deadline":     {&lifecycle.Parent{Name: "sale", Lists: true}, time.Hour, "-", 0},
		"far ahead":             {parent(time.Minute), 0, "-", 59 * time.Second},
		"a second ahead":        {parent(time.Minute), 59 * time.Second, "1m0s", 0},
		"just ahead":            {parent(time.Minute), 59*time.Second + 900*time.Millisecond, "1m0.4s", 0},
		"past":                  {parent(time.Minute), 2 * time.Minute, "2m0.5s", 0},
		"without a LoadTest":    {nil, 0, "500ms", 0},
		"suspended by the test": {&lifecycle.Parent{Name: "sale", Lists: true, Begin: parent(0).Begin, Suspends: true}, 0, "suspended", 0},
		"ended by the test":     {&lifecycle.Parent{Name: "sale", Lists: true, Begin: parent(0).Begin, Ends: true}, 0, "LoadTest sale, which has the load, ended it; what was measured is kept.", 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, again := start(c.parent, c.after)
			same.As(t, "start", c.start, got)
			same.As(t, "the next pass", c.again, again)
		})
	}
	lt.Spec.Suspend = true
	got, _ := start(parent(0), 0)
	same.As(t, "suspended by itself", "suspended", got)
	lt.Spec.Suspend, lt.Spec.Terminate = false, true
	got, _ = start(parent(0), 0)
	same.As(t, "ended by itself", "spec.terminate ended the run; what was measured is kept.", got)
}

// What a load reads of the LoadTest that has it. Whoever names an owner is not a load of it: it would have
// no place in the queue.
func TestParentOfALoad(t *testing.T) {
	begin, minute := ptr.To(began.Add(2*time.Second)), ptr.To[int64](60)
	edited := func(differs bool) *lifecycle.Parent {
		return &lifecycle.Parent{Name: "sale", Lists: true, Workers: 4, StartDeadline: minute, Begin: begin, Differs: differs}
	}
	for name, c := range map[string]struct {
		edit func(load, parent *v1beta1.LoadTest)
		want *lifecycle.Parent
	}{
		"its own":            {func(_, _ *v1beta1.LoadTest) {}, &lifecycle.Parent{Name: "sale", Lists: true, Workers: 4, StartDeadline: minute, Begin: begin}},
		"which is suspended": {func(_, p *v1beta1.LoadTest) { p.Spec.Suspend = true }, &lifecycle.Parent{Name: "sale", Lists: true, Workers: 4, StartDeadline: minute, Suspends: true, Begin: begin}},
		"which has finished": {func(_, p *v1beta1.LoadTest) {
			p.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue}}
			p.Spec.Suspend = true
		}, &lifecycle.Parent{Name: "sale", Lists: true, Ends: true}},
		"which is deleted and kept by a finalizer": {func(_, p *v1beta1.LoadTest) { p.DeletionTimestamp = &metav1.Time{Time: began} }, &lifecycle.Parent{Name: "sale", Lists: true, Ends: true}},
		"which has not begun it":                   {func(_, p *v1beta1.LoadTest) { p.Status.Loads[0].BeginTime = nil }, &lifecycle.Parent{Name: "sale", Lists: true, Workers: 4, StartDeadline: minute}},
		"which has not written it":                 {func(_, p *v1beta1.LoadTest) { p.Status.Loads[0].UID = "" }, &lifecycle.Parent{Name: "sale"}},
		"which has not been read":                  {func(_, p *v1beta1.LoadTest) { p.Status = v1beta1.LoadTestStatus{} }, &lifecycle.Parent{Name: "sale"}},
		"which has one of that name":               {func(l, _ *v1beta1.LoadTest) { l.UID = "mine" }, &lifecycle.Parent{Name: "sale", Strange: true}},
		"which was given to it once it had begun":  {func(l, _ *v1beta1.LoadTest) { l.UID, l.Status.StartTime = "mine", &metav1.Time{Time: began} }, nil},
		"which has none":                           {func(l, _ *v1beta1.LoadTest) { l.Name = "mine" }, &lifecycle.Parent{Name: "sale", Strange: true}},
		"of the same name":                         {func(l, _ *v1beta1.LoadTest) { l.OwnerReferences[0].UID = "before" }, &lifecycle.Parent{Name: "sale"}},
		"of another kind":                          {func(l, _ *v1beta1.LoadTest) { l.OwnerReferences[0].Kind = "LoadTestSchedule" }, nil},
		"of another API":                           {func(l, _ *v1beta1.LoadTest) { l.OwnerReferences[0].APIVersion = "example.com/v1" }, nil},
		"which asks for fewer workers":             {func(l, _ *v1beta1.LoadTest) { l.Generation, l.Spec.Parallelism = 2, ptr.To[int32](7) }, edited(true)},
		"which another operator made so":           {func(l, _ *v1beta1.LoadTest) { l.Generation, l.Spec.Parallelism = 1, ptr.To[int32](7) }, edited(false)},
		"which asks for another mix":               {func(l, _ *v1beta1.LoadTest) { l.Generation, l.Spec.Requests[0].Weight = 2, ptr.To[int32](7) }, edited(true)},
		"which cannot ask for more": {func(l, _ *v1beta1.LoadTest) {
			l.Generation, l.Spec.Parallelism, l.Status.StartTime = 2, ptr.To[int32](7), &metav1.Time{Time: began}
		}, edited(false)},
		"which may be ended another way": {func(l, _ *v1beta1.LoadTest) {
			l.Generation = 3
			l.Spec.Suspend, l.Spec.Terminate, l.Spec.StartDeadlineSeconds, l.Spec.ActiveDeadlineSeconds, l.Spec.TTLSecondsAfterFinished = true, true, nil, minute, ptr.To[int32](1)
		}, edited(false)},
		"which ends it": {func(l, p *v1beta1.LoadTest) {
			l.Generation, l.Spec.Parallelism, p.Status.Internal.StopTime = 2, ptr.To[int32](7), &metav1.MicroTime{Time: began}
		}, &lifecycle.Parent{Name: "sale", Lists: true, Workers: 4, StartDeadline: minute, Begin: begin, Ends: true}},
		"which waits longer": {func(_, p *v1beta1.LoadTest) { p.Spec.StartDeadlineSeconds = ptr.To[int64](90) },
			&lifecycle.Parent{Name: "sale", Lists: true, Workers: 4, StartDeadline: ptr.To[int64](90), Begin: begin}},
		"none": {func(l, _ *v1beta1.LoadTest) { l.OwnerReferences = nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := begun(t)
			load := f.tests["sale-readers"]
			c.edit(load, f.parent)
			same.As(t, "parent", c.want, lifecycle.ParentOf(load, f.parent))
		})
	}
	f := begun(t)
	same.As(t, "one that does not exist", &lifecycle.Parent{Name: "sale"}, lifecycle.ParentOf(f.tests["sale-late"], nil))
	d := lifecycle.Decide(&v1beta1.LoadTest{Spec: ladder()}, policy.Rules{}, lifecycle.Observed{Parent: &lifecycle.Parent{Name: "sale", Strange: true}}, began)
	same.As(t, "Accepted", "False InvalidSpec: metadata.ownerReferences: LoadTest sale has not created this one for a load; create it without an owner.", said(d.Status, v1beta1.ConditionAccepted))
	d = lifecycle.Decide(&v1beta1.LoadTest{Spec: ladder()}, policy.Rules{}, lifecycle.Observed{Parent: edited(true)}, began)
	same.As(t, "Accepted", "False InvalidSpec: spec: it is not what LoadTest sale has for this load; create that LoadTest again with what you want, and do not edit those of its loads.", said(d.Status, v1beta1.ConditionAccepted))
}

// A load waits for its workers for as long as its LoadTest says, also if that was changed since.
func TestTheStartDeadlineOfALoad(t *testing.T) {
	lt := &v1beta1.LoadTest{Spec: ladder()} // startDeadlineSeconds: 60
	parent := &lifecycle.Parent{Name: "sale", Lists: true, StartDeadline: ptr.To[int64](90)}
	for range 2 {
		lt.Status = lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{Parent: parent}, began).Status
	}
	at := func(after time.Duration) v1beta1.Verdict {
		return lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{Parent: parent}, began.Add(after)).Status.Verdict
	}
	same.As(t, "a second before", v1beta1.Verdict(""), at(89*time.Second))
	same.As(t, "then", v1beta1.VerdictError, at(90*time.Second))
}

// The results of loads are archived before the LoadTest that has them, which may be deleted then;
// and the verdict of the run alone is announced.
func TestResultsOfLoadsAreArchivedFirst(t *testing.T) {
	f := begun(t)
	f.inTurn("readers Passed", "late Passed", "noise Canceled")
	keeps := func(lt *v1beta1.LoadTest, seen lifecycle.Observed) lifecycle.Keep {
		seen.Keeping.Wanted = policy.Results{Archived: true, Announced: true, Wait: time.Hour}
		seen.Keeping.Archive.Attempts = 1
		return lifecycle.Decide(lt, policy.Rules{}, seen, f.now).Keep
	}
	same.As(t, "before", lifecycle.Keep{Announce: true}, keeps(f.parent, f.seen()))
	for _, one := range f.tests {
		same.As(t, one.Name, lifecycle.Keep{Archive: true}, keeps(one, lifecycle.Observed{}))
		meta.SetStatusCondition(&one.Status.Conditions, metav1.Condition{Type: v1beta1.ConditionArchived, Status: metav1.ConditionTrue, Reason: "Archived"})
	}
	same.As(t, "after", lifecycle.Keep{Archive: true, Announce: true}, keeps(f.parent, f.seen()))
}

// A load in the background is cut when the others have ended, and judged by what it measured: what is due
// later is missed by nothing.
func TestALoadInTheBackgroundIsJudgedByWhatItMeasured(t *testing.T) {
	const cut = " Step 100 did not run as planned: the other loads had ended after 1s."
	for name, c := range map[string]struct {
		latency time.Duration
		want    string
		carried string
	}{
		"a target that keeps its thresholds": {0, "Inconclusive Unknown StepCut:" + cut, "True EndedWithOthers: All loads ended that are not in the background. The steps after it were skipped."},
		"a target that does not":             {time.Second, "Failed False ThresholdBreached: p95 is 1.000447s in step 100; at most 200ms is allowed.", "True EndedWithOthers: All loads ended that are not in the background. The steps after it were skipped."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, ladder())
			if c.latency > 0 {
				w.Latency = c.latency
			}
			var last v1beta1.LoadTestStatus
			w.Wrote = func(lt *v1beta1.LoadTest) { last = lt.Status }
			w.Decide = func(lt *v1beta1.LoadTest, rules policy.Rules, seen lifecycle.Observed, now time.Time) lifecycle.Decision {
				begin := began
				seen.Parent = &lifecycle.Parent{Name: "sale", Lists: true, Begin: &begin}
				if steps := lt.Status.Steps; len(steps) > 0 && steps[0].StartTime != nil && !now.Before(steps[0].StartTime.Add(time.Second)) {
					seen.Parent.Ends, seen.Parent.Background = true, true
				}
				d, err := lifecycle.DecideUnwritten(lt, rules, seen, now)
				must.Report(t, "inputs", err)
				return d
			}
			storyOf(t, w)
			same.As(t, "verdict", c.want, string(last.Verdict)+" "+said(last, v1beta1.ConditionThresholdsMet))
			same.As(t, "CarriedOut", c.carried, said(last, v1beta1.ConditionCarriedOut))
		})
	}
}
