package plan

import (
	"math"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// MostRequests is the most requests that may be due in a step; known is false for users
// without a rate, who send as many as the target answers, and for sessions.
//
// The number of Poisson arrivals is drawn: its mean is that of an even schedule, m, and
// its standard deviation the root of m. Fewer than one step in a billion has more than
// m + 6·√m + 10.
func MostRequests(load *v1beta1.StepLoad) (n int64, known bool) {
	switch {
	case load.Requests > 0:
		return load.Requests, true
	case load.Rate == nil, load.Sessions != nil:
		return 0, false
	}
	return mostArrivals(load), true
}

// MostSessions is the most sessions that may be due in a step, as MostRequests; 0 of other loads.
func MostSessions(load *v1beta1.StepLoad) int64 {
	switch {
	case load.Sessions == nil:
		return 0
	case *load.Sessions > 0:
		return *load.Sessions
	}
	return mostArrivals(load)
}

// mostArrivals is of arrivals that are drawn.
func mostArrivals(load *v1beta1.StepLoad) int64 {
	from, to := micros(load.Rate), micros(load.Rate)
	if load.RampTo != nil {
		to = micros(load.RampTo)
	}
	mean := hits(from, to, v1beta1.OrZero(load.Duration))
	return mean + int64(math.Ceil(6*math.Sqrt(float64(mean)))) + 10
}

// MostPerSecond is how many requests are due in a second of a step when it asks for most; 0:
// it has no schedule of requests.
func MostPerSecond(load *v1beta1.StepLoad) float64 {
	if load.Sessions != nil {
		return 0
	}
	return float64(max(totalRate(load), lastRate(load))) / micro
}
