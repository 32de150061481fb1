package coordinator

import (
	"fmt"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestSnapshotsAreNotifiedOnceASecond(t *testing.T) {
	r := newFixture(t)
	r.Direct("a", running("a", 2, 0))
	before := r.notifications()
	step := func(what string, want int) {
		t.Helper()
		same.As(t, what+": notified", want, r.notifications()-before)
		before = r.notifications()
	}
	w0, w1 := r.connect("a", 0, "pod"), r.connect("a", 1, "pod")
	step("two workers came, the second within a second of the first", 1)
	w0.ready(true, "", "")
	w0.sync()
	step("one is ready", 0)
	w1.ready(true, "", "")
	w1.ready(true, "", "")
	w1.sync()
	step("both are ready, and one says so twice", 1)

	r.clock.Step(300 * time.Millisecond)
	for sequence := range int64(5) {
		w0.snapshot(snapshot(t, 0, sequence+1, false, 10))
	}
	w0.sync()
	step("snapshots within a second of the last notification", 0)
	r.clock.Step(700 * time.Millisecond)
	r.fire()
	step("the second is over", 1)
	r.fire()
	step("nothing came since", 0)
	r.clock.Step(time.Second)
	w0.snapshot(snapshot(t, 0, 6, false, 10))
	w0.sync()
	step("a snapshot after a quiet second", 1)

	w0.snapshot(snapshot(t, 0, 7, true, 10))
	w0.sync()
	step("one of two is done", 0)
	w1.snapshot(snapshot(t, 0, 1, true, 10))
	w1.sync()
	step("both are done", 1)
	r.fire()
	step("which included the first", 0)
	w1.snapshot(snapshot(t, 0, 2, true, 10))
	w1.sync()
	r.fire()
	step("a stale snapshot", 0)
}

// A change that is not urgent is notified a second after the last notification.
func TestLaterChangeIsNotifiedAfterASecond(t *testing.T) {
	c, clk, notices := newIdleCoordinator()
	var pending []func()
	c.after = func(_ time.Duration, f func()) func() {
		pending = append(pending, f)
		i := len(pending) - 1
		return func() { pending[i] = func() {} }
	}
	fire := func() {
		for _, f := range pending {
			f()
		}
		pending = nil
	}
	r := newRunState("a")
	r.notified = noon
	for second := range 3 {
		c.notifyChange(r, soon)
		c.notifyChange(r, soon)
		if notices() != second {
			t.Errorf("second %d: notified %d times before it was over", second, notices())
		}
		clk.Step(time.Second)
		fire()
		if notices() != second+1 {
			t.Errorf("second %d: notified %d times, want once in each", second, notices())
		}
	}
	c.notifyChange(r, soon)
	c.notifyChange(r, atOnce)
	fire()
	if notices() != 4 {
		t.Errorf("notified %d times, want once of both changes", notices())
	}
}

func TestForgottenAndStoppingRunsNotifyNothing(t *testing.T) {
	c, clk, notices := newIdleCoordinator()
	c.Direct("a", running("a", 1, 0))
	r := c.runs["a"]
	c.Forget("a")
	clk.Step(time.Minute)
	c.notifyChange(r, atOnce)
	c.Direct("b", running("b", 1, 0))
	c.stop()
	c.notifyChange(c.runs["b"], atOnce)
	if notices() != 0 {
		t.Errorf("notified %d times", notices())
	}
}

// A worker whose readiness changes all the time has its run looked at once a second,
// as if it sent snapshots.
func TestReadinessIsPaced(t *testing.T) {
	c, clk, notices := newIdleCoordinator()
	c.Direct("a", running("a", 1, 0))
	s := attached(t, c, "a", 0)
	const seconds = 60
	for i := range 100 * seconds {
		for _, m := range []*workerv1.Readiness{{Reason: workerv1.ReasonTargetUnreachable, Message: fmt.Sprint("try ", i)}, {Ready: true}} {
			must.Succeed(t, c.readiness(s, m))
		}
		clk.Step(10 * time.Millisecond)
	}
	if want := 2*seconds + maxUrgent + 1; notices() > want {
		t.Errorf("notified %d times in %d s, want at most %d", notices(), seconds, want)
	}
}
