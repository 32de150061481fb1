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
	const killed = "OOMKilled, exit code 137"
	for name, tc := range map[string]struct {
		second  bool          // an operator has ended before, and another instant is stored
		told    bool          // the first worker knows of the instant
		back    time.Duration // until the workers notice that the operator has ended
		also    func(w *World)
		holds   bool // the instant that this operator had stored
		verdict v1beta1.Verdict
	}{
		"none was told, and all are back in time":          {back: inTime, holds: true, verdict: v1beta1.VerdictPassed},
		"none was told, and all are back late":             {back: late, verdict: v1beta1.VerdictPassed},
		"none was told, and one is back late":              {back: inTime, also: func(w *World) { w.Workers[1].isCutOff(late) }, verdict: v1beta1.VerdictPassed},
		"one was told, and all are back in time":           {told: true, back: inTime, holds: true, verdict: v1beta1.VerdictPassed},
		"one was told, and all are back late":              {told: true, back: late, holds: true, verdict: v1beta1.VerdictInconclusive},
		"one was told, and is back late":                   {told: true, back: inTime, also: func(w *World) { w.Workers[0].isCutOff(late) }, holds: true, verdict: v1beta1.VerdictInconclusive},
		"one was told, and dies":                           {told: true, back: inTime, also: func(w *World) { w.Workers[0].Die(killed) }, holds: true, verdict: v1beta1.VerdictInconclusive},
		"one was told, begins, and dies before it is back": {told: true, back: late, also: func(w *World) { w.Workers[0].end(killed, 800*time.Millisecond) }, holds: true, verdict: v1beta1.VerdictInconclusive},
		"a second operator ends, and none was told":        {second: true, back: late, verdict: v1beta1.VerdictPassed},
		"a second operator ends, and one was told":         {second: true, told: true, back: inTime, holds: true, verdict: v1beta1.VerdictPassed},
	} {
		t.Run(name, func(t *testing.T) {
			w := (&story{name: name, latency: 20 * time.Millisecond}).newWorld()
			at := w.untilChosen(t, time.Time{})
			if tc.second {
				restart(again, late, 0)(w)
				at = w.untilChosen(t, at)
			}
			if tc.told {
				w.untilOneIsTold(t)
			}
			if tc.also != nil {
				tc.also(w)
			}
			restart(again, tc.back, 0)(w)
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
