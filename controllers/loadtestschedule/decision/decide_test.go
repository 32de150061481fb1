package decision_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// day is the Friday of these tests.
func at(clock string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05", "2026-11-20 "+clock)
	if err != nil {
		panic(err)
	}
	return t
}

// nightly is a schedule that was created at midnight and has been seen.
func nightly(change func(*v1beta1.LoadTestSchedule)) *v1beta1.LoadTestSchedule {
	s := &v1beta1.LoadTestSchedule{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "nightly", UID: "u", Generation: 1, CreationTimestamp: metav1.NewTime(at("00:00:00"))},
		Spec: v1beta1.LoadTestScheduleSpec{
			Schedule: "0 * * * *", ConcurrencyPolicy: v1beta1.ForbidConcurrent,
			SuccessfulRunsHistoryLimit: new(int32(3)), FailedRunsHistoryLimit: new(int32(1)),
			Template: v1beta1.LoadTestTemplate{Spec: v1beta1.LoadTestSpec{Requests: []v1beta1.Request{{Name: "health", HTTP: &v1beta1.HTTPRequest{Path: "/health"}}}}},
		},
	}
	s.Status.ObservedGeneration = -1
	if change != nil {
		change(s)
	}
	return s
}

// settled is the schedule after as many decisions as change its status.
func settled(s *v1beta1.LoadTestSchedule, seen decision.Observed, now time.Time) *v1beta1.LoadTestSchedule {
	for range 5 {
		s.Status = decision.Decide(s, seen, now).Status
	}
	return s
}

// name is that of the LoadTest of a time.
func name(clock string) string { return fmt.Sprintf("nightly-%d", at(clock).Unix()/60) }

func finished(name, created, completed string, verdict v1beta1.Verdict) decision.LoadTest {
	return decision.LoadTest{Name: name, Created: at(created), Finished: true, Completed: at(completed), Verdict: verdict}
}

func running(name, created string) decision.LoadTest {
	return decision.LoadTest{Name: name, Created: at(created)}
}

// ran is what is seen of LoadTests alone.
func ran(runs ...decision.LoadTest) decision.Observed { return decision.Observed{Runs: runs} }

// What a schedule may say of another LoadTest that has not finished, and of how late one may start.
func replaces(s *v1beta1.LoadTestSchedule)     { s.Spec.ConcurrencyPolicy = v1beta1.ReplaceConcurrent }
func allows(s *v1beta1.LoadTestSchedule)       { s.Spec.ConcurrencyPolicy = v1beta1.AllowConcurrent }
func inTenMinutes(s *v1beta1.LoadTestSchedule) { s.Spec.StartingDeadlineSeconds = new(int64(600)) }
func suspended(s *v1beta1.LoadTestSchedule)    { s.Spec.Suspend = true }

// stopped is what is seen while the administrator holds all.
var stopped = decision.Observed{Hold: &policy.Hold{Cause: policy.Stopped, Why: "Stopped."}}

func waitedFor(lt decision.LoadTest, until string) decision.LoadTest {
	lt.Kept = at(until)
	return lt
}

// many are LoadTests that have not finished.
func many(n int) (list []decision.LoadTest) {
	for i := range n {
		list = append(list, running(fmt.Sprint("nightly-x", i), "00:30:00"))
	}
	return list
}

// done is a decision in a line: what is started, replaced and expired, and the wake-up.
func done(d decision.Decision) string {
	var parts []string
	if d.Start != nil {
		parts = append(parts, "start "+d.Start.Name)
	}
	for _, r := range d.Replaced {
		parts = append(parts, "replace "+r.Name)
	}
	for _, r := range d.Expired {
		parts = append(parts, "expire "+r.Name)
	}
	if d.Status.MissedRuns > 0 {
		parts = append(parts, fmt.Sprint("missed ", d.Status.MissedRuns))
	}
	return strings.Join(parts, ", ")
}

