package verdict

import (
	"math/big"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// idealTime is the value of a latency as a perfect generator would have measured it; nil: as
// it was measured. A timeout that is excused counts as the shortest time there is, and so does
// what the generator withheld.
func (s sample) idealTime(u unmeasured) *big.Rat {
	h, ok := s.idealTimes()
	if !ok {
		return s.idealServiceTime(u)
	}
	h = s.withUnmeasured(h, u.endless+u.failed, u.unsent, u.withheld)
	if s.threshold.Of == v1beta1.LatencyOfExpected {
		return metric.Micros(s.metric.Times().Of(h)) // no timeout is among them
	}
	return metric.Micros(s.metric.Below(h, s.excused()))
}

// idealTimes are the times of a perfect generator; ok is false if they are not known: of
// service times of a schedule. Users without a rate send when they are free, so that their
// requests take the same from when they were due as from when they were sent.
func (s sample) idealTimes() (h *measure.Histogram, ok bool) {
	load := &s.step.Load
	if s.threshold.Time.IsOfStreams() {
		return s.idealEventTimes()
	}
	if s.threshold.Time == v1beta1.ServiceTime && (load.Arrives() || load.RatePerUser != nil || s.request.Ideal == nil) {
		return nil, false
	}
	if s.threshold.Of == v1beta1.LatencyOfExpected {
		return s.request.ExpectedIdeally()
	}
	return s.request.Ideally(), true
}

// idealServiceTime is a bound: a time is at most as much shorter as the longest for which a
// response lay unread.
func (s sample) idealServiceTime(u unmeasured) *big.Rat {
	h, _ := s.times()
	h = s.withUnmeasured(h, u.endless, u.unsent, u.withheld) // of service times, nothing is unsent
	return metric.Micros(max(0, s.metric.Below(h, s.request.Excused)-s.merged.ReadLateness.Max()))
}

// generatorsFailures is how many of the requests that failed may have done so by the generator's doing.
func (s sample) generatorsFailures() int64 {
	exhausted := s.merged.Health.DescriptorsExhausted + s.merged.Health.PortsExhausted
	return metric.GeneratorsFailures(s.request.Excused, exhausted, s.request.Outcomes[measure.Other])
}

// onTimeIdeally is how many requests would have been on time at most, had the generator been
// perfect: those whose timeout is excused, and those that it did not send, may have been.
func (s sample) onTimeIdeally() int64 {
	onTime := s.request.OnTime[s.within]
	if ideally := s.request.OnTimeIdeally(); s.within < len(ideally) {
		onTime = ideally[s.within]
	}
	return min(onTime+s.generatorsFailures()+s.unsentByGenerator(), s.request.Due-s.request.Denied())
}
