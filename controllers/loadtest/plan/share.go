package plan

import (
	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// share gives worker w of W the numbers w, w+W, w+2W, … below total. So the
// shares are disjoint, leave nothing out and differ by one at most; and since
// neighbours in time belong to different workers, each worker's part of a
// schedule is as even as the whole.
func share(total int64, worker, workers int32) *workerv1.Share {
	s := pace.Share{First: int64(worker), Stride: int64(workers)}.Of(total)
	return &workerv1.Share{First: s.First, Stride: s.Stride, Count: s.Count}
}

// Due is how many requests, or sessions of a rate, are planned in a step, and which of them. It is 0
// where their number is not known beforehand.
func Due(load *v1beta1.StepLoad) (n int64, what string) {
	if load.Sessions != nil {
		return *load.Sessions, "sessions"
	}
	return load.Requests, "requests"
}

// DueOn is how many of them are one worker's; known is false where that is not known beforehand.
func DueOn(load *v1beta1.StepLoad, worker, workers int32) (n int64, known bool) {
	if load.Sessions != nil {
		return share(*load.Sessions, worker, workers).GetCount(), *load.Sessions > 0
	}
	return Requests(load, worker, workers)
}

// Requests is how many of the requests that are planned in a step are one worker's;
// together they are load.Requests. known is false where that is not known beforehand.
func Requests(load *v1beta1.StepLoad, worker, workers int32) (n int64, known bool) {
	rate := totalRate(load)
	switch {
	case load.Requests == 0:
		return 0, false
	case load.Rate != nil:
		return share(load.Requests, worker, workers).GetCount(), true
	case load.IsBurst():
		return share(int64(load.Users), worker, workers).GetCount() * int64(load.RequestsPerUser), true
	case load.Users < 1 || rate > MaxRateMicros: // not planned by any operator
		return 0, false
	}
	if load.RampTo != nil {
		ramp := rampOf(load)
		if !isPlanned(ramp) {
			return 0, false
		}
		return rampRequests(ramp, worker, workers), true
	}
	s := share(int64(load.Users), worker, workers)
	users := pace.Users{
		Rate: pace.Rate(rate), Share: pace.Share{First: s.GetFirst(), Stride: s.GetStride(), Count: s.GetCount()},
		Total: int64(load.Users), WarmUp: v1beta1.OrZero(load.WarmUp),
	}
	return users.Before(v1beta1.OrZero(load.Duration)) - users.Before(0), true
}
