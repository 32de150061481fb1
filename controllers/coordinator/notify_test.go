package coordinator

import (
	"testing"
	"time"
)

func TestNotifyPace(t *testing.T) {
	r := newRig(t)
	r.Direct("a", running("a", 2, 0))
	told := r.notifications()
	step := func(what string, want int) {
		t.Helper()
		if got := r.notifications() - told; got != want {
			t.Errorf("%s: told %d times, want %d", what, got, want)
		}
		told = r.notifications()
	}
	w0, w1 := r.connect("a", 0, "pod"), r.connect("a", 1, "pod")
	step("two workers came", 2)
	w0.ready(true, "", "")
	w0.ready(true, "", "")
	w0.sync()
	step("one is ready, and says so twice", 1)

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
