package plan_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What excludes each other is refused, whichever of it is set.
func TestPartsThatExcludeEachOtherAreRefused(t *testing.T) {
	const (
		searched = "spec.search: must not be set with ladder, steps or repetitions, and must have one of users and rate."
		compared = "spec.versus: must not be set with baseline, search or audits."
		ramped   = "spec.steps[0].rampTo: must be a whole number of users from 1 to 1000000."
		search   = "search: {users: {min: 1, max: 10}, duration: 1s}, "
		versus   = "otherTargets: [{name: b, url: http://b}], versus: {target: b}, "
		noSteps  = "steps: []"
	)
	for fields, want := range map[string]string{
		"ladder: {users: [1], duration: 1s}, " + noSteps: "",
		search + noSteps: "",
		search + "ladder: {users: [1], duration: 1s}, " + noSteps:     searched,
		search + "steps: [{name: 10 users, users: 10, duration: 1s}]": searched,
		search + "repetitions: 2, " + noSteps:                         searched,
		versus:                                                        "",
		versus + search + noSteps:                                     compared,
		versus + "baseline: {name: a}":                                compared,
		versus + "audits: [{name: a}]":                                compared,
		"steps: [{name: 10 to 1 users, users: 10, rampTo: 1, ratePerUser: 1, duration: 1s}]":             "",
		`steps: [{name: 10 to 1.5 users, users: 10, rampTo: "1.5", ratePerUser: 1, duration: 1s}]`:       ramped,
		"steps: [{name: 10 to 1000001 users, users: 10, rampTo: 1000001, ratePerUser: 1, duration: 1s}]": ramped,
	} {
		same.As(t, fields+": refusal", want, refusalOf(loadTest(yamlSpec(t, "{"+fields+"}")), policy.Everything()))
	}
}

func TestRequestsAreSentByTheMixOrAJourney(t *testing.T) {
	none, one := int32(0), int32(1)
	spec := &v1beta1.LoadTestSpec{
		Requests:   []v1beta1.Request{{Name: "mixed"}, {Name: "walked"}, {Name: "filled", Weight: &none}, {Name: "both", Weight: &one}, {Name: "home", HTTP: &v1beta1.HTTPRequest{}}},
		Journeys:   []v1beta1.Journey{{Name: "a", Steps: []v1beta1.JourneyStep{{Request: "walked"}, {Request: "both"}}}},
		Thresholds: []v1beta1.Threshold{{Types: []string{"Read"}}, {}},
	}
	for i, want := range []bool{true, true, false, true, true} {
		if got := plan.IsSent(spec, &spec.Requests[i]); got != want {
			t.Errorf("request %q is sent: %t", spec.Requests[i].Name, got)
		}
	}
	if !plan.NamesType(spec, "Read") || plan.NamesType(spec, "Write") {
		t.Error("other types are named than Read")
	}
	status := &v1beta1.LoadTestStatus{Search: &v1beta1.SearchStatus{MaxProbes: 3}, Steps: make([]v1beta1.StepStatus, 1)}
	same.As(t, "steps that are foreseen without a search", 1, len(plan.Foreseen(spec, status)))
	spec.Search = &v1beta1.Search{Users: &v1beta1.UsersRange{Min: 1, Max: 10}}
	for _, s := range []*v1beta1.LoadTestStatus{{Search: status.Search}, {Steps: status.Steps}} {
		same.As(t, "steps that are foreseen of a search that was not planned", len(s.Steps), len(plan.Foreseen(spec, s)))
	}
}