func TestTimesOfASchedule(t *testing.T) {
	tests := map[string]struct {
		change func(*v1beta1.LoadTestSchedule)
		seen   decision.Observed
		now    string
		want   string
		wakes  time.Duration
	}{
		"before the first time":             {now: "00:59:00", wakes: time.Minute},
		"a wait is cut, as clocks are set":  {now: "00:10:00", wakes: 5 * time.Minute},
		"at a time":                         {now: "01:00:00", want: "start " + name("01:00:00")},
		"half an hour late":                 {now: "01:30:00", want: "start " + name("01:00:00")},
		"three times late, the last counts": {now: "03:10:00", want: "start " + name("03:00:00")},
		"its LoadTest is there":             {now: "03:10:00", seen: decision.Observed{Created: name("03:00:00")}, want: "missed 2"},
		"its LoadTest has finished":         {now: "03:10:00", seen: ran(finished(name("03:00:00"), "03:00:01", "03:05:00", "Passed")), want: "missed 2"},
		"one was created a moment ago":      {now: "01:00:00", seen: decision.Observed{Created: "nightly-x"}},
		"one was created, and has finished": {
			now: "01:00:00", want: "start " + name("01:00:00"),
			seen: decision.Observed{Created: "nightly-x", Runs: []decision.LoadTest{finished("nightly-x", "00:30:00", "00:40:00", "Passed")}},
		},
		"nothing is due, and nothing is replaced": {change: replaces, seen: ran(running("nightly-x", "00:30:00")), now: "00:59:00"},
		"a rollout that it is not about":          {now: "00:30:00", seen: decision.Observed{Rollout: &decision.Rollout{UID: "a", Revision: "1", Complete: true}}},
		"its LoadTest and an earlier one are there": {
			now: "03:10:00", want: "missed 1",
			seen: ran(running(name("03:00:00"), "03:00:01"), running(name("02:00:00"), "02:00:01")),
		},
		"within the deadline":                        {change: inTenMinutes, now: "03:10:00", want: "start " + name("03:00:00")},
		"after the deadline":                         {change: inTenMinutes, now: "03:10:01", want: "missed 3"},
		"after the deadline, but created in time":    {change: inTenMinutes, seen: ran(running(name("03:00:00"), "03:00:01")), now: "03:30:00", want: "missed 2"},
		"suspended":                                  {change: suspended, now: "03:10:00"},
		"stopped":                                    {seen: stopped, now: "03:10:00", wakes: 5 * time.Minute},
		"stopped past the deadline":                  {change: inTenMinutes, seen: stopped, now: "03:30:00"},
		"quiet hours":                                {seen: decision.Observed{Hold: &policy.Hold{Cause: policy.Quiet, Why: "Quiet.", Until: at("03:12:00")}}, now: "03:10:00", wakes: 2 * time.Minute},
		"another has not finished":                   {seen: ran(running("nightly-x", "00:30:00")), now: "01:00:00"},
		"another has not finished, and both may run": {change: allows, seen: ran(running("nightly-x", "00:30:00")), now: "01:00:00", want: "start " + name("01:00:00")},
		"ninety-nine others have not finished, and all may run": {change: allows, seen: ran(many(99)...), now: "01:00:00", want: "start " + name("01:00:00")},
		"a hundred others have not finished":                    {change: allows, seen: ran(many(100)...), now: "01:00:00"},
		"another has not finished, and was created a moment ago": {
			change: replaces,
			seen:   ran(running("nightly-x", "00:59:30")),
			now:    "01:00:00", wakes: 30 * time.Second,
		},
		"another has not finished, and is replaced": {change: replaces, seen: ran(running("nightly-x", "00:30:00")), now: "01:00:00", want: "replace nightly-x"},
		"the one that is replaced is not gone":      {change: replaces, seen: ran(decision.LoadTest{Name: "nightly-x", Created: at("00:30:00"), Deleting: true}), now: "01:00:00"},
		"refused a moment ago": {
			seen: decision.Observed{Refused: &decision.Refused{Problem: decision.Problem{Reason: "RunRefused", Message: "no"}, Until: at("01:00:20")}},
			now:  "01:00:10", wakes: 10 * time.Second,
		},
		"refused a while ago": {
			seen: decision.Observed{Refused: &decision.Refused{Problem: decision.Problem{Reason: "RunRefused", Message: "no"}, Until: at("01:00:20")}},
			now:  "01:00:20", want: "start " + name("01:00:00"),
		},
		"a schedule that cannot be read": {change: func(s *v1beta1.LoadTestSchedule) { s.Spec.Schedule = "99 * * * *" }, now: "03:10:00"},
		"the clock was set back": {
			change: func(s *v1beta1.LoadTestSchedule) {
				s.Status.ObservedGeneration = 1
				s.Status.Considered = &v1beta1.Considered{Schedule: "0 * * * *", Until: metav1.NewTime(at("05:00:00"))}
			},
			now: "03:10:00",
		},
	}
	for label, tt := range tests {
		t.Run(label, func(t *testing.T) {
			d := decision.Decide(nightly(tt.change), tt.seen, at(tt.now))
			same.As(t, "decision", tt.want, done(d))
			if tt.wakes != 0 && d.RequeueAfter != tt.wakes {
				t.Errorf("the next decision is in %s, want %s", d.RequeueAfter, tt.wakes)
			}
		})
	}
}

