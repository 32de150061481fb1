package loadtestschedule_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// TestEachRunHasTheLastThatPassedAsItsBaseline is the life of a schedule: the first run
// has no baseline and no bound on a difference, the second has the first, and one that
// failed is the baseline of none.
func TestEachRunHasTheLastThatPassedAsItsBaseline(t *testing.T) {
	f := newFixture(t, apiserver.Client(t))
	s := f.hourly("nightly", func(s *v1beta1.LoadTestScheduleSpec) {
		s.Template.Spec.Thresholds = []v1beta1.Threshold{{Metric: "p99", MaxIncrease: "10%"}}
	})
	start := f.clock.Now()
	f.settle(s)
	first := f.one()
	if want := fmt.Sprintf("nightly-%d", start.Unix()/60); first.Name != want || !metav1.IsControlledBy(first, s) {
		t.Errorf("the LoadTest is %s of %v, want %s of the schedule", first.Name, first.OwnerReferences, want)
	}
	same.As(t, "labels", map[string]string{"team": "shop", "loadtest.dev/schedule": "nightly"}, first.Labels)
	if got, want := fmt.Sprint(f.said()), fmt.Sprintf("[Normal Started LoadTest %s was started: its schedule has one at %s.]", first.Name, start.UTC().Truncate(time.Minute).Format(time.RFC3339)); got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	if first.Spec.Baseline != nil || len(first.Spec.Thresholds) > 0 || first.Annotations["loadtest.dev/not-compared"] == "" {
		t.Errorf("the first is compared: %v, %v, %v", first.Spec.Baseline, first.Spec.Thresholds, first.Annotations)
	}

	f.finish(first, v1beta1.VerdictPassed, 40*time.Millisecond)
	f.after(time.Hour)
	f.settle(s)
	second := f.one()
	if second.Spec.Baseline == nil || second.Spec.Baseline.Name != first.Name || len(second.Spec.Thresholds) != 1 {
		t.Errorf("the second is compared with %v by %v, want %s: %v", second.Spec.Baseline, second.Spec.Thresholds, first.Name, second.Annotations)
	}
	same.As(t, "summary", v1beta1.ScheduleSummary{Schedule: "0 * * * *", Verdict: "Passed", Trend: "p99 40ms", Next: s.Status.Summary.Next}, s.Status.Summary)
	second.Status.Baseline = &v1beta1.BaselineStatus{Name: first.Name, Steps: []v1beta1.BaselineStep{
		{Name: "users-10", Rung: 1, Sent: 1000, Figures: []v1beta1.Figure{{Metric: "p99", Value: "40ms"}}},
	}}
	f.finish(second, v1beta1.VerdictFailed, 50*time.Millisecond)
	f.after(time.Hour)
	f.settle(s)
	third := f.one()
	if third.Spec.Baseline == nil || third.Spec.Baseline.Name != first.Name {
		t.Errorf("the third is compared with %v, want %s", third.Spec.Baseline, first.Name)
	}
	same.As(t, "summary", "Failed p99 50ms, +25%", s.Status.Summary.Verdict+" "+s.Status.Summary.Trend)
}

// A template with another ladder is not compared with what it cannot be compared with,
// which would end each run before it began.
func TestTemplateThatDoesNotFitItsBaseline(t *testing.T) {
	f := newFixture(t, apiserver.Client(t))
	s := f.hourly("nightly", nil)
	f.settle(s)
	f.finish(f.one(), v1beta1.VerdictPassed, time.Millisecond)
	f.settle(s)
	s.Spec.Template.Spec.Ladder.Users = []int32{20}
	s.Spec.Template.Spec.Thresholds = []v1beta1.Threshold{{Metric: "p99", MaxIncrease: "10%"}}
	f.update(s)
	f.after(time.Hour)
	f.settle(s)
	lt := f.one()
	if lt.Spec.Baseline != nil || !strings.Contains(lt.Annotations["loadtest.dev/not-compared"], "no step of LoadTest") {
		t.Errorf("it is compared with %v: %v", lt.Spec.Baseline, lt.Annotations)
	}
}

