package lifecycle_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/queue"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func place(number, of int) *queue.Place {
	return &queue.Place{Number: number, Of: of, Reason: queue.ClusterRuns, Message: "4 of 4 runs of the cluster are under way."}
}

// waiting is a run that has that place from began on.
func waiting(t *testing.T, number, of int) *v1beta1.LoadTest {
	t.Helper()
	lt := &v1beta1.LoadTest{Spec: ladder()}
	lt.Status = lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{Place: place(number, of)}, began).Status
	if lt.Status.Phase != v1beta1.PhaseQueued || lt.Status.StartTime != nil {
		t.Fatalf("phase %s, started %v", lt.Status.Phase, lt.Status.StartTime)
	}
	return lt
}

func reasons(events []lifecycle.Event) []string {
	var list []string
	for _, e := range events {
		list = append(list, e.Reason)
	}
	return list
}

func TestARunThatMayNotBeginYetIsQueued(t *testing.T) {
	lt := &v1beta1.LoadTest{Spec: ladder()}
	lt.Status.Baseline = &v1beta1.BaselineStatus{}
	d := lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{Place: place(3, 7)}, began)
	same.As(t, "Queued", "True ClusterRuns: Place 3 of 7: 4 of 4 runs of the cluster are under way.", said(d.Status, v1beta1.ConditionQueued))
	if d.Status.Summary.Step != "place 3 of 7" || d.Status.Baseline != nil || d.Job != lifecycle.JobKeep {
		t.Errorf("summary %+v, baseline %v, Job %v", d.Status.Summary, d.Status.Baseline, d.Job)
	}
	if got := reasons(d.Events); !slices.Equal(got, []string{"Queued"}) {
		t.Errorf("events %v, want Queued", got)
	}
}

// A run that goes on waiting needs no spec for what it says.
func TestWhatWaitsNeedsNoSpec(t *testing.T) {
	lt := waiting(t, 3, 7)
	later, written := began.Add(time.Minute), lifecycle.Written{At: began, Size: 5_000}
	whole := lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{Place: place(2, 6), Written: written}, later)
	short := lt.DeepCopy()
	short.Spec = v1beta1.LoadTestSpec{}
	if !lifecycle.IsQueued(short) {
		t.Fatal("it is not queued")
	}
	got := lifecycle.GoesOnWaiting(short, *place(2, 6), written, later)
	same.As(t, "status", whole.Status, got.Status)
	if got.RequeueAfter != whole.RequeueAfter || got.Status.Summary.Step != "place 2 of 6" {
		t.Errorf("it has %q, and is looked at again after %v; want %v", got.Status.Summary.Step, got.RequeueAfter, whole.RequeueAfter)
	}
	short.Generation++
	if lifecycle.IsQueued(short) {
		t.Error("a spec that no pass has seen is taken for one that waits")
	}
}

// The places of large LoadTests are written the more seldom: all of them together write 200 KB/s.
func TestThePlaceOfALargeRunStandsLonger(t *testing.T) {
	for name, tc := range map[string]struct {
		of, size int
		want     time.Duration
	}{
		"small":           {100, 5_000, 10 * time.Second},
		"large":           {100, 1_000_000, 500 * time.Second},
		"a crowd of them": {10_000, 1_200_000, 60_000 * time.Second},
	} {
		lt := waiting(t, 1, tc.of)
		d := lifecycle.GoesOnWaiting(lt, *place(2, tc.of), lifecycle.Written{At: began, Size: tc.size}, began.Add(tc.want-time.Second))
		if d.Status.Summary != lt.Status.Summary || d.RequeueAfter != time.Second {
			t.Errorf("%s: a second before, it is %q, and looked at after %v", name, d.Status.Summary.Step, d.RequeueAfter)
		}
		d = lifecycle.GoesOnWaiting(lt, *place(2, tc.of), lifecycle.Written{At: began, Size: tc.size}, began.Add(tc.want))
		if d.Status.Summary == lt.Status.Summary || d.RequeueAfter != min(tc.want, 5*time.Minute) {
			t.Errorf("%s: then, it is %q, and looked at after %v, want %v, or 5m0s", name, d.Status.Summary.Step, d.RequeueAfter, tc.want)
		}
	}
}

