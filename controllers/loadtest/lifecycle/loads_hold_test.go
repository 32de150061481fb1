package lifecycle_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// suspend has a user hold the run, or resume it.
func (f *family) suspend(held bool) {
	f.t.Helper()
	f.parent.Spec.Suspend = held
	f.pass()
}

// holds has loads be held before their first step, as they are with the run.
func (f *family) holds(names ...string) {
	for _, name := range names {
		s := &f.tests["sale-"+name].Status
		s.Phase, s.StartTime = v1beta1.PhaseSuspended, nil
		s.Workers.Ready, s.Workers.Desired = 0, 1
		meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: v1beta1.ConditionSuspended, Status: metav1.ConditionTrue, Reason: v1beta1.ReasonSuspended, LastTransitionTime: metav1.NewTime(f.now)})
	}
}

const heldLoads = "True Suspended: spec.suspend holds the run: no load begins, and one that is under way is held before its next step. Set it to false to go on."

// While the run is held, no load gets an instant. Its delay counts from when the run is resumed.
func TestNoLoadBeginsWhileTheRunIsHeld(t *testing.T) {
	f := begun(t)
	f.suspend(true)
	f.now = began.Add(10 * time.Second)
	f.inTurn("readers Passed")
	f.expect("Suspended : readers 2s Passed, late -, noise 2s")
	same.As(t, "Suspended", heldLoads, said(f.parent.Status, v1beta1.ConditionSuspended))
	f.now = began.Add(time.Hour)
	f.suspend(false)
	f.expect("Running : readers 2s Passed, late 1h0m30s, noise 2s")
	same.As(t, "Suspended", "False Resumed: The run was resumed.", said(f.parent.Status, v1beta1.ConditionSuspended))
	f.now = f.now.Add(40 * time.Second)
	f.end("late", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
	f.beganAt("late", time.Hour+31*time.Second)
	f.pass()
	f.inTurn("noise Canceled")
	f.expect("Finished Passed: readers 2s Passed, late 1h0m30s Passed, noise 2s Canceled ended")
	same.As(t, "events", " Started Suspended Resumed Passed", f.events)
}

// A load that was held before its first step has given its workers back: it begins at another instant, once it
// has them again.
func TestLoadsThatWereHeldBeginOnceTheyHaveTheirWorkersAgain(t *testing.T) {
	f := begun(t)
	f.now = began.Add(10 * time.Second)
	f.suspend(true)
	f.holds("noise")
	f.pass()
	f.expect("Suspended : readers 2s, late -, noise -")
	if p := lifecycle.ParentOf(f.tests["sale-noise"], f.parent); !p.Suspends || p.Begin != nil {
		t.Errorf("the load reads %+v", p)
	}
	held := f.parent.DeepCopy()
	held.Spec.Suspend = false
	if p := lifecycle.ParentOf(f.tests["sale-noise"], held); !p.Suspends {
		t.Error("the load goes on before the instant is chosen anew")
	}
	f.now = began.Add(20 * time.Second)
	f.suspend(false)
	f.expect("Running : readers 2s, late -, noise -")
	f.tests["sale-noise"].Status.Phase = v1beta1.PhaseStarting // its condition is that of before
	f.pass()
	f.expect("Running : readers 2s, late -, noise -")
	f.ready("noise")
	f.pass()
	f.expect("Running : readers 2s, late -, noise 21s")
}

// Nothing begins while a run is held that has not begun. Once its loads have given their workers back it gives its place
// back, as any run that is held before its first step, and it begins again in its turn with all of its loads.
func TestLoadsThatAreHeldBeforeTheFirst(t *testing.T) {
	for name, act := range map[string]func(*family){
		"while they are created": func(f *family) {
			f.refused["late"] = &lifecycle.Refusal{Message: "the quota is used up", At: f.now}
			f.pass()
		},
		"when their instants were chosen": func(f *family) {
			f.pass()
			f.ready("readers", "late", "noise")
			f.pass()
			f.expect("Running : readers 1s, late -, noise 1s")
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFamily(t)
			act(f)
			f.suspend(true)
			f.now = began.Add(50 * time.Minute)
			same.As(t, "created", 0, len(f.pass().CreateLoads))
			if f.parent.Status.StartTime == nil {
				t.Error("the place is given back while loads have workers")
			}
			f.holds("readers", "noise")
			if f.refused["late"] == nil {
				f.holds("late")
			}
			f.pass()
			same.As(t, "phase", v1beta1.PhaseSuspended, f.parent.Status.Phase)
			same.As(t, "Suspended", "True Suspended: spec.suspend holds the run; set it to false to begin.", said(f.parent.Status, v1beta1.ConditionSuspended))
			if f.parent.Status.StartTime != nil || len(f.parent.Status.Loads) > 0 {
				t.Errorf("the run keeps its place: began at %v, with loads %v", f.parent.Status.StartTime, f.parent.Status.Loads)
			}
			if p := lifecycle.ParentOf(f.tests["sale-noise"], f.parent); p.Lists {
				t.Error("a load may begin without a place")
			}
			f.now = began.Add(100 * time.Hour)
			same.As(t, "until it is held too long", time.Duration(0), f.pass().RequeueAfter)
			delete(f.refused, "late")
			f.suspend(false)
			f.expect("Starting : readers -, late -, noise -")
			f.ready("readers", "late", "noise")
			f.pass()
			f.expect("Running : readers 100h0m1s, late -, noise 100h0m1s")
		})
	}
}

