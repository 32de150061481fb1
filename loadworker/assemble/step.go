package assemble

import (
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
)

// stepOf is a step of an assignment as a Runner takes it.
func stepOf(s *workerv1.Step) attack.StepShare {
	return attack.StepShare{
		Index: s.GetIndex(),
		Share: shareOf(s.GetShare()),
		Total: s.GetTotal(),
		Load:  loadOf(s),

		WarmUp: time.Duration(s.GetWarmUpNanos()),
	}
}

// loadOf returns nil for a load that this worker does not know.
func loadOf(s *workerv1.Step) attack.Load {
	switch load := s.GetLoad().(type) {
	case *workerv1.Step_PacedUsers:
		return attack.PacedUsers{
			Rate:     pace.Rate(load.PacedUsers.GetTotalRateMicros()),
			Duration: time.Duration(load.PacedUsers.GetDurationNanos()),
		}
	case *workerv1.Step_ClosedUsers:
		return attack.ClosedUsers{Duration: time.Duration(load.ClosedUsers.GetDurationNanos())}
	case *workerv1.Step_Burst:
		return attack.Burst{
			Requests: int64(load.Burst.GetRequestsPerUser()),
			Limit:    time.Duration(load.Burst.GetLimitNanos()),
		}
	case *workerv1.Step_Arrivals:
		return attack.Arrivals{
			Rate:     pace.Rate(load.Arrivals.GetTotalRateMicros()),
			Duration: time.Duration(load.Arrivals.GetDurationNanos()),
			End:      pace.Rate(load.Arrivals.GetEndRateMicros()),
			Poisson:  load.Arrivals.GetPoisson(),
		}
	}
	return nil
}

func shareOf(s *workerv1.Share) pace.Share {
	return pace.Share{First: s.GetFirst(), Stride: s.GetStride(), Count: s.GetCount()}
}