// TestRefusedTemplate has a LoadTest refused by what the schedule's own schema does not
// know: that the name of the LoadTest may not be that of its baseline.
func TestRefusedTemplate(t *testing.T) {
	f := newFixture(t, apiserver.Client(t))
	s := f.hourly("nightly", nil)
	s.Spec.Template.Spec.Baseline = &v1beta1.Baseline{Name: fmt.Sprintf("nightly-%d", f.clock.Now().Unix()/60)}
	f.update(s)
	result := f.settle(s)
	ready := meta.FindStatusCondition(s.Status.Conditions, v1beta1.ConditionReady)
	const want = "The LoadTest is refused: spec.baseline.name: Invalid value: name must be the name of another LoadTest"
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != v1beta1.ReasonRunRefused || ready.Message != want {
		t.Fatalf("condition %v, want %q", ready, want)
	}
	if !meta.IsStatusConditionTrue(s.Status.Conditions, v1beta1.ConditionStalled) {
		t.Errorf("a tool that waits does not see that the spec must change: %v", s.Status.Conditions)
	}
	same.As(t, "time until it is tried again", 10*time.Second, result.RequeueAfter)
	f.after(10 * time.Second)
	if result := f.settle(s); result.RequeueAfter != 20*time.Second {
		t.Errorf("it is tried for the third time in %s, want 20s", result.RequeueAfter)
	}
	s.Spec.Template.Spec.Baseline = nil // mended: at once
	f.update(s)
	f.settle(s)
	f.one()
	if !meta.IsStatusConditionTrue(s.Status.Conditions, v1beta1.ConditionReady) {
		t.Errorf("conditions %v", s.Status.Conditions)
	}
}

// A quota and a policy may be changed at any time. What is too large stays so.
func TestPolicyAndQuotaRefusals(t *testing.T) {
	forbidden := func(why string) *apierrors.StatusError {
		return apierrors.NewForbidden(v1beta1.GroupVersion.WithResource("loadtests").GroupResource(), "nightly", errors.New(why))
	}
	policy := forbidden("ValidatingAdmissionPolicy 'p' denied request: no")
	policy.ErrStatus.Reason, policy.ErrStatus.Code = metav1.StatusReasonInvalid, 422 // as the API server says it by default
	policy.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: "no"}}
	for says, tc := range map[string]struct {
		err     error
		stalled bool
	}{
		"exceeded quota: count/loadtests":                  {forbidden("exceeded quota: count/loadtests"), false},
		"ValidatingAdmissionPolicy 'p' denied request: no": {policy, false},
		"Request entity too large: limit is 3145728":       {apierrors.NewRequestEntityTooLargeError("limit is 3145728"), true},
	} {
		t.Run(says, func(t *testing.T) {
			refusal := tc.err
			f := newFixture(t, failing{apiserver.Client(t), func(context.Context, client.Object) error { return refusal }})
			s := f.hourly("nightly", nil)
			f.settle(s)
			if c := meta.FindStatusCondition(s.Status.Conditions, v1beta1.ConditionReady); c == nil || c.Message != "The LoadTest is refused: "+says {
				t.Errorf("condition %v", c)
			}
			same.As(t, "that it is stalled", tc.stalled, meta.IsStatusConditionTrue(s.Status.Conditions, v1beta1.ConditionStalled))
			refusal = nil
			f.after(10 * time.Second)
			f.settle(s)
			f.one()
		})
	}
}

func TestReplacementIsRefusedBeforeTheOtherIsDeleted(t *testing.T) {
	f := newFixture(t, apiserver.Client(t))
	s := f.hourly("nightly", func(s *v1beta1.LoadTestScheduleSpec) { s.ConcurrencyPolicy = v1beta1.ReplaceConcurrent })
	f.settle(s)
	first := f.one()
	f.after(time.Hour)
	s.Spec.Template.Spec.Baseline = &v1beta1.Baseline{Name: fmt.Sprintf("nightly-%d", f.clock.Now().Unix()/60)}
	f.update(s)
	f.settle(s)
	same.As(t, "the LoadTest that runs, which must not be deleted for one that is refused", first.Name, f.one().Name)
	s.Spec.Template.Spec.Baseline = nil
	f.update(s)
	f.settle(s) // which deletes it
	f.settle(s) // as the event of the deletion asks for
	if lt := f.one(); lt.Name == first.Name {
		t.Error("it was not replaced")
	}
}