// A load may write that it begins while its run, which has not read that, gives its place back. It goes on waiting
// for the run, and gives its workers back as well.
func TestALoadThatBeginsAsThePlaceIsGivenBackWaits(t *testing.T) {
	f := newFamily(t)
	f.pass()
	f.holds("readers", "late", "noise")
	f.suspend(true)
	if f.parent.Status.StartTime != nil {
		t.Fatal("the run keeps its place")
	}
	load := f.tests["sale-noise"]
	load.Status.StartTime = &metav1.Time{Time: began}
	if p := lifecycle.ParentOf(load, f.parent); p == nil || !p.Suspends || p.Begin != nil {
		t.Errorf("while the run is held, the load reads %+v", p)
	}
	d, err := lifecycle.DecideUnwritten(f.parent, f.rules, f.seen(), f.now)
	must.Succeed(t, err)
	f.parent.Status, f.parent.Spec.Suspend = d.Status, false
	if d, err = lifecycle.DecideUnwritten(f.parent, f.rules, f.seen(), f.now); err != nil || d.Status.StartTime == nil {
		t.Fatalf("the run does not begin again: %v, %v", d.Status.StartTime, err)
	}
	f.parent.Status = d.Status // none of its loads is created yet
	if p := lifecycle.ParentOf(load, f.parent); p == nil || !p.Suspends || p.Begin != nil {
		t.Errorf("before the run lists it again, the load reads %+v", p)
	}
}

// A run whose loads have sent something keeps its place, although none of them has workers any more.
func TestLoadsThatAreHeldAfterTheFirstKeepTheirPlace(t *testing.T) {
	f := begun(t)
	f.suspend(true)
	f.end("readers", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
	f.holds("late", "noise")
	f.pass()
	f.expect("Suspended : readers 2s Passed, late -, noise -")
}

// A run that is held keeps its place, and ends once it was held for as long as it may be without anything
// being sent.
func TestLoadsThatAreHeldTooLong(t *testing.T) {
	for name, c := range map[string]struct {
		act  func(*family)
		from time.Duration
		line string
	}{
		"nothing has begun":   {func(*family) {}, 0, "Suspended : readers -, late -, noise -"},
		"a load had ended":    {func(f *family) { f.ends("readers", 10*time.Minute) }, 10 * time.Minute, "Suspended : readers - Passed, late -, noise -"},
		"a load was held":     {func(f *family) { f.heldFrom("readers", 20*time.Minute) }, 20 * time.Minute, "Suspended : readers -, late -, noise -"},
		"a load was held ago": {func(f *family) { f.heldFrom("readers", -time.Minute) }, 0, "Suspended : readers -, late -, noise -"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFamily(t)
			f.rules = rules(t, "limits: {namespaces: [{held: 1h}]}")
			f.pass()
			f.suspend(true)
			f.tests["sale-noise"].Status.Phase = v1beta1.PhaseRunning
			f.now = began.Add(100 * time.Hour)
			same.As(t, "while a load is sent", time.Duration(0), f.pass().RequeueAfter)
			f.tests["sale-noise"].Status.Phase = v1beta1.PhaseStarting
			f.now = began
			c.act(f)
			f.now = began.Add(c.from + time.Hour - time.Second)
			same.As(t, "until it is held too long", time.Second, f.pass().RequeueAfter)
			f.expect(c.line)
			f.now = f.now.Add(time.Second)
			f.pass()
			f.endAll(v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
			f.pass()
			same.As(t, "verdict", v1beta1.VerdictCanceled, f.parent.Status.Verdict)
			same.As(t, "why", "False HeldTooLong: spec.suspend held the run for 1h, as long as a run of namespace shop may be held with its place. What was measured is kept.", f.why())
		})
	}
}

// A run that is resumed and held again before anything is sent goes on being held: its time is not counted anew.
func TestARunThatIsHeldOverAndOverIsHeldTooLong(t *testing.T) {
	const half, minute = 30 * time.Minute, time.Minute
	for name, c := range map[string]struct {
		hold func(f *family, held bool)
		sent func(f *family) // nil: nothing is
		want time.Duration   // until it is held too long
	}{
		"by itself": {(*family).suspend, nil, half - minute},
		"by a load": {func(f *family, held bool) {
			f.tests["sale-noise"].Spec.Suspend = held
			f.ready("noise")
			if held {
				f.holds("noise")
			}
			f.pass()
		}, nil, half - minute},
		"with something sent between": {(*family).suspend, func(f *family) {
			f.tests["sale-readers"].Status.Phase = v1beta1.PhaseRunning
			f.pass()
			f.tests["sale-readers"].Status.Phase = v1beta1.PhaseStarting
		}, 2 * half},
		"with a load between that ended before it was seen": {(*family).suspend, func(f *family) {
			f.parent.Status.Loads[0].BeginTime = &metav1.MicroTime{Time: f.now}
		}, 2 * half},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFamily(t)
			f.rules = rules(t, "limits: {namespaces: [{held: 1h}]}")
			f.pass()
			f.ready("readers", "late")
			c.hold(f, true)
			f.now = began.Add(half)
			c.hold(f, false)
			f.now = f.now.Add(minute)
			if c.sent != nil {
				c.sent(f)
			}
			c.hold(f, true)
			same.As(t, "until it is held too long", c.want, f.pass().RequeueAfter)
		})
	}
}

