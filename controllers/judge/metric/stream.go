package metric

import (
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// StreamTime is a time of streams.
type StreamTime struct {
	Name v1beta1.LatencyTime
	// Words are what sentences call it.
	Words string
	// Title is what the heads of tables call it.
	Title string
	// Measured is which of the times of a measurement it is.
	Measured measure.StreamTime
	// Field is where a result has it.
	Field func(*v1beta1.StreamsResult) **v1beta1.EventTimes
}

var streamTimes = []StreamTime{
	{v1beta1.FirstEventTime, "time to the first event", "First event", measure.FirstEvent, func(s *v1beta1.StreamsResult) **v1beta1.EventTimes { return &s.FirstEvent }},
	{v1beta1.BetweenEventsTime, "time between events", "Between events", measure.BetweenEvents, func(s *v1beta1.StreamsResult) **v1beta1.EventTimes { return &s.BetweenEvents }},
	{v1beta1.LongestGapTime, "longest time between events", "Longest gap", measure.LongestGap, func(s *v1beta1.StreamsResult) **v1beta1.EventTimes { return &s.LongestGap }},
	{v1beta1.MeanGapTime, "mean time between events", "Mean gap", measure.MeanGap, func(s *v1beta1.StreamsResult) **v1beta1.EventTimes { return &s.MeanGap }},
}

// StreamTimes are the times of streams, in the order in which they are read.
func StreamTimes() []StreamTime { return slices.Clone(streamTimes) }

// StreamTimeOf is the time of streams of that name; ok is false of any other time.
func StreamTimeOf(name v1beta1.LatencyTime) (t StreamTime, ok bool) {
	i := slices.IndexFunc(streamTimes, func(t StreamTime) bool { return t.Name == name })
	if i < 0 {
		return StreamTime{}, false
	}
	return streamTimes[i], true
}