// TestNothingIsStartedTwice has a process end between the creation of a LoadTest and the
// note of it, requests that are carried out although they fail, and an earlier leader.
func TestNothingIsStartedTwice(t *testing.T) {
	created := map[string]int{}
	f := newFixture(t, failing{apiserver.Client(t), func(ctx context.Context, o client.Object) error {
		twin, _ := o.DeepCopyObject().(client.Object)
		if err := apiserver.Client(t).Create(ctx, twin); err == nil {
			created[o.GetName()]++
		}
		return errors.New("the connection was lost")
	}})
	s := f.hourly("nightly", nil)
	if _, err := f.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(s)}); err == nil {
		t.Fatal("the lost connection is no error")
	}
	f.restart()
	f.settle(s)
	if len(f.runs()) != 1 || len(created) != 1 {
		t.Errorf("there are %d LoadTests, created %v", len(f.runs()), created)
	}
	if said := f.said(); len(said) != 1 {
		t.Errorf("events %v", said)
	}
	if s.Status.LastScheduleTime == nil {
		t.Error("the status does not say that it was started")
	}
}

// What LoadTests measured stays in the status when they are gone, and says which of them changed the
// level.
func TestLevelChangeInTheStatus(t *testing.T) {
	f := newFixture(t, apiserver.Client(t))
	s := f.hourly("nightly", nil)
	for _, p99 := range []int{40, 41, 40, 41, 60, 61, 60, 61} {
		f.settle(s)
		f.finish(f.one(), v1beta1.VerdictPassed, time.Duration(p99)*time.Millisecond)
		f.after(time.Hour)
	}
	f.settle(s)
	if len(s.Status.History) != 8 || len(f.runs()) > 5 {
		t.Errorf("the history has %d of 8 LoadTests, and %d are left", len(s.Status.History), len(f.runs()))
	}
	if c := s.Status.LevelChanges; len(c) != 1 || c[0].Run != s.Status.History[4].Name || c[0].From != "41ms" || c[0].To != "61ms" {
		t.Errorf("changes %+v of %+v", c, s.Status.History)
	}
	said := strings.Join(f.said(), "\n")
	if want := "LevelChanged p99 has another level since LoadTest " + s.Status.History[4].Name + ": 61ms instead of 41ms, +49%."; strings.Count(said, want) != 1 {
		t.Errorf("events do not have once %q:\n%s", want, said)
	}
}

// A pass from an earlier state of the schedule does not start what was started, ran and
// was deleted since.
func TestEarlierStateStartsNothing(t *testing.T) {
	f := newFixture(t, apiserver.Client(t))
	s := f.hourly("nightly", nil)
	earlier := s.DeepCopy()
	f.settle(s)
	lt := f.one()
	must.Succeed(t, apiserver.Client(t).Delete(t.Context(), lt))
	f.client = behind{apiserver.Client(t), earlier}
	f.restart()
	f.Uncached = apiserver.Client(t)
	if _, err := f.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(s)}); err != nil {
		t.Fatal(err)
	}
	same.As(t, "LoadTests that were started from an earlier state", 0, len(f.runs()))
}

// behind reads a schedule as it was.
type behind struct {
	client.Client
	earlier *v1beta1.LoadTestSchedule
}

func (c behind) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if s, ok := o.(*v1beta1.LoadTestSchedule); ok {
		c.earlier.DeepCopyInto(s)
		return nil
	}
	return c.Client.Get(ctx, key, o, options...)
}

