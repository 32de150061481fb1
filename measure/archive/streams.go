package archive

import (
	"errors"
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Streams are the events of the responses to a request that come in parts.
type Streams struct {
	// Events is how many came, and InWindow how many of them within the step's window.
	Events   int64 `json:"events"`
	InWindow int64 `json:"inWindow"`
	// Tokened is how many of the successes said how many tokens they had, and InputTokens and OutputTokens how many
	// those were together.
	Tokened      int64 `json:"tokened,omitempty"`
	InputTokens  int64 `json:"inputTokens,omitempty"`
	OutputTokens int64 `json:"outputTokens,omitempty"`
	// FirstEvent is from when a request was due to its first event, BetweenEvents each time between two
	// events, and LongestGap and MeanGap the longest and the mean of these of each stream. Each is absent
	// if there was none, or if it is omitted.
	FirstEvent    *Histogram `json:"firstEvent,omitempty"`
	BetweenEvents *Histogram `json:"betweenEvents,omitempty"`
	LongestGap    *Histogram `json:"longestGap,omitempty"`
	MeanGap       *Histogram `json:"meanGap,omitempty"`
}

// NewStreams is nil for nil.
func NewStreams(s *measure.Streams) (*Streams, error) {
	if s == nil {
		return nil, nil
	}
	to := &Streams{Events: s.Events, InWindow: s.InWindow, Tokened: s.Tokened, InputTokens: s.InputTokens, OutputTokens: s.OutputTokens}
	var err error
	for t, h := range to.times() {
		var failed error
		*h, failed = NewHistogram(s.Times[t])
		err = errors.Join(err, failed)
	}
	return to, err
}

func (s *Streams) times() [measure.NumStreamTimes]**Histogram {
	return [measure.NumStreamTimes]**Histogram{
		measure.FirstEvent: &s.FirstEvent, measure.BetweenEvents: &s.BetweenEvents, measure.LongestGap: &s.LongestGap, measure.MeanGap: &s.MeanGap,
	}
}

// withoutTimes has the counts alone.
func (s *Streams) withoutTimes() *Streams {
	if s == nil {
		return nil
	}
	return &Streams{Events: s.Events, InWindow: s.InWindow, Tokened: s.Tokened, InputTokens: s.InputTokens, OutputTokens: s.OutputTokens}
}

func (s *Streams) check() error {
	if s == nil {
		return nil
	}
	if s.InWindow < 0 || s.InWindow > s.Events {
		return fmt.Errorf("streams: %d events in the window, of %d", s.InWindow, s.Events)
	}
	if s.Tokened < 0 || s.InputTokens < 0 || s.OutputTokens < 0 {
		return errors.New("streams: a number of tokens is negative")
	}
	for t, h := range s.times() {
		if _, err := (*h).Decode(); err != nil {
			return fmt.Errorf("streams, time %d: %w", t, err)
		}
	}
	return nil
}
