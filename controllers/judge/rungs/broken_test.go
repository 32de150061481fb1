package rungs_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
)

func TestBrokenStepsAreNothingToCompareWith(t *testing.T) {
	atMost := func(metric v1beta1.Metric, limit string, edits ...func(*v1beta1.Threshold)) []v1beta1.Threshold {
		most := intstr.Parse(limit)
		threshold := v1beta1.Threshold{Metric: metric, Max: &most}
		for _, edit := range edits {
			edit(&threshold)
		}
		return []v1beta1.Threshold{threshold}
	}
	upTo := func(users int32) func(*v1beta1.Threshold) { return func(t *v1beta1.Threshold) { t.UpToUsers = &users } }
	requests := func(names ...string) func(*v1beta1.Threshold) {
		return func(t *v1beta1.Threshold) { t.Requests = names }
	}
	types := func(names ...string) func(*v1beta1.Threshold) { return func(t *v1beta1.Threshold) { t.Types = names } }
	journeys := func(names ...string) func(*v1beta1.Threshold) {
		return func(t *v1beta1.Threshold) { t.Journeys = names }
	}
	noMax := func(t *v1beta1.Threshold) { t.Max = nil }
	const rest = " in step 10; a baseline may have at most 1%"
	const twice = "failureRate is 2%" + rest
	for name, tc := range map[string]struct {
		thresholds []v1beta1.Threshold
		failed     int64 // of 100
		excused    int64 // of those, by the generator's delay
		unsent     int64 // of 1000
		journeys   []v1beta1.JourneyResult
		ofType     string
		ofRequest  string
		want       string
	}{
		"as much as may fail":                   {failed: 1},
		"more":                                  {failed: 2, want: twice},
		"more is allowed":                       {thresholds: atMost("failureRate", "2%"), failed: 2},
		"less is allowed":                       {thresholds: atMost("failureRate", "0%"), failed: 1},
		"more unsent ones are allowed":          {thresholds: atMost("unsentRate", "2%"), failed: 2, want: twice},
		"a minimum":                             {thresholds: atMost("failureRate", "2%", noMax), failed: 2, want: twice},
		"of some requests":                      {thresholds: atMost("failureRate", "2%", requests("create")), failed: 2, want: twice},
		"of some requests of the type":          {thresholds: atMost("failureRate", "2%", requests("create"), types("Read")), ofType: "Read", failed: 2, want: twice},
		"of journeys":                           {thresholds: atMost("failureRate", "2%", journeys("buy")), failed: 2, want: twice},
		"of the type":                           {thresholds: atMost("failureRate", "2%", types("Read")), ofType: "Read", failed: 2},
		"of another type":                       {thresholds: atMost("failureRate", "2%", types("Write")), ofType: "Read", failed: 2, want: twice},
		"of two types":                          {thresholds: atMost("failureRate", "2%", types("Read", "Write")), ofType: "Read", failed: 2, want: twice},
		"up to as many users":                   {thresholds: atMost("failureRate", "2%", upTo(10)), failed: 2},
		"up to fewer users":                     {thresholds: atMost("failureRate", "2%", upTo(9)), failed: 2, want: twice},
		"the largest counts":                    {thresholds: append(atMost("failureRate", "3%"), atMost("failureRate", "2%")...), failed: 3},
		"what cannot be read":                   {thresholds: atMost("failureRate", "much"), failed: 2, want: twice},
		"the generator may have made them fail": {failed: 3, excused: 1, want: "failureRate is between 2% and 3%" + rest},
		"journeys":                              {journeys: []v1beta1.JourneyResult{{Name: "buy", Completed: 97, Failed: 1}, {Name: "sell", Completed: 1, Failed: 1}}, want: "failureRate of journeys is 2%" + rest},
		"as many journeys as may fail":          {journeys: []v1beta1.JourneyResult{{Name: "buy", Completed: 99, Failed: 1}}},
		"journeys of which none has ended":      {journeys: []v1beta1.JourneyResult{{Name: "buy"}}},
		"a minimum of them":                     {thresholds: atMost("failureRate", "2%", journeys("buy"), noMax), journeys: []v1beta1.JourneyResult{{Name: "buy", Completed: 98, Failed: 2}}, want: "failureRate of journeys is 2%" + rest},
		"less of them is allowed":               {thresholds: atMost("failureRate", "0%", journeys("buy")), journeys: []v1beta1.JourneyResult{{Name: "buy", Completed: 99, Failed: 1}}},
		"of one request":                        {ofRequest: "create", failed: 2, want: twice},
		"of one request, as is allowed of it":   {ofRequest: "create", thresholds: atMost("failureRate", "2%", requests("create", "follow")), failed: 2},
		"of one request, as is allowed of all":  {ofRequest: "create", thresholds: atMost("failureRate", "2%"), failed: 2},
		"of one request, and of another":        {ofRequest: "create", thresholds: atMost("failureRate", "2%", requests("follow")), failed: 2, want: twice},
		"of all requests by name":               {thresholds: atMost("failureRate", "2%", requests("create", "follow")), failed: 2},
		"unsent, of all types":                  {ofType: "Read", unsent: 20, want: "unsentRate is 2%" + rest},
		"more journeys are allowed":             {thresholds: atMost("failureRate", "2%", journeys("buy")), journeys: []v1beta1.JourneyResult{{Name: "buy", Completed: 98, Failed: 2}}},
		"more of two": {
			thresholds: atMost("failureRate", "2%", journeys("buy", "sell")), journeys: []v1beta1.JourneyResult{{Name: "buy", Completed: 90, Failed: 2}, {Name: "sell", Completed: 7, Failed: 1}},
			want: "failureRate of buy, sell is 3% in step 10; a baseline may have at most 2%",
		},
		"more of another":                    {thresholds: atMost("failureRate", "2%", journeys("sell")), journeys: []v1beta1.JourneyResult{{Name: "buy", Completed: 98, Failed: 2}}, want: "failureRate of journeys is 2%" + rest},
		"more of it up to fewer users":       {thresholds: atMost("failureRate", "2%", journeys("buy"), upTo(9)), journeys: []v1beta1.JourneyResult{{Name: "buy", Completed: 98, Failed: 2}}, want: "failureRate of journeys is 2%" + rest},
		"a threshold of the journeys of all": {thresholds: atMost("failureRate", "2%"), journeys: []v1beta1.JourneyResult{{Name: "buy", Completed: 98, Failed: 2}}, want: "failureRate of journeys is 2%" + rest},
	} {
		r := &v1beta1.StepResult{Journeys: tc.journeys, Excused: tc.excused, Due: 1000, Unsent: tc.unsent}
		counts := v1beta1.Counts{Sent: 100, Failed: tc.failed}
		if r.Counts = counts; tc.ofType != "" {
			r.Counts, r.Types = v1beta1.Counts{Sent: 1000}, []v1beta1.TypeResult{{Name: tc.ofType, PartResult: v1beta1.PartResult{Counts: counts}}}
		}
		if tc.ofRequest != "" {
			r.Counts, r.Requests = v1beta1.Counts{Sent: 1000}, []v1beta1.RequestResult{{Name: tc.ofRequest, PartResult: v1beta1.PartResult{Counts: counts}}}
		}
		step := &v1beta1.StepStatus{Name: "10", Load: v1beta1.StepLoad{Users: 10}, Result: r}
		err := rungs.Broken(&v1beta1.LoadTestSpec{Requests: []v1beta1.Request{{Name: "create"}, {Name: "follow"}}, Thresholds: tc.thresholds}, step, step.Name, metric.Quantity{Type: tc.ofType, Request: tc.ofRequest}, "a baseline")
		if (err != nil) != (tc.want != "") || err != nil && err.Error() != tc.want {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

func TestPairsAreOfOneRungAndRepetition(t *testing.T) {
	step := func(rung, repetition int32, side v1beta1.Side) v1beta1.StepStatus {
		return v1beta1.StepStatus{Rung: rung, Repetition: repetition, Side: side, Load: v1beta1.StepLoad{Users: 1}}
	}
	steps := []v1beta1.StepStatus{
		step(1, 1, v1beta1.SideControl), step(1, 1, v1beta1.SideCandidate), step(2, 1, v1beta1.SideCandidate),
		step(1, 2, v1beta1.SideCandidate), step(1, 2, v1beta1.SideControl), step(1, 3, ""),
	}
	pairs := rungs.Pairs(steps, 1)
	if len(pairs) != 2 || pairs[0] != (rungs.Pair{Candidate: &steps[1], Control: &steps[0]}) || pairs[1] != (rungs.Pair{Candidate: &steps[3], Control: &steps[4]}) {
		t.Errorf("%+v", pairs)
	}
	got := rungs.Of(steps)
	if len(got) != 2 || len(got[0].Steps) != 3 || len(got[1].Steps) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestStepsThatAreWholeAndSound(t *testing.T) {
	for name, tc := range map[string]struct {
		edit         func(*v1beta1.StepStatus)
		whole, sound bool
	}{
		"as planned":      {func(*v1beta1.StepStatus) {}, true, true},
		"one more worker": {func(s *v1beta1.StepStatus) { s.WorkersReporting = 4 }, true, true},
		"a worker less":   {func(s *v1beta1.StepStatus) { s.WorkersReporting = 2 }, false, true},
		"cut":             {func(s *v1beta1.StepStatus) { s.State = v1beta1.StepCut }, false, true},
		"two versions": {func(s *v1beta1.StepStatus) {
			s.Environment = &v1beta1.StepEnvironment{Changes: []v1beta1.EnvironmentChange{{Spoils: v1beta1.SpoiledStep}}}
		}, false, true},
		"a busy generator": {func(s *v1beta1.StepStatus) { s.Result.Generator = &v1beta1.GeneratorStatus{} }, true, true},
		"a displaced load": {func(s *v1beta1.StepStatus) { s.Result.Generator = &v1beta1.GeneratorStatus{LoadDisplaced: true} }, true, false},
	} {
		step := &v1beta1.StepStatus{State: v1beta1.StepComplete, WorkersReporting: 3, Result: &v1beta1.StepResult{}}
		tc.edit(step)
		if whole, sound := rungs.IsWhole(step, 3), rungs.IsSound(step.Result); whole != tc.whole || sound != tc.sound {
			t.Errorf("%s: whole %t, sound %t", name, whole, sound)
		}
	}
	if rungs.IsWhole(&v1beta1.StepStatus{State: v1beta1.StepComplete, WorkersReporting: 3}, 3) {
		t.Error("a step without a result is whole")
	}
}
