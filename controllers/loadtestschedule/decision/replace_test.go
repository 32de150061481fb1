package decision_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// With Replace, a time is not missed while the LoadTest in whose place another starts goes, however long that
// takes.
func TestATimeIsNotMissedWhileItReplacesAnother(t *testing.T) {
	for name, c := range map[string]struct {
		first, gone string
		suspended   bool
		want        string
	}{
		"in time":                     {"01:00:30", "01:05:00", false, "start " + name("01:00:00")},
		"replaced too late":           {"01:01:01", "01:05:00", false, "missed 1"},
		"the next time has come":      {"01:00:30", "02:00:10", false, "start " + name("02:00:00")},
		"the schedule was held, then": {"01:00:30", "01:05:00", true, "missed 1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := nightly(func(s *v1beta1.LoadTestSchedule) {
				s.Spec.ConcurrencyPolicy, s.Spec.StartingDeadlineSeconds = v1beta1.ReplaceConcurrent, new(int64(60))
			})
			r := running("nightly-x", "00:59:20")
			s = settled(s, decision.Observed{}, at("00:59:31"))
			s = settled(s, decision.Observed{Runs: []decision.LoadTest{r}}, at(c.first))
			r.Deleting = true // by its finalizer
			s.Spec.Suspend = c.suspended
			s = settled(s, decision.Observed{Runs: []decision.LoadTest{r}}, at("01:01:02"))
			s.Spec.Suspend = false
			same.As(t, "decision", c.want, done(decision.Decide(s, decision.Observed{}, at(c.gone))))
		})
	}
}

// What the API server refuses replaces nothing: the LoadTest that runs stays, and the time is missed.
func TestATimeIsMissedWhileItsLoadTestIsRefused(t *testing.T) {
	s := nightly(func(s *v1beta1.LoadTestSchedule) {
		s.Spec.ConcurrencyPolicy, s.Spec.StartingDeadlineSeconds = v1beta1.ReplaceConcurrent, new(int64(60))
	})
	seen := decision.Observed{Runs: []decision.LoadTest{running("nightly-x", "00:59:20")}}
	s = settled(s, decision.Observed{}, at("00:59:31"))
	s = settled(s, seen, at("01:00:30"))
	seen.Refused = &decision.Refused{}
	got := decision.Decide(s, seen, at("01:40:00"))
	same.As(t, "decision", "missed 1", done(got))
	if noted := got.Status.LastScheduleTime; noted != nil {
		t.Errorf("lastScheduleTime is %v", noted)
	}
}
