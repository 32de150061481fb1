package assemble

import (
	"fmt"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestStepOf(t *testing.T) {
	share := &workerv1.Share{First: 1, Stride: 4, Count: 25}
	tests := map[string]struct {
		in   *workerv1.Step
		want attack.Load
	}{
		"paced users": {
			&workerv1.Step{Load: &workerv1.Step_PacedUsers{PacedUsers: &workerv1.PacedUsers{TotalRateMicros: 5e6, DurationNanos: 6e9}}},
			attack.PacedUsers{Rate: 5e6, Duration: 6 * time.Second},
		},
		"closed users": {
			&workerv1.Step{Load: &workerv1.Step_ClosedUsers{ClosedUsers: &workerv1.ClosedUsers{DurationNanos: 6e9}}},
			attack.ClosedUsers{Duration: 6 * time.Second},
		},
		"a burst": {
			&workerv1.Step{Load: &workerv1.Step_Burst{Burst: &workerv1.Burst{RequestsPerUser: 7, LimitNanos: 6e9}}},
			attack.Burst{Requests: 7, Limit: 6 * time.Second},
		},
		"users who think": {
			&workerv1.Step{Load: &workerv1.Step_ClosedUsers{ClosedUsers: &workerv1.ClosedUsers{DurationNanos: 6e9, Think: &workerv1.Think{ShortestNanos: 1e9, LongestNanos: 3e9}}}},
			attack.ClosedUsers{Duration: 6 * time.Second, Think: pace.Think{Shortest: time.Second, Longest: 3 * time.Second}},
		},
		"a burst of users who think": {
			&workerv1.Step{Load: &workerv1.Step_Burst{Burst: &workerv1.Burst{RequestsPerUser: 7, LimitNanos: 6e9, Think: &workerv1.Think{ShortestNanos: 2e9, LongestNanos: 2e9}}}},
			attack.Burst{Requests: 7, Limit: 6 * time.Second, Think: pace.Think{Shortest: 2 * time.Second, Longest: 2 * time.Second}},
		},
		"a ramp of users": {
			&workerv1.Step{Load: &workerv1.Step_RampedUsers{RampedUsers: &workerv1.RampedUsers{From: 100, To: 10, DurationNanos: 6e9, RatePerUserMicros: 5e5, Think: &workerv1.Think{ShortestNanos: 1e9, LongestNanos: 3e9}}}},
			attack.RampedUsers{From: 100, To: 10, Duration: 6 * time.Second, Each: 5e5, Think: pace.Think{Shortest: time.Second, Longest: 3 * time.Second}},
		},
		"arrivals": {
			&workerv1.Step{Load: &workerv1.Step_Arrivals{Arrivals: &workerv1.Arrivals{TotalRateMicros: 5e6, DurationNanos: 6e9}}},
			attack.Arrivals{Rate: 5e6, Duration: 6 * time.Second},
		},
		"arrivals on a random ramp": {
			&workerv1.Step{Load: &workerv1.Step_Arrivals{Arrivals: &workerv1.Arrivals{TotalRateMicros: 5e6, DurationNanos: 6e9, EndRateMicros: 7e6, Poisson: true}}},
			attack.Arrivals{Rate: 5e6, Duration: 6 * time.Second, End: 7e6, Poisson: true},
		},
		"something new": {&workerv1.Step{}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.in.Index, tt.in.Share, tt.in.Total, tt.in.WarmUpNanos = 3, share, 100, 8e9
			want := attack.StepShare{Index: 3, Share: pace.Share{First: 1, Stride: 4, Count: 25}, Total: 100, Load: tt.want, WarmUp: 8 * time.Second}
			same.As(t, "stepOf", want, (&Assembly{}).stepOf(tt.in))
		})
	}
}

func TestStepsByIndex(t *testing.T) {
	x := &Assembly{steps: []attack.StepShare{{Index: 2}, {Index: 5}, {Index: 0}}} // in whatever order
	var got []string
	for _, i := range []int32{-1, 0, 1, 2, 5} {
		next, ok := x.StepAfter(i)
		got = append(got, fmt.Sprintf("%d: %d %v", i, next.Index, ok))
	}
	want := []string{"-1: 0 true", "0: 2 true", "1: 2 true", "2: 5 true", "5: 0 false"}
	same.As(t, "step after", want, got)
	if _, err := x.Step(1); err == nil || err.Error() != "step 1 is not in the assignment" {
		t.Errorf("Step(1) = %v, want an error", err)
	}
	if s, err := x.Step(2); err != nil || s.Index != 2 {
		t.Errorf("Step(2) = %v, %v", s, err)
	}
}
