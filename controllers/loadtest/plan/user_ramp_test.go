package plan_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/testing/protocmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestAssignmentOfARampOfUsers(t *testing.T) {
	step := v1beta1.Step{Users: ptr(int32(7)), RampTo: decimal("3"), Think: v1beta1.NewThink(time.Second, 3*time.Second), Duration: duration(20 * time.Second), WarmUp: duration(time.Second)}
	s := withSteps(step)
	s.Parallelism = ptr(int32(2))
	want := &workerv1.Step{
		Total: 7, Share: &workerv1.Share{First: 1, Stride: 2, Count: 3}, WarmUpNanos: 1_000_000_000, RemainingNanos: 111_000_000_000,
		Load: &workerv1.Step_RampedUsers{RampedUsers: &workerv1.RampedUsers{
			From: 7, To: 3, DurationNanos: 20_000_000_000, Think: &workerv1.Think{ShortestNanos: 1_000_000_000, LongestNanos: 3_000_000_000},
		}},
	}
	same.As(t, "step of worker 1", want, assignments(t, s)[1].GetSteps()[0], protocmp.Transform())
	s.Steps[0].Think, s.Steps[0].RatePerUser = nil, decimal("0.5")
	if got := assignments(t, s)[1].GetSteps()[0].GetRampedUsers(); got.GetRatePerUserMicros() != 500_000 || got.GetThink() != nil {
		t.Errorf("a ramp with a rate is assigned as %v", got)
	}
}
