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
	taken   string
	events  []string
}

// newFamily is a LoadTest with a load named readers, one named late, 30 s after it, and one in the
// background.
func newFamily(t *testing.T) *family {
	t.Helper()
	spec := ladder()
	steps := spec.Ladder
	spec.Ladder, spec.Parallelism, spec.Thresholds = nil, nil, nil
	spec.Loads = []v1beta1.Load{
		{Name: "readers", Ladder: steps},
		{Name: "late", After: "readers", Delay: &metav1.Duration{Duration: 30 * time.Second}, Ladder: steps},
		{Name: "noise", Background: true, Parallelism: ptr.To[int32](2), Ladder: steps},
	}
	f := &family{t: t, now: began, parent: &v1beta1.LoadTest{Spec: spec}, tests: map[string]*v1beta1.LoadTest{}, refused: map[string]*lifecycle.Refusal{}}
	f.parent.Namespace, f.parent.Name, f.parent.UID = "shop", "sale", "parent"
	return f
}

// seen is what a pass over the LoadTest reads.
func (f *family) seen() lifecycle.Observed {
	var seen lifecycle.Observed
	for _, l := range f.parent.Status.Loads {
		one := f.tests[l.Test]
		seen.Loads = append(seen.Loads, lifecycle.LoadSeen{Test: one, Whole: one != nil && lifecycle.Finished(one), Refused: f.refused[l.Name], Taken: f.taken == l.Name})
	}
	return seen
}

