package measure

import (
	"errors"
	"time"
)

// StreamTime is one of the times that streams have.
type StreamTime uint8

const (
	// FirstEvent is from when a request was due to the first event of its response. One that ended by a
	// timeout before its first event has waited as long for it.
	FirstEvent StreamTime = iota
	// BetweenEvents is each time between two events.
	BetweenEvents
	// LongestGap is the longest time between two events, of each stream that ended and had two. The wait
	// for an event that did not come before the stream was given up is one of them.
	LongestGap
	// MeanGap is the mean time between two events, of each stream that ended and had two; of one that says
	// how many tokens it had, between two of those.
	MeanGap

	// NumStreamTimes is how many there are.
	NumStreamTimes = int(MeanGap) + 1
)

// Streams are the events of the responses to a request that come in parts.
type Streams struct {
	// Events is how many came, and InWindow how many of them within the window.
	Events, InWindow int64
	// Times are as the worker read the events. None is nil.
	Times [NumStreamTimes]*Histogram
	// Ideal are the same times as a perfect generator would have measured them. nil: as Times.
	Ideal [NumStreamTimes]*Histogram
	// Tokened is how many of the successes in the window said how many tokens they had, and InputTokens and
	// OutputTokens how many those were together: of a language model.
	Tokened, InputTokens, OutputTokens int64
	// OnTime is how many of the successes kept each goal of the plan, and IdealOnTime how many would have
	// with a perfect generator.
	OnTime, IdealOnTime []int64
}

// MaxTokens is the most tokens that one response may say that it had.
const MaxTokens = 1 << 30

// MaxStreamGoals is the most goals that a plan may have.
const MaxStreamGoals = 32

// StreamGoal is what a stream keeps that is on time: none of its times is longer. 0 is no bound.
type StreamGoal struct {
	// Within bounds its response time.
	Within time.Duration
	// FirstEvent and MeanGap bound those times.
	FirstEvent, MeanGap time.Duration
}

// Kept says whether a stream of these times keeps the goal.
func (g StreamGoal) Kept(response, firstEvent, meanGap time.Duration) bool {
	within := func(d, bound time.Duration) bool { return bound == 0 || d <= bound }
	return within(response, g.Within) && within(firstEvent, g.FirstEvent) && within(meanGap, g.MeanGap)
}

// NewStreams returns those of no response.
func NewStreams() *Streams {
	s := &Streams{}
	for i := range s.Times {
		s.Times[i] = NewHistogram()
	}
	return s
}

// Record counts a time, and what a perfect generator would have measured.
func (s *Streams) Record(t StreamTime, measured, ideal time.Duration) {
	s.Times[t].Record(measured)
	if s.Ideal[t] == nil {
		s.Ideal[t] = NewHistogram()
	}
	s.Ideal[t].Record(ideal)
}

// Ideally are the times that a perfect generator would have measured.
func (s *Streams) Ideally(t StreamTime) *Histogram { return orElse(s.Ideal[t], s.Times[t]) }

// AddCounts adds what is counted, without the times.
func (s *Streams) AddCounts(o *Streams) {
	s.Events += o.Events
	s.InWindow += o.InWindow
	s.Tokened += o.Tokened
	s.InputTokens += o.InputTokens
	s.OutputTokens += o.OutputTokens
	s.OnTime, s.IdealOnTime = addAll(s.OnTime, o.OnTime), addAll(s.IdealOnTime, o.IdealOnTime)
}

// AddStreams adds streams to those of a request; nil are none.
func (r *Request) AddStreams(o *Streams) error { return mergeStreams(&r.Streams, o) }

// mergeStreams adds streams to a sum; nil are none.
func mergeStreams(sum **Streams, o *Streams) error {
	if o == nil {
		return nil
	}
	if *sum == nil {
		*sum = NewStreams()
	}
	s := *sum
	s.AddCounts(o)
	var err error
	for i := range s.Times {
		err = errors.Join(err, mergeIdeal(&s.Ideal[i], s.Times[i], o.Ideal[i], o.Times[i]), s.Times[i].Merge(o.Times[i]))
	}
	return err
}