// The place in a status stands for 10 s, and longer if more than a hundred wait: all of them
// together write ten statuses a second at most.
func TestHowLongAPlaceStands(t *testing.T) {
	for name, tc := range map[string]struct {
		of      int
		written time.Duration // before the pass
		stands  time.Duration // from the pass on; 0: it is written
		wake    time.Duration
	}{
		"just written":                {7, 0, 10 * time.Second, 10 * time.Second},
		"soon":                        {7, 10*time.Second - 1, 1, time.Millisecond},
		"then":                        {7, 10 * time.Second, 0, 10 * time.Second},
		"a hundred":                   {100, 9 * time.Second, time.Second, time.Second},
		"a hundred, then":             {100, 10 * time.Second, 0, 10 * time.Second},
		"two hundred":                 {200, 19 * time.Second, time.Second, time.Second},
		"two hundred, then":           {200, 20 * time.Second, 0, 20 * time.Second},
		"a clock that was set back":   {7, -time.Hour, 10 * time.Second, 10 * time.Second},
		"by another process, unknown": {7, 0, 0, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			lt, now := waiting(t, 3, tc.of), began.Add(time.Minute)
			seen := lifecycle.Observed{Place: place(2, tc.of), Written: lifecycle.Written{At: now.Add(-tc.written)}}
			if name == "by another process, unknown" {
				seen.Written.At = time.Time{}
			}
			d := lifecycle.Decide(lt, policy.Rules{}, seen, now)
			want := "place 2 of"
			if tc.stands > 0 {
				want = "place 3 of"
			}
			if got := d.Status.Summary.Step[:len(want)]; got != want || d.RequeueAfter != tc.wake {
				t.Errorf("%q, and again after %v; want %q, %v", got, d.RequeueAfter, want, tc.wake)
			}
			if len(d.Events) > 0 {
				t.Errorf("events %v, want none", reasons(d.Events))
			}
		})
	}
}

func TestARunThatWaitedBegins(t *testing.T) {
	lt := waiting(t, 1, 1)
	d := lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{Place: &queue.Place{Begins: true}}, began.Add(42*time.Second+time.Millisecond))
	if d.Status.StartTime == nil || d.Status.Phase != v1beta1.PhaseStarting {
		t.Fatalf("phase %s, started %v", d.Status.Phase, d.Status.StartTime)
	}
	if len(d.Events) != 1 || d.Events[0].Message != "The run waited 42s in the queue. The run begins; its workers are created." {
		t.Errorf("events %+v", d.Events)
	}
	same.As(t, "condition Queued", "False Begun: The run waited 42s in the queue.", said(d.Status, v1beta1.ConditionQueued))
	lt.Status = d.Status
	lt.Status.StartTime = nil // it was held since
	again := decide(lt, lifecycle.Observed{}, time.Hour)
	if len(again.Events) != 1 || again.Events[0].Message != "The run begins; its workers are created." {
		t.Errorf("of a run that waited before: events %+v", again.Events)
	}
	at := lifecycle.Decide(&v1beta1.LoadTest{Spec: ladder()}, policy.Rules{}, lifecycle.Observed{Place: &queue.Place{Begins: true}}, began)
	if len(at.Events) != 1 || at.Events[0].Message != "The run begins; its workers are created." {
		t.Errorf("of a run that did not wait: events %+v", at.Events)
	}
}

// Workers that a run had before it was held, and that are seen only now, are of no use to
// one that waits.
func TestARunThatWaitsHasNoJob(t *testing.T) {
	for job, want := range map[lifecycle.JobState]lifecycle.JobAction{
		lifecycle.JobAbsent: lifecycle.JobKeep, lifecycle.JobPresent: lifecycle.JobDelete, lifecycle.JobFinished: lifecycle.JobDelete,
		lifecycle.JobDeleting: lifecycle.JobKeep, lifecycle.JobLeftOver: lifecycle.JobKeep, lifecycle.JobForeign: lifecycle.JobKeep,
	} {
		if d := lifecycle.Decide(waiting(t, 1, 1), policy.Rules{}, lifecycle.Observed{Place: place(1, 1), Job: job}, began); d.Job != want {
			t.Errorf("Job %v: to do %v, want %v", job, d.Job, want)
		}
	}
}

