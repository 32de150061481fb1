package decision_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A LoadTest that finishes after the clock was set back is seen to have finished, once.
func TestALoadTestThatFinishesAfterTheClockWasSetBack(t *testing.T) {
	s := nightly(nil)
	a := finished(name("01:00:00"), "01:00:00", "02:05:00", v1beta1.VerdictPassed) // by a clock that was an hour ahead
	s = settled(s, decision.Observed{Runs: []decision.LoadTest{a}}, at("01:06:00"))
	s.Status.History = []v1beta1.FiguresOfRun{{Name: a.Name, CompletionTime: *s.Status.LastFinished.CompletionTime}}
	b := finished("nightly-x", "01:10:00", "01:20:00", v1beta1.VerdictFailed)
	measured := map[string]*decision.Measured{b.Name: {Figures: v1beta1.FiguresOfRun{Name: b.Name}}}
	s = settled(s, decision.Observed{Runs: []decision.LoadTest{a, b}, Measured: measured}, at("01:20:01"))
	if n := len(s.Status.History); n != 2 {
		t.Errorf("the history has %d LoadTests", n)
	}
	if s.Status.LastFinished.Name != b.Name || s.Status.Summary.Verdict != "Failed" {
		t.Errorf("last finished %s, verdict %s", s.Status.LastFinished.Name, s.Status.Summary.Verdict)
	}
}

// Of two LoadTests side by side, the one that finishes later is the last, whichever was created first.
func TestTheLastOfTwoThatRanSideBySide(t *testing.T) {
	s := nightly(nil)
	a, b := running("nightly-a", "01:00:30"), running("nightly-b", "01:10:00")
	s = settled(s, decision.Observed{Runs: []decision.LoadTest{a, b}}, at("01:11:00"))
	b = finished(b.Name, "01:10:00", "01:20:00", v1beta1.VerdictFailed)
	s = settled(s, decision.Observed{Runs: []decision.LoadTest{a, b}}, at("01:20:00"))
	same.As(t, "the first", b.Name, s.Status.LastFinished.Name)
	a = finished(a.Name, "01:00:30", "01:30:00", v1beta1.VerdictPassed)
	s = settled(s, decision.Observed{Runs: []decision.LoadTest{a, b}}, at("01:30:00"))
	same.As(t, "the second", a.Name, s.Status.LastFinished.Name)
}
