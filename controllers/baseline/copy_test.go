package baseline_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/baseline"
	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
)

func ptr[T any](v T) *T { return &v }

// ladder is a run of two rungs.
func ladder() *v1alpha1.LoadTestSpec {
	return &v1alpha1.LoadTestSpec{
		Requests:    []v1alpha1.Request{{Name: "create", Method: "POST", Weight: ptr(int32(20))}, {Path: "/health"}},
		Ladder:      &v1alpha1.Ladder{Users: []int32{10, 100}, Duration: metav1.Duration{Duration: time.Second}, Rest: &metav1.Duration{Duration: time.Second}},
		Repetitions: 2,
	}
}

// before is a finished run of it.
func before() *v1alpha1.LoadTest {
	lt := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: "before", UID: "u"}, Spec: *ladder()}
	lt.Status = v1alpha1.LoadTestStatus{
		Verdict: v1alpha1.VerdictPassed, CompletionTime: &metav1.Time{Time: time.Unix(1, 0)},
		Workers: v1alpha1.WorkerCounts{Desired: 1}, Steps: plan.Steps(&lt.Spec),
	}
	for i := range lt.Status.Steps {
		step := &lt.Status.Steps[i]
		step.State = v1alpha1.StepComplete
		if !step.Load.IsPause() {
			step.WorkersReporting, step.Result = 1, &v1alpha1.StepResult{Goodput: step.Name[:2]}
			step.Result.Sent = int64(i)
		}
	}
	return lt
}

func goodput(name string, rung, repetition int32, sent int64) v1alpha1.BaselineStep {
	figures := []v1alpha1.Figure{{Metric: "goodput", Value: "10"}, {Metric: "itemsPerSecond", Value: "10"}}
	if sent > 0 {
		figures = append([]v1alpha1.Figure{{Metric: "failureRate", Value: "0%"}, {Metric: "rateLimitedRate", Value: "0%"}}, figures...)
	}
	return v1alpha1.BaselineStep{Name: name, Rung: rung, Repetition: repetition, Sent: sent, Figures: figures}
}

func TestWhatIsCopied(t *testing.T) {
	all := []v1alpha1.BaselineStep{goodput("10", 1, 1, 0), goodput("10 (2)", 1, 2, 4), goodput("100", 3, 1, 2), goodput("100 (2)", 3, 2, 6)}
	for name, tc := range map[string]struct {
		spec   func(*v1alpha1.LoadTestSpec)
		before func(*v1alpha1.LoadTest)
		want   []v1alpha1.BaselineStep
	}{
		"all":                         {nil, nil, all},
		"of a run that failed":        {nil, func(lt *v1alpha1.LoadTest) { lt.Status.Verdict = v1alpha1.VerdictFailed }, all},
		"another rung":                {func(s *v1alpha1.LoadTestSpec) { s.Ladder.Users[0] = 20 }, nil, all[2:]},
		"at another place":            {func(s *v1alpha1.LoadTestSpec) { s.Ladder.Users = []int32{100} }, nil, []v1alpha1.BaselineStep{goodput("100", 1, 1, 2), goodput("100 (2)", 1, 2, 6)}},
		"one repetition":              {func(s *v1alpha1.LoadTestSpec) { s.Repetitions = 1 }, nil, all},
		"a cut step":                  {nil, func(lt *v1alpha1.LoadTest) { lt.Status.Steps[6].State = v1alpha1.StepCut }, all[:3]},
		"an unfit generator":          {nil, func(lt *v1alpha1.LoadTest) { lt.Status.Steps[0].Result.Generator = &v1alpha1.GeneratorStatus{} }, all[1:]},
		"a missing worker":            {nil, func(lt *v1alpha1.LoadTest) { lt.Status.Steps[0].WorkersReporting = 0 }, all[1:]},
		"a worker lost in the last":   {nil, func(lt *v1alpha1.LoadTest) { lt.Status.Workers.Lost = 1 }, all[:3]},
		"the path of a named request": {func(s *v1alpha1.LoadTestSpec) { s.Requests[0].Path = "/v2/urls" }, nil, all},
		"another rest":                {func(s *v1alpha1.LoadTestSpec) { s.Ladder.Rest.Duration = time.Minute }, nil, all},
	} {
		t.Run(name, func(t *testing.T) {
			spec, finished := ladder(), before()
			if tc.spec != nil {
				tc.spec(spec)
			}
			if tc.before != nil {
				tc.before(finished)
			}
			got, refusal := baseline.Copy(spec, plan.Steps(spec), finished)
			if refusal != nil {
				t.Fatal(refusal)
			}
			want := &v1alpha1.BaselineStatus{Name: "before", UID: "u", Verdict: finished.Status.Verdict, CompletionTime: finished.Status.CompletionTime, Steps: tc.want}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("copied (-want +got):\n%s", diff)
			}
		})
	}
}

