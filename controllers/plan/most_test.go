package plan_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
)

func TestMostRequestsOfAStep(t *testing.T) {
	minute := duration(time.Minute)
	poisson := func(rate string, rampTo *v1alpha1.Decimal) v1alpha1.Step {
		return v1alpha1.Step{Rate: decimal(rate), RampTo: rampTo, Arrivals: v1alpha1.ArrivalsPoisson, Duration: minute}
	}
	for name, tt := range map[string]struct {
		step v1alpha1.Step
		want int64
	}{
		"even arrivals":   {v1alpha1.Step{Rate: decimal("5"), Duration: minute}, 300},
		"a burst":         {v1alpha1.Step{Users: ptr(int32(3)), RequestsPerUser: ptr(int32(4))}, 12},
		"users":           {v1alpha1.Step{Users: ptr(int32(3)), Duration: minute}, 0},
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
	s := withSteps(v1alpha1.Step{Users: ptr(int32(1)), Duration: duration(time.Second)})
	for _, within := range []time.Duration{time.Second, 0, 100 * time.Millisecond, time.Second} {
		threshold := v1alpha1.Threshold{Metric: "p95"}
		if within > 0 {
			threshold = v1alpha1.Threshold{Metric: "onTime", Within: duration(within)}
		}
		s.Thresholds = append(s.Thresholds, threshold)
	}
	lt := loadTest(s)
	lt.Status.Workers.Desired = 1
	if diff := cmp.Diff([]int64{100_000_000, 1_000_000_000}, plan.Assignments(lt)[0].GetOnTimeNanos()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