func TestNameOfAnother(t *testing.T) {
	f := newFixture(t, apiserver.Client(t))
	s := f.hourly("nightly", nil)
	foreign := &v1beta1.LoadTest{Spec: *s.Spec.Template.Spec.DeepCopy()}
	foreign.Namespace, foreign.Name = s.Namespace, fmt.Sprintf("nightly-%d", f.clock.Now().Unix()/60)
	must.Succeed(t, apiserver.Client(t).Create(t.Context(), foreign))
	f.settle(s)
	if c := meta.FindStatusCondition(s.Status.Conditions, v1beta1.ConditionReady); c == nil || c.Reason != v1beta1.ReasonNameTaken {
		t.Errorf("condition %v", c)
	}
	if len(s.Status.Active) > 0 || s.Status.LastRun != nil {
		t.Errorf("the LoadTest of another is taken for its own: %v", s.Status)
	}
	f.after(time.Hour)
	f.settle(s)
	same.As(t, "LoadTests, with that of the next time", 2, len(f.runs()))
}

func TestStoppedClusterStartsNothing(t *testing.T) {
	f := newFixture(t, apiserver.Client(t))
	f.policy = load(t, "stop: {by: ops, reason: incident}")
	deadline, however := int64(600), f.hourly("however-late", nil)
	late := f.hourly("not-late", func(s *v1beta1.LoadTestScheduleSpec) { s.StartingDeadlineSeconds = &deadline })
	for _, s := range []*v1beta1.LoadTestSchedule{however, late} {
		f.settle(s)
		if c := meta.FindStatusCondition(s.Status.Conditions, v1beta1.ConditionSuspended); c == nil || c.Reason != v1beta1.ReasonStopped || !strings.Contains(c.Message, "ops") {
			t.Errorf("condition %v", c)
		}
	}
	if n := len(f.runs()); n > 0 {
		t.Errorf("%d LoadTests were started", n)
	}
	f.policy = load(t, "")
	f.after(30 * time.Minute)
	f.settle(late)
	if n := len(f.runs()); n > 0 || late.Status.MissedRuns == 0 {
		t.Errorf("%d LoadTests were started after the deadline, %d missed", n, late.Status.MissedRuns)
	}
	f.settle(however)
	f.one()
}

func TestHistoryIsDeleted(t *testing.T) {
	f := newFixture(t, apiserver.Client(t))
	s := f.hourly("nightly", func(s *v1beta1.LoadTestScheduleSpec) {
		s.SuccessfulRunsHistoryLimit, s.FailedRunsHistoryLimit = new(int32(0)), new(int32(0))
	})
	var names []string
	for i, verdict := range []v1beta1.Verdict{v1beta1.VerdictPassed, v1beta1.VerdictFailed, v1beta1.VerdictPassed, v1beta1.VerdictError} {
		f.settle(s)
		lt := f.one()
		names = append(names, lt.Name)
		f.finish(lt, verdict, time.Duration(i+1)*time.Millisecond)
		f.after(time.Hour) // of the fixture: LoadTests are created now, which is an hour before
	}
	f.settle(s)
	last := f.one()
	var left []string
	for _, lt := range f.runs() {
		left = append(left, lt.Name)
	}
	want := []string{names[2], last.Name}
	slices.Sort(left)
	slices.Sort(want)
	same.As(t, "LoadTests", want, left)
	if s.Status.Summary.Verdict != "Error" || s.Status.LastPassed.Name != names[2] {
		t.Errorf("status %+v", s.Status)
	}
}

func TestDeletedScheduleStartsNothing(t *testing.T) {
	f := newFixture(t, apiserver.Client(t))
	s := f.hourly("nightly", nil)
	s.Finalizers = []string{"example.com/held"}
	f.update(s)
	must.Succeed(t, apiserver.Client(t).Delete(t.Context(), s))
	if _, err := f.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(s)}); err != nil {
		t.Fatal(err)
	}
	if n := len(f.runs()); n > 0 {
		t.Errorf("%d LoadTests were started", n)
	}
	f.read(s)
	s.Finalizers = nil
	f.update(s)
}
