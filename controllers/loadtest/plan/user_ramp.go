package plan

import (
	"strconv"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// maxUsers bounds the users of a step, as the API does.
const maxUsers = 1_000_000

func rampOf(l *v1beta1.StepLoad) pace.RampedUsers {
	return pace.RampedUsers{
		Ramp: pace.UserRamp{From: int64(l.Users), To: int64(l.LastUsers()), Length: v1beta1.OrZero(l.Duration)},
		Each: pace.Rate(micros(l.RatePerUser)), WarmUp: v1beta1.OrZero(l.WarmUp),
	}
}

// isPlanned says whether the number of requests is known: the users have a rate, and both
// are within the bounds of the API.
func isPlanned(u pace.RampedUsers) bool {
	return min(u.Ramp.From, u.Ramp.To) >= 1 && u.Ramp.Most() <= maxUsers && u.Each >= 1 && u.Each <= MaxRateMicros
}

// rampRequests is how many requests of one worker's users are due in the duration.
func rampRequests(u pace.RampedUsers, worker, workers int32) (n int64) {
	for user := int64(worker); user < u.Ramp.Most(); user += int64(workers) {
		n += u.InWindow(user)
	}
	return n
}

// rampedUsers is a ramp of users as workers take it.
func rampedUsers(l *v1beta1.StepLoad) *workerv1.RampedUsers {
	u := rampOf(l)
	return &workerv1.RampedUsers{
		From: u.Ramp.From, To: u.Ramp.To, DurationNanos: int64(u.Ramp.Length),
		RatePerUserMicros: int64(u.Each), Think: think(l.Think),
	}
}

// checkUserRamps refuses a number of users at the end that is none.
func checkUserRamps(spec *v1beta1.LoadTestSpec) *Refusal {
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