// A schedule that is edited, or that gets its first schedule late, has no time in the past.
func TestEditedScheduleCountsFromItsEdit(t *testing.T) {
	s := settled(nightly(nil), decision.Observed{}, at("00:30:00"))
	s.Spec.Schedule, s.Generation = "*/5 * * * *", 2
	now := at("00:42:00")
	if d := decision.Decide(s, decision.Observed{}, now); d.Start != nil {
		t.Errorf("the edit starts %s", d.Start.Name)
	}
	s = settled(s, decision.Observed{}, now)
	if d := decision.Decide(s, decision.Observed{}, at("00:45:00")); done(d) != "start "+name("00:45:00") {
		t.Errorf("after the edit: %q", done(d))
	}
	s.Spec.Schedule, s.Spec.OnChange, s.Generation = "", true, 3
	s = settled(s, decision.Observed{}, at("00:50:00"))
	if s.Status.Considered != nil || !meta.IsStatusConditionTrue(s.Status.Conditions, "Ready") {
		t.Errorf("without a schedule the status is %+v", s.Status)
	}
	s.Spec.Schedule, s.Spec.OnChange, s.Generation = "0 * * * *", false, 4
	if d := decision.Decide(s, decision.Observed{}, at("02:30:00")); d.Start != nil {
		t.Errorf("the first schedule starts %s", d.Start.Name)
	}
	s = settled(s, decision.Observed{}, at("02:30:00"))
	s.Spec.Schedule, s.Generation = "99 * * * *", 5
	s = settled(s, decision.Observed{}, at("02:40:00"))
	s.Spec.Schedule, s.Generation = "0 * * * *", 6
	if d := decision.Decide(s, decision.Observed{}, at("04:30:00")); d.Start != nil {
		t.Errorf("the correction of a schedule that could not be read starts %s", d.Start.Name)
	}
}

// What is held past its deadline is missed once nothing holds it: it is not started late.
func TestHeldPastItsDeadlineIsMissed(t *testing.T) {
	s := nightly(inTenMinutes)
	s = settled(s, stopped, at("01:30:00"))
	if d := decision.Decide(settled(s, decision.Observed{}, at("01:40:00")), decision.Observed{}, at("01:40:01")); done(d) != "missed 1" {
		t.Errorf("then: %q", done(d))
	}
}

