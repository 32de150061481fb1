package decision_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// passedWith is a LoadTest of a spec that passed.
func passedWith(spec *v1beta1.LoadTestSpec) *v1beta1.LoadTest {
	passed := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: "before"}, Spec: *spec.DeepCopy()}
	passed.Status.Verdict, passed.Status.CompletionTime = v1beta1.VerdictPassed, &metav1.Time{Time: at("00:10:00")}
	passed.Status.Workers.Desired, passed.Status.Steps = 1, plan.Steps(&passed.Spec)
	passed.Status.Steps[0].State, passed.Status.Steps[0].WorkersReporting = v1beta1.StepComplete, 1
	passed.Status.Steps[0].Result = &v1beta1.StepResult{ResponseTime: &v1beta1.Latency{P99: of(time.Millisecond)}}
	return passed
}

// A LoadTest is compared with the last that passed, if it can be; else it has no threshold on a
// difference, and says why.
func TestLoadTestOfASchedule(t *testing.T) {
	relative, absolute := v1beta1.Threshold{Metric: "p95", MaxIncrease: "10%"}, v1beta1.Threshold{Metric: "p99"}
	template := func(s *v1beta1.LoadTestSchedule) {
		s.Spec.Template.Metadata.Labels = map[string]v1beta1.LabelValue{"team": "a"}
		s.Spec.Template.Spec.Ladder = &v1beta1.Ladder{Users: []int32{10}, Duration: metav1.Duration{Duration: time.Second}}
		s.Spec.Template.Spec.Thresholds = []v1beta1.Threshold{relative, absolute}
	}
	passed := passedWith(&nightly(template).Spec.Template.Spec)
	other := passed.DeepCopy()
	other.Status.Steps = nil
	for name, tc := range map[string]struct {
		change     func(*v1beta1.LoadTestSpec)
		passed     *v1beta1.LoadTest
		baseline   *v1beta1.Baseline
		thresholds []v1beta1.Threshold
		why        string
	}{
		"none has passed":  {thresholds: []v1beta1.Threshold{absolute}, why: "No LoadTest of this schedule has passed yet."},
		"one has":          {passed: passed, baseline: &v1beta1.Baseline{Name: "before", Optional: true}, thresholds: []v1beta1.Threshold{relative, absolute}},
		"one of no steps":  {passed: other, thresholds: []v1beta1.Threshold{absolute}, why: "spec.baseline.name: no step of LoadTest before has the same name and load as a step of this run; name one with the same ladder or steps, or run them against the earlier version first."},
		"one of its own":   {change: func(s *v1beta1.LoadTestSpec) { s.Baseline = &v1beta1.Baseline{Name: "golden"} }, passed: passed, baseline: &v1beta1.Baseline{Name: "golden"}, thresholds: []v1beta1.Threshold{relative, absolute}},
		"against a second": {change: func(s *v1beta1.LoadTestSpec) { s.Versus = &v1beta1.Versus{} }, passed: passed, thresholds: []v1beta1.Threshold{relative, absolute}},
	} {
		s := nightly(template)
		if tc.change != nil {
			tc.change(&s.Spec.Template.Spec)
		}
		annotations := map[string]string{decision.AnnotationCause: "it is time"}
		if tc.why != "" {
			annotations[decision.AnnotationNotCompared] = tc.why
		}
		yes := true
		want := &v1beta1.LoadTest{Spec: *s.Spec.Template.Spec.DeepCopy(), ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "nightly-1", Annotations: annotations, Labels: map[string]string{"team": "a", decision.LabelSchedule: "nightly"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: v1beta1.GroupVersion.String(), Kind: "LoadTestSchedule", Name: "nightly", UID: "u", Controller: &yes}},
		}}
		want.Spec.Baseline, want.Spec.Thresholds = tc.baseline, tc.thresholds
		got := decision.Run(s, "nightly-1", "it is time", decision.Earlier{Passed: tc.passed})
		same.As(t, name, want, got)
		got.Status.Verdict = v1beta1.VerdictPassed
		failed, deleted, foreign := got.DeepCopy(), got.DeepCopy(), got.DeepCopy()
		failed.Status.Verdict, deleted.DeletionTimestamp, foreign.OwnerReferences = v1beta1.VerdictFailed, &metav1.Time{}, nil
		deleted.DeletionTimestamp.Time = at("00:10:00")
		if !decision.IsBaseline(s, got) || decision.IsBaseline(s, failed) || decision.IsBaseline(s, deleted) || decision.IsBaseline(s, foreign) {
			t.Errorf("%s: another than what has passed is a baseline", name)
		}
	}
}

// What the cache has of a schedule, without its template, leads to the same decision. What a
// user's own annotation says instead is not read.
func TestADecisionNeedsNoTemplate(t *testing.T) {
	for name, change := range map[string]func(*v1beta1.LoadTestSpec){
		"of its own":     func(*v1beta1.LoadTestSpec) {},
		"a baseline":     func(s *v1beta1.LoadTestSpec) { s.Baseline = &v1beta1.Baseline{Name: "golden"} },
		"against second": func(s *v1beta1.LoadTestSpec) { s.Versus = &v1beta1.Versus{Target: "v3"} },
	} {
		whole := nightly(func(s *v1beta1.LoadTestSchedule) {
			s.Spec.OnChange, s.Spec.Schedule = true, ""
			s.Annotations = map[string]string{"loadtest.dev/template-hash": "forged"}
			s.Spec.Template.Spec.Requests = []v1beta1.Request{{Name: "large", HTTP: &v1beta1.HTTPRequest{Body: strings.Repeat("x", 60_000)}}}
			change(&s.Spec.Template.Spec)
		})
		stripped := whole.DeepCopy()
		for range 2 {
			decision.WithoutTemplate(stripped)
		}
		if size := v1beta1.JSONSize(stripped); size > 2_000 {
			t.Errorf("%s: %d bytes are left", name, size)
		}
		seen := decision.Observed{}
		for i, verdict := range []v1beta1.Verdict{v1beta1.VerdictPassed, v1beta1.VerdictPassed, v1beta1.VerdictFailed, v1beta1.VerdictFailed, v1beta1.VerdictFailed} {
			seen.Runs = append(seen.Runs, decision.LoadTest{
				Namespace: "shop", Name: fmt.Sprint("run-", i), UID: fmt.Sprint(i), Finished: true, Verdict: verdict, Kept: at("01:00:00"),
				Created: at("00:00:00").Add(time.Duration(i) * time.Minute), Completed: at("00:00:30").Add(time.Duration(i) * time.Minute),
			})
		}
		want := decision.Decide(whole, seen, at("12:00:00"))
		same.As(t, name, want, decision.Decide(stripped, seen, at("12:00:00")))
		if change := want.Status.Change; change == nil || change.Hash == "forged" {
			t.Errorf("%s: the change is %+v", name, change)
		}
	}
}
