package harness_test

import (
	"fmt"
	"testing"
	"testing/quick"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// due is how many requests a worker finds due in the window of its share of a step.
func due(s *workerv1.Step) int64 {
	share := pace.Share{First: s.GetShare().GetFirst(), Stride: s.GetShare().GetStride(), Count: s.GetShare().GetCount()}
	switch {
	case s.GetBurst() != nil:
		return share.Count * int64(s.GetBurst().GetRequestsPerUser())
	case s.GetPacedUsers() != nil:
		l := s.GetPacedUsers()
		turns := pace.Users{Rate: pace.Rate(l.GetTotalRateMicros()), Share: share, Total: s.GetTotal(), WarmUp: time.Duration(s.GetWarmUpNanos())}
		return turns.Before(time.Duration(l.GetDurationNanos())) - turns.Before(0)
	}
	l := s.GetArrivals()
	length, rate := time.Duration(l.GetDurationNanos()), pace.Rate(l.GetTotalRateMicros())
	if l.GetEndRateMicros() == 0 {
		return pace.Arrivals{All: rate, Share: share}.Before(length)
	}
	ramp := pace.Ramp{From: rate, To: pace.Rate(l.GetEndRateMicros()), Length: length}
	return pace.Arrivals{All: ramp, Share: share}.Before(length)
}

// The operator compares what was due with its plan, to the request. Both compute it,
// each by its own formulas.
func TestWorkersFindDueWhatIsPlanned(t *testing.T) {
	property := func(users, each uint8, rate, to uint32, nanos uint32, warmUp uint16, workers uint8) bool {
		perSecond := func(n uint32) string { return fmt.Sprintf("%d.%06d", n%1000, n%1_000_000+1) }
		length := time.Second + time.Duration(nanos)
		turns, arrivals := harness.PacedUsers(int32(users%60)+1, perSecond(rate), length), harness.Arrivals(perSecond(rate), length)
		warm := turns
		warm.WarmUp = harness.Lasting(time.Duration(warmUp) * time.Millisecond)
		ramp, end := arrivals, v1beta1.NewDecimal(perSecond(to))
		ramp.RampTo = &end
		lt := &v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{
			Target:      v1beta1.Target{URL: "http://127.0.0.1:1"},
			Requests:    []v1beta1.Request{{Name: "home", HTTP: &v1beta1.HTTPRequest{}}},
			Steps:       []v1beta1.Step{turns, warm, arrivals, ramp, harness.Burst(int32(users%60)+1, int32(each%9)+1)},
			Parallelism: new(int32),
		}}
		*lt.Spec.Parallelism = int32(workers%9) + 1
		assignments, err := harness.Plan(lt)
		must.Succeed(t, err)
		for i := range lt.Status.Steps {
			load, sum := &lt.Status.Steps[i].Load, int64(0)
			for w, a := range assignments {
				n := due(a.GetSteps()[i])
				if planned, known := plan.Requests(load, int32(w), int32(len(assignments))); known && planned != n {
					t.Errorf("step %s: worker %d of %d finds %d due, %d are planned", lt.Status.Steps[i].Name, w, len(assignments), n, planned)
				}
				sum += n
			}
			if sum != load.Requests {
				t.Errorf("step %s: %d are due on all workers, %d are planned", lt.Status.Steps[i].Name, sum, load.Requests)
				return false
			}
		}
		return true
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}
