package plan

import (
	"math"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// setSessions makes the rate of a load one of sessions, if the mix has journeys: how many requests these
// send follows from the responses.
func setSessions(spec *v1beta1.LoadTestSpec, l *v1beta1.StepLoad) {
	if len(spec.Journeys) == 0 || l.Rate == nil {
		return
	}
	sessions := l.Requests
	l.Sessions, l.Requests = &sessions, 0
}

// RequestsOfASession is the most requests that one session sends.
func RequestsOfASession(spec *v1beta1.LoadTestSpec) int64 {
	most := int64(1)
	for i := range spec.Journeys {
		n := int64(0)
		for k := range spec.Journeys[i].Steps {
			n += spec.Journeys[i].Steps[k].MostTimes() // also of a step with if, which may be carried out
		}
		most = max(most, n)
	}
	return most
}

// mostRate is in millionths of a request per second, where a load asks for most; 0: it has no schedule.
// All sessions may be of the journey that has most requests.
func mostRate(spec *v1beta1.LoadTestSpec, l *v1beta1.StepLoad) int64 {
	rate := max(totalRate(l), lastRate(l))
	if each := RequestsOfASession(spec); l.Sessions != nil {
		if rate > math.MaxInt64/each {
			return math.MaxInt64
		}
		rate *= each
	}
	return rate
}

// sessionsAtOnce is how many sessions wait between their requests at a time, at most: so many come while
// one of them waits, or in the whole step. Each has a connection.
func sessionsAtOnce(spec *v1beta1.LoadTestSpec, l *v1beta1.StepLoad) int64 {
	if l.Sessions == nil {
		return 0
	}
	while := min(longestWaits(spec), v1beta1.OrZero(l.WarmUp)+v1beta1.OrZero(l.Duration))
	return int64(math.Ceil(float64(max(totalRate(l), lastRate(l))) / micro * float64(while) / float64(time.Second)))
}
