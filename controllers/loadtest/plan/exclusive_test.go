package plan_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// What excludes each other is refused, whichever of it is set.
func TestPartsThatExcludeEachOtherAreRefused(t *testing.T) {
	second := metav1.Duration{Duration: time.Second}
	ten, decimal := int32(10), func(s string) *v1alpha1.Decimal { d := v1alpha1.NewDecimal(s); return &d }
	search := func(s *v1alpha1.LoadTestSpec) {
		s.Ladder, s.Search = nil, &v1alpha1.Search{Users: &v1alpha1.UsersRange{Min: 1, Max: 10}, Duration: second}
	}
	ramp := func(to string) func(*v1alpha1.LoadTestSpec) {
		return func(s *v1alpha1.LoadTestSpec) {
			s.Ladder, s.Steps = nil, []v1alpha1.Step{{Users: &ten, RampTo: decimal(to), RatePerUser: decimal("1"), Duration: &second}}
		}
	}
	versus := func(s *v1alpha1.LoadTestSpec) {
		s.Versus = &v1alpha1.Versus{Target: v1alpha1.Target{URL: "http://b"}}
	}
	const (
		searched = "spec.search: must not be set with ladder, steps or repetitions, and must have one of users and rate."
		compared = "spec.versus: must not be set with baseline, search or audits."
		ramped   = "spec.steps[0].rampTo: must be a whole number of users from 1 to 1000000."
	)
	for name, tc := range map[string]struct {
		edits []func(*v1alpha1.LoadTestSpec)
		want  string
	}{
		"a ladder":                 {nil, ""},
		"a search with a ladder":   {[]func(*v1alpha1.LoadTestSpec){search, func(s *v1alpha1.LoadTestSpec) { s.Ladder = &v1alpha1.Ladder{Users: []int32{1}, Duration: second} }}, searched},
		"with a step":              {[]func(*v1alpha1.LoadTestSpec){search, func(s *v1alpha1.LoadTestSpec) { s.Steps = []v1alpha1.Step{{Users: &ten, Duration: &second}} }}, searched},
		"with repetitions":         {[]func(*v1alpha1.LoadTestSpec){search, func(s *v1alpha1.LoadTestSpec) { s.Repetitions = 2 }}, searched},
		"versus":                   {[]func(*v1alpha1.LoadTestSpec){versus}, ""},
		"versus with a search":     {[]func(*v1alpha1.LoadTestSpec){search, versus}, compared},
		"versus with a baseline":   {[]func(*v1alpha1.LoadTestSpec){versus, func(s *v1alpha1.LoadTestSpec) { s.Baseline = &v1alpha1.Baseline{Name: "a"} }}, compared},
		"versus with an audit":     {[]func(*v1alpha1.LoadTestSpec){versus, func(s *v1alpha1.LoadTestSpec) { s.Audits = []v1alpha1.Audit{{Name: "a"}} }}, compared},
		"a ramp to one":            {[]func(*v1alpha1.LoadTestSpec){ramp("1")}, ""},
		"a ramp to one and a half": {[]func(*v1alpha1.LoadTestSpec){ramp("1.5")}, ramped},
		"a ramp to too many":       {[]func(*v1alpha1.LoadTestSpec){ramp("1000001")}, ramped},
	} {
		lt := &v1alpha1.LoadTest{Spec: v1alpha1.LoadTestSpec{
			Target: v1alpha1.Target{URL: "http://a"}, Requests: []v1alpha1.Request{{Path: "/"}}, Ladder: &v1alpha1.Ladder{Users: []int32{1}, Duration: second},
		}}
		for _, edit := range tc.edits {
			edit(&lt.Spec)
		}
		got := ""
		if _, refusal := plan.New(lt, policy.Everything()); refusal != nil {
			got = refusal.Message
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestRequestsAreSentByTheMixOrAJourney(t *testing.T) {
	none, one := int32(0), int32(1)
	spec := &v1alpha1.LoadTestSpec{
		Requests:   []v1alpha1.Request{{Name: "mixed"}, {Name: "walked"}, {Name: "filled", Weight: &none}, {Name: "both", Weight: &one}, {}},
		Journeys:   []v1alpha1.Journey{{Name: "a", Steps: []v1alpha1.JourneyStep{{Request: "walked"}, {Request: "both"}}}},
		Thresholds: []v1alpha1.Threshold{{Types: []string{"Read"}}, {}},
	}
	for i, want := range []bool{true, true, false, true, true} {
		if got := plan.IsSent(spec, &spec.Requests[i]); got != want {
			t.Errorf("request %q is sent: %t", spec.Requests[i].Name, got)
		}
	}
	if !plan.NamesType(spec, "Read") || plan.NamesType(spec, "Write") {
		t.Error("other types are named than Read")
	}
	status := &v1alpha1.LoadTestStatus{Search: &v1alpha1.SearchStatus{MaxProbes: 3}, Steps: make([]v1alpha1.StepStatus, 1)}
	if n := len(plan.Foreseen(spec, status)); n != 1 {
		t.Errorf("%d steps are foreseen without a search", n)
	}
	spec.Search = &v1alpha1.Search{Users: &v1alpha1.UsersRange{Min: 1, Max: 10}}
	for _, s := range []*v1alpha1.LoadTestStatus{{Search: status.Search}, {Steps: status.Steps}} {
		if n := len(plan.Foreseen(spec, s)); n != len(s.Steps) {
			t.Errorf("%d steps are foreseen of a search that was not planned", n)
		}
	}
}