func TestEventsOfASchedule(t *testing.T) {
	s := nightly(func(s *v1beta1.LoadTestSchedule) { s.Spec.StartingDeadlineSeconds = new(int64(60)) })
	seen := ran(running(name("03:00:00"), "03:00:01"), finished("b", "00:03:00", "00:04:00", v1beta1.VerdictFailed))
	d := decision.Decide(s, seen, at("03:10:00"))
	want := []decision.Event{
		{true, "Missed", "Scheduled LoadTests missed: 2, the most recent at 2026-11-20T02:00:00Z."},
		{false, "Started", "LoadTest " + name("03:00:00") + " was started: its schedule has one at 2026-11-20T03:00:00Z."},
		{false, "Finished", "LoadTest b has finished: Failed."},
	}
	if diff := cmp.Diff(want, d.Events); diff != "" || d.Status.LastScheduleTime == nil {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if active := decision.Decide(s, ran(many(101)...), at("00:40:00")).Status.Active; len(active) != 100 {
		t.Errorf("%d are active", len(active))
	}
}

// Of more missed times than are counted, the event names the most recent.
func TestMoreMissedTimesThanAreCounted(t *testing.T) {
	s := nightly(func(s *v1beta1.LoadTestSchedule) {
		s.Spec.Schedule, s.Spec.StartingDeadlineSeconds = "* * * * *", new(int64(10))
	})
	last, before := running(name("03:00:00"), "03:00:00"), running(name("02:59:00"), "02:59:00")
	for clock, seen := range map[string]decision.Observed{"03:00:00": {}, "02:59:00": ran(last), "02:58:00": ran(last, before)} {
		d := decision.Decide(s, seen, at("03:00:30"))
		want := decision.Event{true, "Missed", "Scheduled LoadTests missed: 100, the most recent at 2026-11-20T" + clock + "Z."}
		if d.Events[0] != want || d.Status.MissedRuns != 100 {
			t.Errorf("%d are counted, and the event is %v, want %v", d.Status.MissedRuns, d.Events[0], want)
		}
	}
}

// A rollout and a time are due at once: the rollout's LoadTest is the first.
func TestOneStartsAtATime(t *testing.T) {
	s := nightly(func(s *v1beta1.LoadTestSchedule) {
		s.Spec.OnRollout = &v1beta1.Rollout{Kind: "Deployment", Name: "shop"}
	})
	d := decision.Decide(s, decision.Observed{Rollout: &decision.Rollout{UID: "a", Revision: "1", Complete: true}}, at("01:00:00"))
	if d.Start == nil || d.Start.Cause != "Deployment shop has rolled out revision 1" {
		t.Errorf("%q", done(d))
	}
}

func TestTheNextTimeFollowsWhatWasConsidered(t *testing.T) {
	s := settled(nightly(nil), decision.Observed{}, at("00:30:00"))
	s.Status.Considered.Until = metav1.NewTime(at("05:00:00")) // the clock was set back since
	if next := decision.Decide(s, decision.Observed{}, at("03:10:00")).Status.NextRunTime; !next.Equal(&metav1.Time{Time: at("06:00:00")}) {
		t.Errorf("the next time is %v", next)
	}
}

// A LoadTest that was created before the schedule was suspended is noted while it is, so
// that it is not started again when it was deleted and the schedule is resumed.
func TestStartIsNotedWhileSuspended(t *testing.T) {
	s := settled(nightly(nil), decision.Observed{}, at("00:30:00"))
	s.Spec.Suspend, s.Spec.OnRollout = true, &v1beta1.Rollout{Kind: "Deployment", Name: "shop"}
	seen := ran(running(name("01:00:00"), "01:00:00"))
	s = settled(s, seen, at("01:00:10"))
	d := decision.Decide(s, seen, at("01:00:20"))
	if d.RequeueAfter != 0 || d.Status.NextRunTime != nil || d.Status.Summary.Next != "" || d.Status.LastRun.Name != name("01:00:00") {
		t.Errorf("suspended, it wakes in %s: %+v", d.RequeueAfter, d.Status)
	}
	s.Spec.Suspend = false
	if c := meta.FindStatusCondition(settled(s.DeepCopy(), seen, at("01:00:30")).Status.Conditions, "Suspended"); c == nil || c.Status != metav1.ConditionFalse {
		t.Errorf("resumed, it is suspended: %+v", c)
	}
	if d := decision.Decide(s, decision.Observed{}, at("01:30:00")); d.Start != nil {
		t.Errorf("%s is started again", d.Start.Name)
	}
}

func TestChangesOfTheTemplate(t *testing.T) {
	s := nightly(func(s *v1beta1.LoadTestSchedule) { s.Spec.Schedule, s.Spec.OnChange = "", true })
	now := at("00:10:00")
	if d := decision.Decide(s, decision.Observed{}, now); d.Start != nil {
		t.Error("a change is acted on before the status has it")
	}
	s = settled(s, decision.Observed{}, now)
	first := decision.Decide(s, decision.Observed{}, now).Start
	if first == nil {
		t.Fatal("a new schedule starts nothing")
	}
	s = settled(s, decision.Observed{Created: first.Name}, now)
	if d := decision.Decide(s, decision.Observed{}, now); d.Start != nil {
		t.Errorf("%s is started although nothing changed", d.Start.Name)
	}

	s.Spec.Suspend, s.Generation = true, 2
	s = settled(s, decision.Observed{}, now)
	s.Spec.Suspend, s.Generation = false, 3
	if d := decision.Decide(settled(s, decision.Observed{}, now), decision.Observed{}, now); d.Start != nil {
		t.Errorf("%s is started although only suspend changed", d.Start.Name)
	}

	s.Spec.Template.Spec.Repetitions = 1 // what an upgrade of the CRD may add, with no new generation
	if d := decision.Decide(settled(s, decision.Observed{}, now), decision.Observed{}, now); d.Start != nil {
		t.Errorf("%s is started by a new default", d.Start.Name)
	}

	s.Generation = 4
	if d := decision.Decide(settled(s, decision.Observed{}, now), decision.Observed{}, now); d.Start != nil || s.Status.Summary.Schedule != "change" {
		t.Errorf("%v is started by what was the default before, by %s", d.Start, s.Status.Summary.Schedule)
	}

	s.Spec.Template.Spec.Requests[0].HTTP.Path, s.Generation = "/ready", 5
	second := decision.Decide(settled(s, decision.Observed{}, now), decision.Observed{}, now).Start
	if second == nil || second.Name == first.Name {
		t.Fatalf("a change starts %v", second)
	}
	s = settled(s, decision.Observed{Created: second.Name}, now)
	s.Spec.Template.Spec.Requests[0].HTTP.Path, s.Generation = "/health", 6
	third := decision.Decide(settled(s, decision.Observed{}, now), decision.Observed{}, now).Start
	if third == nil || third.Name == first.Name || third.Name == second.Name {
		t.Errorf("a change back starts %v", third)
	}
	s.Spec.OnChange = false
	if settled(s, decision.Observed{}, now).Status.Change != nil {
		t.Error("a change is noted that starts nothing")
	}
}

// Of the changes while one runs, the last is tested when it has finished.
func TestChangesWhileOneRuns(t *testing.T) {
	s := nightly(func(s *v1beta1.LoadTestSchedule) { s.Spec.Schedule, s.Spec.OnChange = "", true })
	now := at("00:10:00")
	first := decision.Decide(settled(s, decision.Observed{}, now), decision.Observed{}, now).Start
	active := ran(running(first.Name, "00:10:00"))
	for generation := int64(2); generation <= 3; generation++ {
		s.Spec.Template.Spec.Requests[0].HTTP.Path, s.Generation = fmt.Sprint("/", generation), generation
		if d := decision.Decide(settled(s, active, now), active, now); d.Start != nil || len(d.Replaced) > 0 {
			t.Fatalf("while one runs: %q", done(d))
		}
	}
	ended := ran(finished(first.Name, "00:10:00", "00:12:00", v1beta1.VerdictPassed))
	second := decision.Decide(s, ended, at("00:12:01")).Start
	if second == nil || !strings.Contains(second.Cause, "generation 3") {
		t.Fatalf("after it: %v, want that of generation 3", second)
	}
	ended.Created = second.Name
	if d := decision.Decide(settled(s, ended, at("00:12:02")), ended, at("00:12:02")); d.Start != nil {
		t.Errorf("another is started: %s", d.Start.Name)
	}
}

func TestRolloutsStartOneEach(t *testing.T) {
	s := nightly(func(s *v1beta1.LoadTestSchedule) {
		s.Spec.Schedule, s.Spec.OnRollout = "", &v1beta1.Rollout{Kind: "Deployment", Name: "shop"}
	})
	now := at("00:10:00")
	under := func(uid, revision string, complete bool) decision.Observed {
		return decision.Observed{Rollout: &decision.Rollout{UID: uid, Revision: revision, Complete: complete}}
	}
	names := map[string]bool{}
	for _, seen := range []decision.Observed{under("a", "1", true), under("a", "2", true), under("a", "3", true), under("b", "3", true)} {
		halfway := under(seen.Rollout.UID, seen.Rollout.Revision, false)
		if d := decision.Decide(s, halfway, now); d.Start != nil || d.RequeueAfter != 15*time.Second {
			t.Errorf("halfway: %q, and again in %s", done(d), d.RequeueAfter)
		}
		d := decision.Decide(s, seen, now)
		if d.Start == nil || names[d.Start.Name] {
			t.Fatalf("revision %s of %s: %q", seen.Rollout.Revision, seen.Rollout.UID, done(d))
		}
		names[d.Start.Name] = true
		halfway.Created = d.Start.Name
		if noted := decision.Decide(s, halfway, now).Status.Rollout; noted == nil || noted.UID != seen.Rollout.UID || noted.Revision != seen.Rollout.Revision {
			t.Errorf("what was started is not noted while the next is under way: %+v", noted)
		}
		seen.Created = d.Start.Name
		s = settled(s, seen, now)
		seen.Created = ""
		if d := decision.Decide(s, seen, now); d.Start != nil {
			t.Errorf("revision %s of %s starts another: %s", seen.Rollout.Revision, seen.Rollout.UID, d.Start.Name)
		}
	}
}

func TestHistory(t *testing.T) {
	passed, failed := v1beta1.VerdictPassed, v1beta1.VerdictFailed
	limits := func(successful, unsuccessful int32) func(*v1beta1.LoadTestSchedule) {
		return func(s *v1beta1.LoadTestSchedule) {
			s.Spec.SuccessfulRunsHistoryLimit, s.Spec.FailedRunsHistoryLimit = &successful, &unsuccessful
		}
	}
	tests := map[string]struct {
		change func(*v1beta1.LoadTestSchedule)
		runs   []decision.LoadTest
		want   string
		wakes  time.Duration
	}{
		"as many as are kept": {runs: []decision.LoadTest{
			finished("a", "00:01:00", "00:02:00", passed), finished("b", "00:03:00", "00:04:00", passed),
			finished("c", "00:05:00", "00:06:00", passed), finished("d", "00:07:00", "00:08:00", failed),
		}},
		"the oldest of each go": {change: limits(1, 1), want: "expire c, expire b, expire a", runs: []decision.LoadTest{
			finished("a", "00:01:00", "00:02:00", v1beta1.VerdictError), finished("b", "00:03:00", "00:04:00", passed),
			finished("c", "00:05:00", "00:06:00", v1beta1.VerdictCanceled), finished("d", "00:07:00", "00:08:00", passed),
			finished("e", "00:09:00", "00:10:00", v1beta1.VerdictInconclusive),
		}},
		"none but the baseline": {change: limits(0, 0), want: "expire c, expire a", runs: []decision.LoadTest{
			finished("a", "00:01:00", "00:02:00", passed), finished("b", "00:03:00", "00:04:00", passed),
			finished("c", "00:05:00", "00:06:00", failed),
		}},
		"none at all, with a baseline of the template's": {
			change: func(s *v1beta1.LoadTestSchedule) {
				limits(0, 0)(s)
				s.Spec.Template.Spec.Baseline = &v1beta1.Baseline{Name: "golden"}
			},
			want: "expire a", runs: []decision.LoadTest{finished("a", "00:01:00", "00:02:00", passed)},
		},
		"the baseline of one that runs is kept": {change: limits(0, 0), runs: []decision.LoadTest{
			finished("a", "00:01:00", "00:02:00", passed), running("b", "00:03:00"), finished("c", "00:02:00", "00:04:00", passed),
		}},
		"by default three and one": {
			change: func(s *v1beta1.LoadTestSchedule) {
				s.Spec.SuccessfulRunsHistoryLimit, s.Spec.FailedRunsHistoryLimit = nil, nil
			},
			want: "expire d, expire a", runs: []decision.LoadTest{
				finished("a", "00:01:00", "00:02:00", passed), finished("b", "00:03:00", "00:04:00", passed), finished("c", "00:05:00", "00:06:00", passed),
				finished("d", "00:07:00", "00:08:00", failed), finished("e", "00:09:00", "00:10:00", passed), finished("f", "00:11:00", "00:12:00", failed),
			},
		},
		"a baseline alone": {change: limits(0, 0), runs: []decision.LoadTest{finished("a", "00:01:00", "00:02:00", passed)}},
		"that of one that runs, with a baseline of the template's": {
			change: func(s *v1beta1.LoadTestSchedule) {
				limits(0, 0)(s)
				s.Spec.Template.Spec.Baseline = &v1beta1.Baseline{Name: "golden"}
			},
			runs: []decision.LoadTest{finished("a", "00:01:00", "00:02:00", passed), running("b", "00:02:00")},
		},
		"one that is being deleted": {change: limits(0, 0), runs: []decision.LoadTest{
			{Name: "a", Created: at("00:01:00"), Finished: true, Completed: at("00:02:00"), Verdict: failed, Deleting: true},
		}},
		"one that runs": {change: limits(0, 0), runs: []decision.LoadTest{running("a", "00:01:00")}},
		"one whose results are not kept elsewhere yet": {change: limits(0, 0), want: "expire b", runs: []decision.LoadTest{
			waitedFor(finished("a", "00:01:00", "00:02:00", failed), "00:30:01"), waitedFor(finished("b", "00:03:00", "00:04:00", failed), "00:30:00"),
		}},
		"one that was created a moment ago": {change: limits(0, 0), runs: []decision.LoadTest{
			finished("a", "00:29:10", "00:29:20", failed),
		}, wakes: 10 * time.Second},
	}
	for label, tt := range tests {
		t.Run(label, func(t *testing.T) {
			s, seen, now := nightly(tt.change), decision.Observed{Runs: tt.runs}, at("00:30:00")
			first := decision.Decide(s, seen, now)
			if len(first.Expired) > 0 {
				t.Errorf("%q before the status has the verdict", done(first))
			}
			d := decision.Decide(settled(s, seen, now), seen, now)
			if diff := cmp.Diff(tt.want, done(d)); diff != "" || tt.wakes != 0 && d.RequeueAfter != tt.wakes {
				t.Errorf("again in %s; decision (-want +got):\n%s", d.RequeueAfter, diff)
			}
			later := ran(finished("z", "00:20:00", "00:29:55", failed), finished("y", "00:18:00", "00:29:50", failed))
			s.Status.Active = []string{"z", "y"} // they ran until now
			if d := decision.Decide(s, later, now); len(d.Expired) > 0 {
				t.Errorf("%q before the status has the verdict of the next", done(d))
			}
		})
	}
}

func TestStatusOfASchedule(t *testing.T) {
	s := nightly(func(s *v1beta1.LoadTestSchedule) {
		s.Spec.TimeZone, s.Spec.OnChange = "Europe/Berlin", true
		s.Spec.OnRollout = &v1beta1.Rollout{Kind: "Deployment", Name: "shop"}
	})
	runs := []decision.LoadTest{
		finished("a", "00:01:00", "00:02:00", v1beta1.VerdictPassed), finished("b", "00:03:00", "00:04:00", v1beta1.VerdictFailed),
		running("d", "00:06:00"), running("c", "00:05:00"),
	}
	seen := decision.Observed{Runs: runs, Measured: map[string]*decision.Measured{
		"b": {Trend: "p99 9ms, +3%", Figures: v1beta1.FiguresOfRun{Name: "b", CompletionTime: metav1.Time{Time: at("00:04:00")}, P99: "9ms"}},
	}}
	got := settled(s, seen, at("00:30:00")).Status
	time := func(clock string) *metav1.Time { return &metav1.Time{Time: at(clock)} }
	want := v1beta1.LoadTestScheduleStatus{
		ObservedGeneration: 1, Active: []string{"c", "d"},
		NextRunTime:  time("01:00:00"),
		LastRun:      &v1beta1.RunOfSchedule{Name: "d", StartTime: time("00:06:00")},
		LastPassed:   &v1beta1.RunOfSchedule{Name: "a", StartTime: time("00:01:00"), CompletionTime: time("00:02:00"), Verdict: v1beta1.VerdictPassed},
		LastFinished: &v1beta1.RunOfSchedule{Name: "b", StartTime: time("00:03:00"), CompletionTime: time("00:04:00"), Verdict: v1beta1.VerdictFailed},
		Considered:   &v1beta1.Considered{Schedule: "0 * * * * Europe/Berlin", Until: *time("00:00:00")},
		History:      []v1beta1.FiguresOfRun{{Name: "b", CompletionTime: *time("00:04:00"), P99: "9ms"}},
		Change:       got.Change, Conditions: got.Conditions,
		Summary: v1beta1.ScheduleSummary{Schedule: "0 * * * *, rollout, change", Verdict: "Failed", Trend: "p99 9ms, +3%", Next: "2026-11-20 02:00 CET"},
	}
	same.As(t, "status", want, got)
	again := s.DeepCopy()
	same.As(t, "status a minute later", got, decision.Decide(again, seen, at("00:31:00")).Status)
	later := seen
	later.Runs = append(slices.Clone(runs), running("e", "00:30:30"))
	if last := decision.Decide(again, later, at("00:31:00")).Status.LastRun; last.Name != "e" {
		t.Errorf("the last is %v", last)
	}
	// What is deleted is no baseline, and an earlier one is not the last.
	deleted := seen
	deleted.Runs = slices.Clone(runs[:2])
	deleted.Runs[0].Deleting = true
	if got := decision.Decide(again, deleted, at("00:31:00")).Status; got.LastPassed != nil || got.LastRun.Name != "d" {
		t.Errorf("the last that passed is %v, and the last %v", got.LastPassed, got.LastRun)
	}
	again.Status.LastRun.StartTime = nil
	if got := decision.Decide(again, deleted, at("00:31:00")).Status; got.LastRun.Name != "b" {
		t.Errorf("the last is %v", got.LastRun)
	}
	// What was known of LoadTests that are gone stays, but for the baseline.
	gone := settled(s, decision.Observed{}, at("00:31:00")).Status
	want.Active, want.LastPassed, want.Change, want.Conditions = nil, nil, gone.Change, gone.Conditions
	same.As(t, "status without LoadTests", want, gone)
}

func TestConditions(t *testing.T) {
	refused := func(stalls bool) *decision.Refused {
		return &decision.Refused{Problem: decision.Problem{Reason: v1beta1.ReasonRunRefused, Message: "The LoadTest is refused: no.", Stalls: stalls}, Until: at("02:00:00")}
	}
	tests := map[string]struct {
		change           func(*v1beta1.LoadTestSchedule)
		seen             decision.Observed
		ready, suspended string
		stalled          bool
	}{
		"ready": {ready: "True Ready LoadTests start on: 0 * * * *."},
		"nothing starts one": {
			change: func(s *v1beta1.LoadTestSchedule) { s.Spec.Schedule = "" },
			ready:  "True Ready No LoadTest starts by itself: kubectl loadtest run --from schedule/nightly starts one.",
		},
		"a field that is no hour": {
			change: func(s *v1beta1.LoadTestSchedule) { s.Spec.Schedule = "0 24 * * *" },
			ready:  "False InvalidSchedule spec.schedule: end of range (24) above maximum (23): 24", stalled: true,
		},
		"a day that never comes": {
			change: func(s *v1beta1.LoadTestSchedule) { s.Spec.Schedule = "0 0 31 2 *" },
			ready:  `False InvalidSchedule spec.schedule: "0 0 31 2 *" has no time in the next five years`, stalled: true,
		},
		"an interval": {
			change: func(s *v1beta1.LoadTestSchedule) { s.Spec.Schedule = "@every 1h" },
			ready:  `False InvalidSchedule spec.schedule: "@every 1h" is an interval; give the five fields of cron instead`, stalled: true,
		},
		"a hundred have not finished, and one keeps others waiting": {
			change: func(s *v1beta1.LoadTestSchedule) { s.Spec.Schedule = "*/5 * * * *" },
			seen:   ran(many(100)...), ready: "True Ready LoadTests start on: */5 * * * *.",
		},
		"no such time zone": {
			change: func(s *v1beta1.LoadTestSchedule) { s.Spec.TimeZone = "Mars/Olympus" },
			ready:  `False InvalidSchedule spec.timeZone: "Mars/Olympus" is not a time zone; give an IANA name such as Europe/Berlin`, stalled: true,
		},
		"invalid":      {seen: decision.Observed{Refused: refused(true)}, ready: "False RunRefused The LoadTest is refused: no.", stalled: true},
		"over a quota": {seen: decision.Observed{Refused: refused(false)}, ready: "False RunRefused The LoadTest is refused: no."},
		"a hundred have not finished": {
			change: func(s *v1beta1.LoadTestSchedule) {
				s.Spec.Schedule, s.Spec.ConcurrencyPolicy = "*/5 * * * *", v1beta1.AllowConcurrent
			},
			seen:  ran(many(100)...),
			ready: "False TooManyActive 100 LoadTests of this schedule have not finished: no other starts until one of them has.",
		},
		"no Deployment": {seen: decision.Observed{Problem: &decision.Problem{Reason: "WorkloadNotFound", Message: "Gone."}}, ready: "False WorkloadNotFound Gone."},
		"suspended":     {change: suspended, ready: "True Ready LoadTests start on: 0 * * * *.", suspended: "True Suspended spec.suspend is true: no LoadTest starts."},
		"stopped": {
			seen:  decision.Observed{Hold: &policy.Hold{Cause: policy.Stopped, Why: "Stopped by ops."}},
			ready: "True Ready LoadTests start on: 0 * * * *.", suspended: "True Stopped Stopped by ops. No LoadTest starts until that is over.",
		},
	}
	line := func(c *metav1.Condition) string {
		if c == nil {
			return ""
		}
		return fmt.Sprint(c.Status, " ", c.Reason, " ", c.Message)
	}
	for label, tt := range tests {
		t.Run(label, func(t *testing.T) {
			s := settled(nightly(tt.change), tt.seen, at("00:30:00"))
			same.As(t, "Ready", tt.ready, line(meta.FindStatusCondition(s.Status.Conditions, "Ready")))
			same.As(t, "Suspended", tt.suspended, line(meta.FindStatusCondition(s.Status.Conditions, "Suspended")))
			want := ""
			if tt.stalled {
				want = strings.Replace(tt.ready, "False", "True", 1)
			}
			same.As(t, "Stalled", want, line(meta.FindStatusCondition(s.Status.Conditions, "Stalled")))
			s.Spec.Schedule, s.Spec.TimeZone, s.Generation = "0 * * * *", "", 2
			if s = settled(s, decision.Observed{}, at("00:31:00")); meta.FindStatusCondition(s.Status.Conditions, "Stalled") != nil {
				t.Errorf("it is stalled once nothing is wrong: %v", s.Status.Conditions)
			}
		})
	}
}
