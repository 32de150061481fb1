package plan

import (
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// share gives worker w of W the numbers w, w+W, w+2W, … below total. So the
// shares are disjoint, leave nothing out and differ by one at most; and since
// neighbours in time belong to different workers, each worker's part of a
// schedule is as even as the whole.
func share(total int64, worker, workers int32) *workerv1.Share {
	first, stride := int64(worker), int64(workers)
	return &workerv1.Share{
		First:  first,
		Stride: stride,
		Count:  divideUp(max(total-first, 0), stride),
	}
}

func divideUp(n, by int64) int64 {
	quotient := n / by
	if n%by > 0 {
		quotient++
	}
	return quotient
}

// Requests is how many of the requests that are planned in a step are one worker's;
// together they are load.Requests. known is false where that is not known beforehand.
func Requests(load *v1alpha1.StepLoad, worker, workers int32) (n int64, known bool) {
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
		if !ramp.isPlanned() {
			return 0, false
		}
		return ramp.requests(worker, workers), true
	}
	before := hits(rate, rate, optional(load.WarmUp))
	return turns(before+load.Requests, load.Users, worker, workers) - turns(before, load.Users, worker, workers), true
}

// turns is how many of the first n requests of users who take turns are those of one
// worker's users: request i is that of user i modulo their number.
func turns(n int64, users, worker, workers int32) int64 {
	rounds, rest := n/int64(users), n%int64(users)
	return rounds*share(int64(users), worker, workers).GetCount() + share(rest, worker, workers).GetCount()
}
