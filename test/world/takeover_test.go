package world

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// advance lets everything happen until something is so.
func (w *World) advance(t *testing.T, what string, is func() bool) {
	t.Helper()
	for !is() {
		if len(w.queue) == 0 {
			t.Fatalf("the world ends before this: %s\n%s", what, w)
		}
		next := w.next()
		w.events++
		next.what()
	}
}

// untilChosen lets everything happen until another instant than before is stored for the first step,
// which no worker knows of.
func (w *World) untilChosen(t *testing.T, before time.Time) (at time.Time) {
	t.Helper()
	w.advance(t, "an instant is stored", func() bool {
		s := w.api.lt.Status.Steps
		if len(s) > 0 && s[0].StartTime != nil {
			at = s[0].StartTime.Time
		}
		return !at.Equal(before)
	})
	return at
}

// untilOneIsTold lets everything happen until the first worker, and no other, knows of the first step.
func (w *World) untilOneIsTold(t *testing.T) {
	t.Helper()
	for _, x := range w.Workers[1:] {
		x.cutOff = true
	}
	w.advance(t, "one worker is told", func() bool { return w.Workers[0].running != nil })
	for _, x := range w.Workers[1:] {
		x.cutOff = false
	}
}

// An operator that ends around the choice of an instant leaves it to the next one: it holds if a
// worker may know of it, and is replaced by another one if it has passed and none does. A run in
// which workers began a step apart is not Passed.
func TestTakeoverAroundTheStartOfAStep(t *testing.T) {
	const inTime, late, again = 100 * time.Millisecond, time.Second, 50 * time.Millisecond // the lead is half a second
	for name, tc := range map[string]struct {
		// script returns the instant that the last operator but one had stored.
		script  func(t *testing.T, w *World) time.Time
		holds   bool
		verdict v1beta1.Verdict
	}{
		"none was told, and all are back in time": {func(t *testing.T, w *World) time.Time {
			at := w.untilChosen(t, time.Time{})
			restart(again, inTime, 0)(w)
			return at
		}, true, v1beta1.VerdictPassed},
		"none was told, and all are back late": {func(t *testing.T, w *World) time.Time {
			at := w.untilChosen(t, time.Time{})
			restart(again, late, 0)(w)
			return at
		}, false, v1beta1.VerdictPassed},
		"none was told, and one is back late": {func(t *testing.T, w *World) time.Time {
			at := w.untilChosen(t, time.Time{})
			w.Workers[1].isCutOff(late)
			restart(again, inTime, 0)(w)
			return at
		}, false, v1beta1.VerdictPassed},
		"one was told, and all are back in time": {func(t *testing.T, w *World) time.Time {
			at := w.untilChosen(t, time.Time{})
			w.untilOneIsTold(t)
			restart(again, inTime, 0)(w)
			return at
		}, true, v1beta1.VerdictPassed},
		"one was told, and all are back late": {func(t *testing.T, w *World) time.Time {
			at := w.untilChosen(t, time.Time{})
			w.untilOneIsTold(t)
			restart(again, late, 0)(w)
			return at
		}, true, v1beta1.VerdictInconclusive},
		"one was told, and is back late": {func(t *testing.T, w *World) time.Time {
			at := w.untilChosen(t, time.Time{})
			w.untilOneIsTold(t)
			w.Workers[0].isCutOff(late)
			restart(again, inTime, 0)(w)
			return at
		}, true, v1beta1.VerdictInconclusive},
		"one was told, and dies": {func(t *testing.T, w *World) time.Time {
			at := w.untilChosen(t, time.Time{})
			w.untilOneIsTold(t)
			restart(again, inTime, 0)(w)
			w.Workers[0].Die("OOMKilled, exit code 137")
			return at
		}, true, v1beta1.VerdictInconclusive},
		"one was told, begins, and dies before it is back": {func(t *testing.T, w *World) time.Time {
			at := w.untilChosen(t, time.Time{})
			w.untilOneIsTold(t)
			restart(again, late, 0)(w)
			w.Workers[0].end("OOMKilled, exit code 137", 800*time.Millisecond)
			return at
		}, true, v1beta1.VerdictInconclusive},
		"a second operator ends, and none was told": {func(t *testing.T, w *World) time.Time {
			at := w.untilChosen(t, time.Time{})
			restart(again, late, 0)(w)
			at = w.untilChosen(t, at)
			restart(again, late, 0)(w)
			return at
		}, false, v1beta1.VerdictPassed},
		"a second operator ends, and one was told": {func(t *testing.T, w *World) time.Time {
			at := w.untilChosen(t, time.Time{})
			restart(again, late, 0)(w)
			at = w.untilChosen(t, at)
			w.untilOneIsTold(t)
			restart(again, inTime, 0)(w)
			return at
		}, true, v1beta1.VerdictPassed},
	} {
		t.Run(name, func(t *testing.T) {
			w := (&story{name: name, latency: 20 * time.Millisecond}).newWorld()
			at := tc.script(t, w)
			w.runFaulty()
			s := &w.api.lt.Status
			holds := s.Steps[0].StartTime.Time.Equal(at)
			if len(w.violations) > 0 || s.Verdict != tc.verdict || holds != tc.holds || s.Verdict == v1beta1.VerdictPassed && w.latest > 0 {
				t.Errorf("verdict %s, the instant holds: %t, a worker began %v late, and is violated: %q; want %s, %t\n%s",
					s.Verdict, holds, w.latest, w.violations, tc.verdict, tc.holds, w)
			}
		})
	}
}