// A load that is suspended by itself holds the others, which have their workers, and the place of all.
func TestALoadThatIsHeldByItselfTooLong(t *testing.T) {
	f := newFamily(t)
	f.rules = rules(t, "limits: {namespaces: [{held: 1h}]}")
	f.pass()
	f.ready("readers", "late")
	f.holds("noise")
	f.tests["sale-noise"].Spec.Suspend = true
	same.As(t, "until it is held too long", time.Hour, f.pass().RequeueAfter)
	f.expect("Starting : readers -, late -, noise -")
	f.now = began.Add(time.Hour)
	f.pass()
	f.endAll(v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
	f.pass()
	same.As(t, "why", "False HeldTooLong: spec.suspend of LoadTest sale-noise held the run for 1h, as long as a run of namespace shop may be held with its place. What was measured is kept.", f.why())
}

// A load that is held by itself counts from when nothing is sent beside it: until then it holds nothing up.
func TestALoadThatIsHeldByItselfBesideOthersThatAreSent(t *testing.T) {
	f := begun(t)
	f.rules = rules(t, "limits: {namespaces: [{held: 1h}]}")
	f.tests["sale-readers"].Status.Phase = v1beta1.PhaseRunning
	f.tests["sale-noise"].Status.Phase = v1beta1.PhaseRunning
	f.holds("late")
	f.tests["sale-late"].Spec.Suspend = true
	f.now = began.Add(2 * time.Hour)
	f.pass()
	f.expect("Running : readers 2s, late -, noise 2s")
	if f.parent.Status.Internal.StopCause != nil {
		t.Errorf("the run is ended while its other loads are sent: %s", f.parent.Status.Internal.StopCause.Message)
	}
	f.inTurn("readers Passed, noise Passed")
	f.now = f.now.Add(time.Hour - time.Second)
	same.As(t, "until it is held too long", time.Second, f.pass().RequeueAfter)
	f.now = f.now.Add(time.Second)
	f.pass()
	if f.parent.Status.Internal.StopCause == nil {
		t.Error("the run is not ended once nothing was sent for as long as it may be held")
	}
}

// While the run itself is held, without its place, a load of it may be held by itself for any time.
func TestALoadThatWasHeldByItselfBeforeTheRunWasResumed(t *testing.T) {
	f := newFamily(t)
	f.rules = rules(t, "limits: {namespaces: [{held: 1h}]}")
	f.pass()
	f.holds("readers", "late", "noise")
	noise := f.tests["sale-noise"]
	noise.Spec.Suspend = true
	f.suspend(true)
	f.now = began.Add(100 * time.Hour)
	f.suspend(false)
	f.tests["sale-noise"] = noise
	f.expect("Starting : readers -, late -, noise -")
	same.As(t, "until it is held too long", time.Hour, f.pass().RequeueAfter)
	if cause := f.parent.Status.Internal.StopCause; cause != nil {
		t.Errorf("the run is ended as it is resumed: %s", cause.Message)
	}
}

// ends has a load pass so long after the first pass.
func (f *family) ends(name string, after time.Duration) {
	f.t.Helper()
	f.now = began.Add(after)
	f.inTurn(name + " Passed")
}

// heldFrom has a load be held between two of its steps since so long after the first pass.
func (f *family) heldFrom(name string, after time.Duration) {
	s := &f.tests["sale-"+name].Status
	s.Phase, s.StartTime = v1beta1.PhaseSuspended, &metav1.Time{Time: began}
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: v1beta1.ConditionSuspended, Status: metav1.ConditionTrue, Reason: v1beta1.ReasonSuspended, LastTransitionTime: metav1.NewTime(began.Add(after))})
}
