package plan_test

import (
	"fmt"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
)

// The plan and the workers compute the requests of a ramp by themselves: they must be the
// same, for each worker.
func TestRequestsOfARampAreThoseOfTheWorkers(t *testing.T) {
	property := func(from, to, workers uint8, rate, millis, warmUp uint16) bool {
		users, last, each := int32(from)+1, int32(to)+1, pace.Rate(rate)*1000+1
		load := plan.Steps(withSteps(v1alpha1.Step{
			Users: &users, RampTo: decimal(fmt.Sprint(last)), RatePerUser: decimal(fmt.Sprintf("%d.%06d", each/1e6, each%1e6)),
			Duration: duration(time.Duration(millis)*time.Millisecond + time.Second), WarmUp: duration(time.Duration(warmUp) * time.Microsecond),
		}))[0].Load
		sent := pace.RampedUsers{
			Ramp: pace.UserRamp{From: int64(users), To: int64(last), Length: load.Duration.Duration},
			Each: each, WarmUp: time.Duration(warmUp) * time.Microsecond,
		}
		total, n := int64(0), int32(workers%9)+1
		for w := range n {
			want := int64(0)
			for user := int64(w); user < sent.Ramp.Most(); user += int64(n) {
				want += sent.Before(user, sent.Ramp.Length) - sent.Before(user, 0)
			}
			if got, known := plan.Requests(&load, w, n); known && got != want {
				return false
			}
			total += want
		}
		return total == load.Requests
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestAssignmentOfARampOfUsers(t *testing.T) {
	step := v1alpha1.Step{Users: ptr(int32(7)), RampTo: decimal("3"), Think: "1s-3s", Duration: duration(20 * time.Second), WarmUp: duration(time.Second)}
	s := withSteps(step)
	s.Parallelism = ptr(int32(2))
	want := &workerv1.Step{
		Total: 7, Share: &workerv1.Share{First: 1, Stride: 2, Count: 3}, WarmUpNanos: 1_000_000_000, RemainingNanos: 111_000_000_000,
		Load: &workerv1.Step_RampedUsers{RampedUsers: &workerv1.RampedUsers{
			From: 7, To: 3, DurationNanos: 20_000_000_000, Think: &workerv1.Think{ShortestNanos: 1_000_000_000, LongestNanos: 3_000_000_000},
		}},
	}
	if diff := cmp.Diff(want, assignments(t, s)[1].GetSteps()[0], protocmp.Transform()); diff != "" {
		t.Errorf("step of worker 1 (-want +got):\n%s", diff)
	}
	s.Steps[0].Think, s.Steps[0].RatePerUser = "", decimal("0.5")
	if got := assignments(t, s)[1].GetSteps()[0].GetRampedUsers(); got.GetRatePerUserMicros() != 500_000 || got.GetThink() != nil {
		t.Errorf("a ramp with a rate is assigned as %v", got)
	}
}
