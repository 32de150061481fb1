package plan

import (
	"math/bits"
	"strconv"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// maxUsers bounds the users of a step, as the API does.
const maxUsers = 1_000_000

// userRamp is a number of users that goes linearly from one number to another. User u takes
// part while the line is above u + 1/2, and sends at a rate each, with an offset of its
// own. Package pace, which the workers have it from, says why.
type userRamp struct {
	from, to       int64
	each           int64 // in millionths of a request per second
	warmUp, length time.Duration
}

func rampOf(l *v1alpha1.StepLoad) userRamp {
	return userRamp{
		from: int64(l.Users), to: int64(l.LastUsers()), each: micros(l.RatePerUser),
		warmUp: optional(l.WarmUp), length: optional(l.Duration),
	}
}

// isPlanned says whether the number of requests is known: the users have a rate, and both
// are within the bounds of the API.
func (r userRamp) isPlanned() bool {
	return min(r.from, r.to) >= 1 && max(r.from, r.to) <= maxUsers && r.each >= 1 && r.each <= MaxRateMicros
}

// requests is how many requests of one worker's users are due in the duration.
func (r userRamp) requests(worker, workers int32) (n int64) {
	for user := int64(worker); user < max(r.from, r.to); user += int64(workers) {
		n += r.requestsOf(user)
	}
	return n
}

// requestsOf is how many requests of a user are due in the duration.
func (r userRamp) requestsOf(user int64) int64 {
	begin, end := r.span(user)
	first := r.slots(user, begin)
	return max(0, r.slots(user, end)-first)
}

// span is the part of the duration in which a user takes part.
func (r userRamp) span(user int64) (begin, end time.Duration) {
	begin, end = 0, r.length
	switch {
	case user >= r.from:
		begin = portion(r.length, 2*(user-r.from)+1, 2*(r.to-r.from))
	case user >= r.to:
		end = portion(r.length, 2*(r.from-user)-1, 2*(r.from-r.to))
	}
	return begin, end
}

// slots is how many times at which a user's requests would be due are before t.
func (r userRamp) slots(user int64, t time.Duration) int64 {
	const golden = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio
	const parts = 1_000_000_000_000_000
	offset, _ := bits.Mul64(uint64(user)*golden, uint64(parts/r.each))
	return hits(r.each, r.each, t+r.warmUp-time.Duration(offset))
}

// portion is so many parts of a time, rounded down; n is at most of.
func portion(d time.Duration, n, of int64) time.Duration {
	hi, lo := bits.Mul64(uint64(d), uint64(n))
	quotient, _ := bits.Div64(hi, lo, uint64(of))
	return time.Duration(quotient)
}

// rampedUsers is a ramp of users as workers take it.
func rampedUsers(l *v1alpha1.StepLoad) *workerv1.RampedUsers {
	r := rampOf(l)
	return &workerv1.RampedUsers{
		From: r.from, To: r.to, DurationNanos: int64(r.length),
		RatePerUserMicros: r.each, Think: think(l.Think),
	}
}

// checkUserRamps refuses a number of users at the end that is none.
func checkUserRamps(spec *v1alpha1.LoadTestSpec) *Refusal {
	for i := range spec.Steps {
		s := &spec.Steps[i]
		if s.Users == nil || s.RampTo == nil {
			continue
		}
		if s.RequestsPerUser != nil {
			return invalid("spec.steps[%d].rampTo: must not be set with requestsPerUser, whose users begin together.", i)
		}
		if n, err := strconv.Atoi(s.RampTo.String()); err != nil || n < 1 || n > maxUsers {
			return invalid("spec.steps[%d].rampTo: must be a whole number of users from 1 to %d.", i, maxUsers)
		}
	}
	return nil
}
