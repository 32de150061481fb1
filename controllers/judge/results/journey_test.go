package results_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestResultsOfJourneys(t *testing.T) {
	lt := mix()
	lt.Spec.Journeys = []v1beta1.Journey{{Name: "buy", Steps: []v1beta1.JourneyStep{{Request: "login"}, {Think: v1beta1.NewThink(0, time.Second)}, {Request: "pay"}}}, {Name: "look"}}
	lt.Status.Requests = plan.RequestNames(&lt.Spec)
	merged := measure.NewMeasurement(4)
	merged.Journeys = measure.NewJourneys(2)
	j := &merged.Journeys[0]
	j.Started = 7
	j.Fail(2)
	j.Complete(time.Second, time.Second)
	j.Complete(time.Second, time.Second)
	step := loading("10", v1beta1.StepLoad{Users: 10})
	result := stepResult(t, lt, step, merged)
	second := d(1000447 * time.Microsecond)
	want := []v1beta1.JourneyResult{
		{Name: "buy", Started: 7, Completed: 2, Failed: 1, FailedIn: []v1beta1.JourneyFailures{{Step: 3, Request: "pay", Failed: 1}}, Unfinished: 4, Time: &v1beta1.Latency{Samples: 2, Mean: result.Journeys[0].Time.Mean, Min: result.Journeys[0].Time.Min, P50: second, Longest: second}},
		{Name: "look"},
	}
	same.As(t, "journeys", want, result.Journeys)
	if result.Sessions != nil {
		t.Errorf("users have sessions: %+v", result.Sessions)
	}
	// With a rate, what was due is told, too.
	merged.Sessions, j.Due = measure.Sessions{Due: 12, Started: 9}, 10
	step = loading("10/s", v1beta1.StepLoad{Rate: decimal("10"), Sessions: ptr.To(int64(12))})
	result = stepResult(t, lt, step, merged)
	want[0].Due, want[0].Time.Mean, want[0].Time.Min = 10, result.Journeys[0].Time.Mean, result.Journeys[0].Time.Min
	same.As(t, "journeys at a rate", want, result.Journeys)
	same.As(t, "sessions", &v1beta1.SessionsResult{Due: 12, Started: 9}, result.Sessions)
	merged.Journeys = merged.Journeys[:1]
	if _, err := results.StepResult(lt, step, merged, time.Second); err == nil || !strings.Contains(err.Error(), "measured 1 journeys, the spec has 2") {
		t.Errorf("a measurement of another spec: %v", err)
	}
}

// What conditions did stands beside the step that has them.
func TestResultsOfConditions(t *testing.T) {
	lt := mix()
	lt.Spec.Journeys = []v1beta1.Journey{{Name: "buy", Steps: []v1beta1.JourneyStep{
		{Request: "login"}, {If: "true", Think: v1beta1.NewThink(0, time.Second)}, {Repeat: &v1beta1.Repeat{Request: "state"}}, {If: "true", Request: "pay"},
	}}}
	lt.Status.Requests = plan.RequestNames(&lt.Spec)
	merged := measure.NewMeasurement(4)
	merged.Journeys = measure.NewJourneys(1)
	j := &merged.Journeys[0]
	j.Started = 5
	for range 3 {
		j.Fail(2)
	}
	j.FailByCondition(2, "until never held in 10 tries")
	j.LeaveOut(1)
	j.LeaveOut(3)
	j.LeaveOut(3)
	got := stepResult(t, lt, loading("10", v1beta1.StepLoad{Users: 10}), merged).Journeys[0]
	same.As(t, "failures", []v1beta1.JourneyFailures{{Step: 3, Request: "state", Failed: 3, ByCondition: 1, Because: "until never held in 10 tries"}}, got.FailedIn)
	same.As(t, "left out", []v1beta1.JourneyLeftOut{{Step: 2, Times: 1}, {Step: 4, Request: "pay", Times: 2}}, got.LeftOut)
}
