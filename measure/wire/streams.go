package wire

import (
	"errors"
	"fmt"
	"slices"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

func (p *packing) fromStreams(s *measure.Streams) *workerv1.Streams {
	if s == nil {
		return nil
	}
	m := &workerv1.Streams{
		Events: s.Events, InWindow: s.InWindow, OnTime: slices.Clone(s.OnTime), IdealOnTime: slices.Clone(s.IdealOnTime),
		Tokened: s.Tokened, InputTokens: s.InputTokens, OutputTokens: s.OutputTokens,
	}
	for i := range s.Times {
		m.Times = append(m.Times, orEmpty(p.fromHistogram(s.Times[i])))
		m.Ideal = append(m.Ideal, orEmpty(p.fromIdeal(s.Ideal[i], s.Times[i])))
	}
	return m
}

// orEmpty is a histogram in a list, which nil cannot be in.
func orEmpty(h *workerv1.Histogram) *workerv1.Histogram {
	if h == nil {
		return &workerv1.Histogram{}
	}
	return h
}

// streams are those of a request, validated.
type streams struct {
	counts       measure.Streams // without times
	times, ideal [measure.NumStreamTimes]histogram
}

// readStreams validates the streams of a request; nil: it has none.
func readStreams(m *workerv1.Streams, of *measure.Request) (*streams, error) {
	if m == nil {
		return nil, nil
	}
	if len(m.GetTimes()) != measure.NumStreamTimes || len(m.GetIdeal()) != measure.NumStreamTimes {
		return nil, fmt.Errorf("%d times and %d ideal ones, there are %d", len(m.GetTimes()), len(m.GetIdeal()), measure.NumStreamTimes)
	}
	s := &streams{counts: measure.Streams{
		Events: m.GetEvents(), InWindow: m.GetInWindow(), OnTime: m.GetOnTime(), IdealOnTime: m.GetIdealOnTime(),
		Tokened: m.GetTokened(), InputTokens: m.GetInputTokens(), OutputTokens: m.GetOutputTokens(),
	}}
	c := &s.counts
	if err := errors.Join(
		count("events", c.Events), within("in_window", c.InWindow, "events", c.Events),
		checkOnTime("on_time", c.OnTime, of), checkOnTime("ideal_on_time", c.IdealOnTime, of),
		within("tokened", c.Tokened, "expected_in_window", of.ExpectedInWindow), checkTokens("input_tokens", c.InputTokens, c), checkTokens("output_tokens", c.OutputTokens, c),
	); err != nil {
		return nil, err
	}
	if len(c.OnTime) != len(c.IdealOnTime) {
		return nil, fmt.Errorf("on_time: of %d goals, ideal_on_time of %d", len(c.OnTime), len(c.IdealOnTime))
	}
	for i := range s.times {
		most := of.Sent
		if measure.StreamTime(i) == measure.BetweenEvents {
			most = c.Events
		}
		r := Reading{}
		if err := r.readHistogram(fmt.Sprintf("times[%d]", i), m.GetTimes()[i], most); err != nil {
			return nil, err
		}
		if err := r.readIdeal(fmt.Sprintf("ideal[%d]", i), m.GetIdeal()[i], 0); err != nil {
			return nil, err
		}
		s.times[i], s.ideal[i] = r.histograms[0], r.histograms[1]
	}
	return s, nil
}

// checkTokens validates how many tokens those responses had that said so.
func checkTokens(field string, n int64, of *measure.Streams) error {
	if of.Tokened < maxCount/measure.MaxTokens {
		return within(field, n, "2^30 for each that was tokened", of.Tokened*measure.MaxTokens)
	}
	return count(field, n)
}

// checkOnTime validates how many kept each goal.
func checkOnTime(field string, counts []int64, of *measure.Request) error {
	if len(counts) > measure.MaxStreamGoals {
		return fmt.Errorf("%s: %d goals, a plan has at most %d", field, len(counts), measure.MaxStreamGoals)
	}
	for i, n := range counts {
		if err := within(fmt.Sprintf("%s[%d]", field, i), n, "successes", of.Successes()); err != nil {
			return err
		}
	}
	return nil
}

// mergeStreams adds up the streams of a request of those readings; nil: it has none.
func mergeStreams(request int, readings []*Reading, times *timeSum) *measure.Streams {
	var sum *measure.Streams
	histogramOf := func(of func(*streams) histogram) *measure.Histogram {
		for _, r := range readings {
			if s := r.streams[request]; s != nil {
				times.add(of(s))
			}
		}
		return times.take()
	}
	for _, r := range readings {
		s := r.streams[request]
		if s == nil {
			continue
		}
		if sum == nil {
			sum = &measure.Streams{}
		}
		sum.AddCounts(&s.counts)
	}
	if sum == nil {
		return nil
	}
	for i := range sum.Times {
		own := false
		for _, r := range readings {
			own = own || r.streams[request] != nil && r.streams[request].ideal[i].isOwn()
		}
		sum.Times[i] = histogramOf(func(s *streams) histogram { return s.times[i] })
		if own {
			sum.Ideal[i] = histogramOf(func(s *streams) histogram { return s.ideal[i] })
		}
	}
	return sum
}

// size is about how many bytes they take.
func (s *streams) size() (n int) {
	if s == nil {
		return 0
	}
	for i := range s.times {
		n += s.times[i].size()
		if !s.ideal[i].borrowed {
			n += s.ideal[i].size()
		}
	}
	return n
}