// pass makes passes over the LoadTest until nothing changes, and creates what they ask for.
func (f *family) pass() {
	f.t.Helper()
	for range 20 {
		d, err := lifecycle.DecideUnwritten(f.parent, policy.Rules{}, f.seen(), f.now)
		must.Succeed(f.t, err)
		for _, e := range d.Events {
			f.events = append(f.events, e.Reason)
		}
		for _, one := range d.CreateLoads {
			if name := strings.TrimPrefix(one.Name, "sale-"); f.refused[name] == nil && f.taken != name {
				one.UID = types.UID("uid-" + name)
				f.tests[one.Name] = one
				f.load(&d.Status, name).UID = string(one.UID)
			}
		}
		if equality.Semantic.DeepEqual(f.parent.Status, d.Status) {
			return
		}
		f.parent.Status = d.Status
	}
	f.t.Fatal("the status does not settle")
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
	f.t.Helper()
	for _, name := range names {
		one := f.tests["sale-"+name]
		one.Status.Phase = v1beta1.PhaseStarting
		one.Status.Workers.Ready = 1
		meta.SetStatusCondition(&one.Status.Conditions, metav1.Condition{Type: v1beta1.ConditionWorkersReady, Status: metav1.ConditionTrue, Reason: v1beta1.ReasonAllReady})
	}
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
	result := &v1beta1.StepResult{Due: 11, Unsent: 1, Histogram: encoded}
	result.Sent, result.Expected, result.Failed = 10, 8, 2
	s.Steps = []v1beta1.StepStatus{{Name: "pause"}, {Name: "all", Result: result}}
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

func (f *family) expect(want string) {
	f.t.Helper()
	if got := f.line(); got != want {
		f.t.Errorf("%s\nwant %s", got, want)
	}
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
	f.pass()
	f.expect("Starting : readers -, late -, noise -")
	same.As(t, "desired workers", 4, f.parent.Status.Workers.Desired)
	f.ready("readers", "noise")
	f.pass()
	f.expect("Starting : readers -, late -, noise -")
	if got := said(f.parent.Status, v1beta1.ConditionWorkersReady); got != "False Waiting: Not all loads have their workers ready yet: late." {
		t.Error(got)
	}
	f.now = f.now.Add(time.Second)
	f.ready("late")
	f.pass()
	f.expect("Running : readers 2s, late -, noise 2s")
	if s := f.parent.Status.Summary; s.Step != "0/3 loads" || s.Workers != "3/4" {
		t.Errorf("summary %+v", s)
	}
}

// The one after another begins at its end and the delay, what is in the background ends with the others,
// and all are added up.
func TestLoadsFollowEachOtherToTheEnd(t *testing.T) {
	f := begun(t)
	f.now = began.Add(10 * time.Second)
	f.end("readers", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
	f.pass()
	f.expect("Running : readers 2s Passed, late 40s, noise 2s")
	f.now = began.Add(50 * time.Second)
	f.end("late", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
	f.pass()
	if f.parent.Status.Internal.StopTime == nil {
		t.Error("the load in the background is not ended")
	}
	f.expect("Running : readers 2s Passed, late 40s Passed, noise 2s")
	f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
	f.pass()
	f.expect("Finished Passed: readers 2s Passed, late 40s Passed, noise 2s Canceled ended")
	s := &f.parent.Status
	same.As(t, "Passed", "True Passed: Load readers: the thresholds of readers. Load late: the thresholds of late.", said(*s, v1beta1.ConditionPassed))
	same.As(t, "CarriedOut", "True AllStepsRan: All loads ran.", said(*s, v1beta1.ConditionCarriedOut))
	of := func(r *v1beta1.LoadResult) string {
		return fmt.Sprintf("due %d, sent %d, unsent %d, expected %d, failed %d, p50 %s of %d", r.Due, r.Sent, r.Unsent, r.Expected, r.Failed, r.ResponseTime.P50.Duration, r.ResponseTime.Samples)
	}
	same.As(t, "noise", "due 11, sent 10, unsent 1, expected 8, failed 2, p50 5.003ms of 10", of(s.Loads[2].Result))
	same.As(t, "together", "due 33, sent 30, unsent 3, expected 24, failed 6, p50 5.003ms of 30", of(s.Together))
	same.As(t, "summary", v1beta1.Summary{Step: "3/3 loads", Workers: s.Summary.Workers, Errors: "20%", Unsent: "9.09%", P95: s.Summary.P95, P99: s.Summary.P99}, s.Summary)
}

// The verdict is that of the worst load; those that the run ended do not count.
func TestVerdictOfLoads(t *testing.T) {
	for name, c := range map[string]struct {
		act  func(*family)
		want string
		why  string
	}{
		"one fails": {func(f *family) {
			f.end("readers", v1beta1.VerdictFailed, v1beta1.ReasonAllStepsRan)
			f.pass()
			f.end("late", v1beta1.VerdictInconclusive, v1beta1.ReasonAllStepsRan)
			f.pass()
			f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
		}, "Finished Failed: readers 2s Failed, late 31s Inconclusive, noise 2s Canceled ended", "False ReasonOfFailed: Load readers: the thresholds of readers."},
		"one is undecided": {func(f *family) {
			f.end("readers", v1beta1.VerdictInconclusive, v1beta1.ReasonStoppedOnWorkerLoss)
			f.pass()
			f.end("late", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
			f.pass()
			f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
		}, "Finished Inconclusive: readers 2s Inconclusive, late 31s Passed, noise 2s Canceled ended", "Unknown ReasonOfInconclusive: Load readers: the thresholds of readers."},
		"one could not be carried out": {func(f *family) {
			f.end("readers", v1beta1.VerdictError, v1beta1.ReasonStartDeadlineExceeded)
			f.pass()
			f.end("late", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
			f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
		}, "Finished Error: readers 2s Error, late - Canceled ended, noise 2s Canceled ended", "Unknown NotFinished: The run ended before it could be judged."},
		"one is canceled by hand": {func(f *family) {
			f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
			f.pass()
			f.end("readers", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
			f.end("late", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
		}, "Finished Canceled: readers 2s Canceled ended, late - Canceled ended, noise 2s Canceled", "Unknown NotFinished: The run ended before it could be judged."},
		"one aborts": {func(f *family) {
			f.end("readers", v1beta1.VerdictFailed, v1beta1.ReasonAborted)
			f.pass()
			f.end("late", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
			f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
		}, "Finished Failed: readers 2s Failed, late - Canceled ended, noise 2s Canceled ended", "False ReasonOfFailed: Load readers: the thresholds of readers."},
		"the background fails before the others end": {func(f *family) {
			f.end("noise", v1beta1.VerdictFailed, v1beta1.ReasonStoppedOnBreach)
			f.pass()
			f.end("readers", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
			f.pass()
			f.end("late", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
		}, "Finished Failed: readers 2s Passed, late 31s Passed, noise 2s Failed", "False ReasonOfFailed: Load noise: the thresholds of noise."},
		"one is deleted": {func(f *family) {
			delete(f.tests, "sale-readers")
			f.pass()
			f.end("late", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
			f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
		}, "Finished Error: readers 2s Error, late - Canceled ended, noise 2s Canceled ended", "Unknown NotFinished: The run ended before it could be judged."},
		"another takes its name": {func(f *family) {
			f.tests["sale-readers"] = &v1beta1.LoadTest{}
			f.pass()
			f.end("late", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
			f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
		}, "Finished Error: readers 2s Error, late - Canceled ended, noise 2s Canceled ended", "Unknown NotFinished: The run ended before it could be judged."},
	} {
		t.Run(name, func(t *testing.T) {
			f := begun(t)
			c.act(f)
			f.pass()
			f.expect(c.want)
			if c := v1beta1.NotCarriedOut(f.parent.Status.Conditions); strings.Contains(name, "deleted") || strings.Contains(name, "takes its name") {
				same.As(t, "CarriedOut", "LoadDeleted", c.Reason)
			}
			same.As(t, "ThresholdsMet", c.why, said(f.parent.Status, v1beta1.ConditionThresholdsMet))
		})
	}
}

// What the user, the administrator or a deadline ends is Canceled or Error, with what was measured.
func TestLoadsAreEndedWithTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		ask  func(*family)
		want string
	}{
		"terminated":      {func(f *family) { f.parent.Spec.Terminate = true }, "Canceled Terminated"},
		"out of its time": {func(f *family) { f.parent.Spec.ActiveDeadlineSeconds = ptr.To[int64](1) }, "Error DeadlineExceeded"},
		"in time and then": {func(f *family) {
			f.parent.Spec.ActiveDeadlineSeconds = ptr.To[int64](5)
			f.now = began.Add(5 * time.Second)
		}, "Error DeadlineExceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			f := begun(t)
			c.ask(f)
			f.pass()
			for _, one := range f.tests {
				if p := lifecycle.ParentOf(one, f.parent); !p.Ends {
					t.Errorf("%s is not ended", one.Name)
				}
			}
			for _, name := range []string{"readers", "late", "noise"} {
				f.end(name, v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
			}
			f.pass()
			same.As(t, "outcome", c.want, string(f.parent.Status.Verdict)+" "+v1beta1.NotCarriedOut(f.parent.Status.Conditions).Reason)
			if f.parent.Status.Together == nil {
				t.Error("nothing is kept of what was measured")
			}
		})
	}
}

// A LoadTest that the API server refuses is tried again until the start deadline, and then, or at once if
// it never takes it, the run ends.
func TestLoadsThatAreRefused(t *testing.T) {
	f := newFamily(t)
	f.refused["late"] = &lifecycle.Refusal{Message: "the quota is used up", At: f.now}
	f.pass()
	f.expect("Starting : readers -, late -, noise -")
	if got := said(f.parent.Status, v1beta1.ConditionWorkersReady); got != "False CreateRefused: The API server refuses LoadTest sale-late: the quota is used up." {
		t.Error(got)
	}
	f.now = began.Add(time.Minute)
	f.refused["late"].At = f.now
	f.pass()
	for _, name := range []string{"readers", "noise"} {
		f.end(name, v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
	}
	f.pass()
	f.expect("Finished Error: readers - Canceled ended, late - Error, noise - Canceled ended")
	same.As(t, "CarriedOut", "False CreateRefused: Load late: The API server refuses the LoadTest: the quota is used up. What was measured is kept.", said(f.parent.Status, v1beta1.ConditionCarriedOut))

	taken := newFamily(t)
	taken.taken = "late"
	taken.pass()
	same.As(t, "CarriedOut", "False CreateRefused: A LoadTest named sale-late exists and is not of this run; delete it, or give the load another name.", said(taken.parent.Status, v1beta1.ConditionCarriedOut))
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
	for name, c := range map[string]struct {
		parent *lifecycle.Parent
		after  time.Duration
		start  string
	}{
		"not chosen":            {&lifecycle.Parent{Name: "sale", Lists: true}, 0, "-"},
		"past the deadline":     {&lifecycle.Parent{Name: "sale", Lists: true}, time.Hour, "-"},
		"far ahead":             {parent(time.Minute), 0, "-"},
		"a second ahead":        {parent(time.Minute), 59 * time.Second, "1m0s"},
		"just ahead":            {parent(time.Minute), 59*time.Second + 900*time.Millisecond, "1m0.4s"},
		"past":                  {parent(time.Minute), 2 * time.Minute, "2m0.5s"},
		"without a LoadTest":    {nil, 0, "500ms"},
		"suspended by the test": {&lifecycle.Parent{Name: "sale", Lists: true, Begin: parent(0).Begin, Suspends: true}, 0, "suspended"},
		"ended by the test":     {&lifecycle.Parent{Name: "sale", Lists: true, Begin: parent(0).Begin, Ends: true}, 0, "LoadTest sale, which has the load, ended it; what was measured is kept."},
	} {
		t.Run(name, func(t *testing.T) {
			seen.Parent = c.parent
			d := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(c.after))
			got := "-"
			switch s := d.Status; {
			case s.Phase == v1beta1.PhaseSuspended:
				got = "suspended"
			case s.Verdict != "":
				got = v1beta1.NotCarriedOut(s.Conditions).Message
			case s.Steps[0].StartTime != nil:
				got = s.Steps[0].StartTime.Sub(began).String()
			}
			same.As(t, "start", c.start, got)
		})
	}
}

// Whoever names an owner is not a load of it: it would have no place in the queue.
func TestALoadThatOnlySaysSoIsRefused(t *testing.T) {
	f := begun(t)
	forged := &v1beta1.LoadTest{Spec: ladder()}
	forged.Name, forged.UID, forged.OwnerReferences = "mine", "mine", f.tests["sale-late"].OwnerReferences
	same.As(t, "another name", &lifecycle.Parent{Name: "sale", Strange: true}, lifecycle.ParentOf(forged, f.parent))
	forged.Name = "sale-late"
	same.As(t, "another UID", &lifecycle.Parent{Name: "sale", Strange: true}, lifecycle.ParentOf(forged, f.parent))
	forged.OwnerReferences[0].UID = "before"
	same.As(t, "an owner that is gone", &lifecycle.Parent{Name: "sale"}, lifecycle.ParentOf(forged, f.parent))
	same.As(t, "no owner", (*lifecycle.Parent)(nil), lifecycle.ParentOf(&v1beta1.LoadTest{}, f.parent))
	d := lifecycle.Decide(forged, policy.Rules{}, lifecycle.Observed{Parent: &lifecycle.Parent{Name: "sale", Strange: true}}, began)
	same.As(t, "Accepted", "False InvalidSpec: metadata.ownerReferences: LoadTest sale has not created this one for a load; create it without an owner.", said(d.Status, v1beta1.ConditionAccepted))
}

// The results of loads are archived before those of the LoadTest that has them, which may be deleted then;
// and the verdict of the run alone is announced.
func TestResultsOfLoadsAreArchivedFirst(t *testing.T) {
	f := begun(t)
	f.end("readers", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
	f.pass()
	f.end("late", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
	f.pass()
	f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
	f.pass()
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