func TestWhatEndsAWaitInTheQueue(t *testing.T) {
	for name, tc := range map[string]struct {
		edit  func(*v1beta1.LoadTestSpec)
		rules string
		phase v1beta1.Phase
		event string
	}{
		"it is terminated":   {func(s *v1beta1.LoadTestSpec) { s.Terminate = true }, "", v1beta1.PhaseFinished, v1beta1.ReasonTerminated},
		"it is held":         {func(s *v1beta1.LoadTestSpec) { s.Suspend = true }, "", v1beta1.PhaseSuspended, v1beta1.ReasonSuspended},
		"runs are stopped":   {nil, "stop: {}", v1beta1.PhaseSuspended, v1beta1.ReasonStopped},
		"its rules are lost": {nil, "?", v1beta1.PhaseSuspended, v1beta1.ReasonConfigurationInvalid},
		"quiet hours come":   {nil, `quietHours: [{from: "09:00", to: "11:00"}]`, v1beta1.PhaseSuspended, v1beta1.ReasonQuietHours},
		"nothing does, then": {nil, "", v1beta1.PhaseQueued, ""},
	} {
		t.Run(name, func(t *testing.T) {
			lt, seen := waiting(t, 1, 1), lifecycle.Observed{}
			if tc.phase == v1beta1.PhaseQueued {
				seen.Place = place(1, 1)
			}
			if tc.edit != nil {
				tc.edit(&lt.Spec)
			}
			wrong, _ := policy.Next(nil, map[string]string{"config.yaml": tc.rules})
			allowed := wrong.For("default")
			if tc.rules != "?" {
				allowed = rules(t, tc.rules)
			}
			d := lifecycle.Decide(lt, allowed, seen, began.Add(time.Second))
			if d.Status.Phase != tc.phase || d.Status.StartTime != nil || (said(d.Status, v1beta1.ConditionQueued) != "") != (tc.phase == v1beta1.PhaseQueued) {
				t.Errorf("phase %s, started %v, queued: %s", d.Status.Phase, d.Status.StartTime, said(d.Status, v1beta1.ConditionQueued))
			}
			if tc.event != "" && !slices.Contains(reasons(d.Events), tc.event) {
				t.Errorf("events %v, want %s", reasons(d.Events), tc.event)
			}
		})
	}
}

// A run that is resumed says so when it is queued.
func TestAResumedRunIsQueued(t *testing.T) {
	lt := &v1beta1.LoadTest{Spec: ladder()}
	lt.Spec.Suspend = true
	lt.Status = lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{}, began).Status
	lt.Spec.Suspend = false
	d := lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{Place: place(1, 1)}, began.Add(time.Second))
	if got := reasons(d.Events); !slices.Equal(got, []string{v1beta1.ReasonResumed, "Queued"}) {
		t.Errorf("events %v", got)
	}
	same.As(t, "Suspended", "False Resumed: The run was resumed.", said(d.Status, v1beta1.ConditionSuspended))
}

// A step that no process of this operator began is not begun in the pass that stops the run.
func TestAStopDoesNotBeginAStep(t *testing.T) {
	for name, tc := range map[string]struct {
		since      time.Time
		undirected bool
	}{
		"directed by this process":  {began, false},
		"another step was directed": {began, true},
		"not directed yet":          {time.Time{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			lt := limited(1)
			lt.Status.StartTime = &metav1.Time{Time: began}
			seen := awaited(ready)
			seen.Since, seen.Undirected = tc.since, tc.undirected
			d := lifecycle.Decide(lt, rules(t, "stop: {by: jane}"), seen, began.Add(21*time.Second))
			if d.Status.Internal.StopTime == nil || d.Status.Internal.StopCause == nil || d.Status.Internal.StopCause.Reason != v1beta1.ReasonStopped {
				t.Fatalf("stopped at %v for %+v", d.Status.Internal.StopTime, d.Status.Internal.StopCause)
			}
			before := &metav1.MicroTime{Time: began.Add(20 * time.Second)}
			lt.Status.Internal.StopTime = before
			if again := lifecycle.Decide(lt, rules(t, "stop: {by: jane}"), seen, began.Add(21*time.Second)).Status.Internal; !again.StopTime.Equal(before) || again.StopCause != nil {
				t.Errorf("stopped again, at %v for %+v", again.StopTime, again.StopCause)
			}
			if d.Undirected != tc.since.IsZero() || (d.Directive.Start == nil) != tc.undirected {
				t.Errorf("undirected: %v, start %+v", d.Undirected, d.Directive.Start)
			}
		})
	}
}

// A run that gave way lets others pass for as long as it had places, and is in its order again.
func TestHowLongOthersPass(t *testing.T) {
	lt := waiting(t, 1, 1)
	if lifecycle.LetsOthersPass(lt, began) {
		t.Error("a run that did not give way lets others pass")
	}
	lt.Status.Internal.GaveWayAfter = &metav1.Duration{Duration: 4 * time.Minute}
	begun := lt.DeepCopy()
	begun.Status.Conditions[slices.IndexFunc(begun.Status.Conditions, func(c metav1.Condition) bool { return c.Type == v1beta1.ConditionQueued })].Status = metav1.ConditionFalse
	if lifecycle.LetsOthersPass(begun, began) {
		t.Error("a run that has begun lets others pass")
	}
	if begun.Status.Conditions = nil; lifecycle.LetsOthersPass(begun, began) {
		t.Error("a run that was never queued lets others pass")
	}
	for after, want := range map[time.Duration]bool{0: true, 4*time.Minute - 1: true, 4 * time.Minute: false} {
		if got := lifecycle.LetsOthersPass(lt, began.Add(after)); got != want {
			t.Errorf("after %v: %t", after, got)
		}
	}
}