// Figures by type are copied only for thresholds that bound a difference.
func TestFiguresByTypeThatAreCopied(t *testing.T) {
	spec, finished := ladder(), before()
	spec.Thresholds = []v1alpha1.Threshold{
		{Metric: "p95", Types: []string{"Read"}, MaxIncrease: "10%"}, {Name: "again", Metric: "p95", Types: []string{"Read"}, MaxIncrease: "5%"},
		{Metric: "p99", Types: []string{"Read"}}, {Metric: "p50", MaxIncrease: "5%"},
	}
	time50 := &v1alpha1.Latency{P95: &metav1.Duration{Duration: time.Millisecond}, P99: &metav1.Duration{Duration: time.Millisecond}}
	finished.Status.Steps[0].Result = &v1alpha1.StepResult{Types: []v1alpha1.TypeResult{{Name: "Read", ResponseTime: time50}}}
	got, refusal := baseline.Copy(spec, plan.Steps(spec), finished)
	if refusal != nil {
		t.Fatal(refusal)
	}
	want := []v1alpha1.Figure{{Metric: "p95", Type: "Read", Value: "1ms"}}
	if diff := cmp.Diff(want, got.Steps[0].Figures); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}

func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		spec   func(*v1alpha1.LoadTestSpec)
		before func(*v1alpha1.LoadTest)
		want   string
	}{
		"inconclusive": {
			nil, func(lt *v1alpha1.LoadTest) { lt.Status.Verdict = v1alpha1.VerdictInconclusive },
			"spec.baseline.name: the verdict of LoadTest before is Inconclusive, so that its figures say nothing about its target; name one that is Passed or Failed.",
		},
		"another ladder": {
			func(s *v1alpha1.LoadTestSpec) { s.Ladder.Users = []int32{11, 110} }, nil,
			"spec.baseline.name: no step of LoadTest before has the name and the load of one of this run; name one with the same ladder or steps, or run them against the earlier version first.",
		},
		"the same users for longer": {
			func(s *v1alpha1.LoadTestSpec) { s.Ladder.Duration.Duration = time.Minute }, nil,
			"spec.baseline.name: no step of LoadTest before has the name and the load of one of this run; name one with the same ladder or steps, or run them against the earlier version first.",
		},
		"nothing sound": {
			nil, func(lt *v1alpha1.LoadTest) {
				for i := range lt.Status.Steps {
					lt.Status.Steps[i].State = v1alpha1.StepCut
				}
			},
			"spec.baseline.name: no step of LoadTest before that has the name and the load of one of this run was carried out with all workers and a healthy generator; name another one, or run it again.",
		},
		"another request":  {func(s *v1alpha1.LoadTestSpec) { s.Requests[1].Path = "/" }, nil, otherRequests},
		"another weight":   {func(s *v1alpha1.LoadTestSpec) { s.Requests[0].Weight = nil }, nil, otherRequests},
		"another type":     {func(s *v1alpha1.LoadTestSpec) { s.Requests[0].Type = "Login" }, nil, otherRequests},
		"one request more": {func(s *v1alpha1.LoadTestSpec) { s.Requests = append(s.Requests, s.Requests[0]) }, nil, otherRequests},
	} {
		t.Run(name, func(t *testing.T) {
			spec, finished := ladder(), before()
			if tc.spec != nil {
				tc.spec(spec)
			}
			if tc.before != nil {
				tc.before(finished)
			}
			_, refusal := baseline.Copy(spec, plan.Steps(spec), finished)
			if refusal == nil || refusal.Reason != v1alpha1.ReasonBaselineRefused || refusal.Message != tc.want {
				t.Errorf("refusal %+v, want %q", refusal, tc.want)
			}
		})
	}
}

const otherRequests = "spec.baseline.name: LoadTest before sends other requests, or the same in other proportions; name one whose requests have the same names, types and weights."
