package plan_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestMostRequestsOfAStep(t *testing.T) {
	minute := duration(time.Minute)
	poisson := func(rate string, rampTo *v1beta1.Decimal) v1beta1.Step {
		return v1beta1.Step{Rate: decimal(rate), RampTo: rampTo, Arrivals: v1beta1.ArrivalsPoisson, Duration: minute}
	}
	for name, tt := range map[string]struct {
		step v1beta1.Step
		want int64
	}{
		"one arrival":     {v1beta1.Step{Rate: decimal("1"), Duration: duration(time.Second)}, 1},
		"even arrivals":   {v1beta1.Step{Rate: decimal("5"), Duration: minute}, 300},
		"a burst":         {v1beta1.Step{Users: ptr(int32(3)), RequestsPerUser: ptr(int32(4))}, 12},
		"users":           {v1beta1.Step{Users: ptr(int32(3)), Duration: minute}, 0},
		"drawn":           {poisson("15", nil), 900 + 6*30 + 10},
		"drawn of a ramp": {poisson("10", decimal("20")), 900 + 6*30 + 10},
		// 6·√60 is 46.5.
		"rounded up": {poisson("1", nil), 60 + 47 + 10},
	} {
		t.Run(name, func(t *testing.T) {
			got, known := plan.MostRequests(&plan.Steps(withSteps(tt.step))[0].Load)
			if got != tt.want || known != (tt.want > 0) {
				t.Errorf("%d requests at most, known: %v; want %d", got, known, tt.want)
			}
		})
	}
}

// Each time is counted once, however many thresholds have it.
func TestWorkersCountWhatIsAnsweredInTime(t *testing.T) {
	s := withSteps(v1beta1.Step{Name: "1 users", Users: ptr(int32(1)), Duration: duration(time.Second)})
	for _, within := range []time.Duration{time.Second, 0, 100 * time.Millisecond, time.Second} {
		threshold := v1beta1.Threshold{Metric: "p95"}
		if within > 0 {
			threshold = v1beta1.Threshold{Metric: "onTime", Within: duration(within)}
		}
		s.Thresholds = append(s.Thresholds, threshold)
	}
	lt := loadTest(s)
	lt.Status.Workers.Desired = 1
	same.As(t, "times that requests have", []int64{100_000_000, 1_000_000_000}, plan.Assignments(lt)[0].GetOnTimeNanos())
}

// Ideal times make the snapshots of a running step half as large again: they are sent only
// where a threshold may abort it.
func TestWorkersSendLiveIdealTimesForThresholdsThatAbort(t *testing.T) {
	for action, want := range map[v1beta1.BreachAction]bool{v1beta1.BreachAbort: true, v1beta1.BreachStopLadder: false, v1beta1.BreachContinue: false} {
		lt := &v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{Thresholds: []v1beta1.Threshold{{}, {OnBreach: action}}}}
		lt.Status.Workers.Desired = 1
		same.As(t, "on breach "+string(action)+": live ideal times are sent", want, plan.Assignments(lt)[0].GetLiveIdeal())
	}
}

func TestMostPerSecond(t *testing.T) {
	minute := duration(time.Minute)
	for name, tt := range map[string]struct {
		step v1beta1.Step
		want float64
	}{
		"arrivals":       {v1beta1.Step{Rate: decimal("2.5"), Duration: minute}, 2.5},
		"a ramp up":      {v1beta1.Step{Rate: decimal("5"), RampTo: decimal("20"), Duration: minute}, 20},
		"a ramp down":    {v1beta1.Step{Rate: decimal("20"), RampTo: decimal("5"), Duration: minute}, 20},
		"paced users":    {v1beta1.Step{Users: ptr(int32(3)), RatePerUser: decimal("4"), Duration: minute}, 12},
		"users":          {v1beta1.Step{Users: ptr(int32(3)), Duration: minute}, 0},
		"a ramp of them": {v1beta1.Step{Users: ptr(int32(3)), RatePerUser: decimal("4"), RampTo: decimal("5"), Duration: minute}, 20},
	} {
		same.As(t, name+": most a second", tt.want, plan.MostPerSecond(&plan.Steps(withSteps(tt.step))[0].Load))
	}
}

// While a step runs, workers report the requests together that no threshold tells apart.
func TestRequestsAreReportedByGroups(t *testing.T) {
	requests := []v1beta1.Request{{Name: "a"}, {Name: "b"}, {Name: "c", HTTP: &v1beta1.HTTPRequest{Method: "POST"}}, {Name: "d", HTTP: &v1beta1.HTTPRequest{Method: "POST"}}}
	for name, tc := range map[string]struct {
		thresholds []v1beta1.Threshold
		want       []int32
	}{
		"no threshold":             {want: []int32{0, 0, 0, 0}},
		"of all":                   {[]v1beta1.Threshold{{}, {}}, []int32{0, 0, 0, 0}},
		"of one":                   {[]v1beta1.Threshold{{Requests: []string{"b"}}}, []int32{0, 1, 0, 0}},
		"of a type":                {[]v1beta1.Threshold{{Types: []string{"Write"}}}, []int32{0, 0, 1, 1}},
		"of one and of a type":     {[]v1beta1.Threshold{{Requests: []string{"b"}}, {Types: []string{"Write"}}}, []int32{0, 1, 2, 2}},
		"of one of a type":         {[]v1beta1.Threshold{{Requests: []string{"b", "c"}, Types: []string{"Write"}}}, []int32{0, 0, 1, 0}},
		"of journeys":              {[]v1beta1.Threshold{{Journeys: []string{"j"}}}, []int32{0, 0, 0, 0}},
		"each is told from others": {[]v1beta1.Threshold{{Requests: []string{"a", "c"}}, {Types: []string{"Write"}}}, nil},
	} {
		lt := &v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{Requests: requests, Thresholds: tc.thresholds}}
		lt.Status.Workers.Desired = 1
		same.As(t, name, tc.want, plan.Assignments(lt)[0].GetGroups())
	}
}
