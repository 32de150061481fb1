package attack

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// script is what a server does after its header: it waits, or writes an event, one after another.
type script []any

const reset = "reset"

// streaming is a server that streams by the script of the path.
func streaming(scripts map[string]script) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, what := range scripts[strings.TrimPrefix(r.URL.Path, "/")] {
			switch what := what.(type) {
			case time.Duration:
				select {
				case <-time.After(what):
				case <-r.Context().Done():
				}
			case int:
				w.WriteHeader(what)
			case string:
				if what == reset {
					panic(http.ErrAbortHandler)
				}
				_, _ = fmt.Fprintf(w, "data: %s\n\n", what)
				_ = http.NewResponseController(w).Flush()
			}
		}
	}
}

// of is a request for a stream.
func of(path string, s transport.Stream) source.Request {
	r := get("/" + path)
	r.Stream = &s
	return r
}

// timesOf are the values of a histogram, ascending, to three digits.
func timesOf(h *measure.Histogram) (out []time.Duration) {
	for slot, n := range h.Counts() {
		if n == 0 {
			continue
		}
		one := make([]int64, measure.Slots)
		one[slot] = 1
		d := measure.HistogramOf(one, 0).Max()
		unit := time.Microsecond
		for unit*1000 <= d {
			unit *= 10
		}
		for range n {
			out = append(out, d.Round(unit))
		}
	}
	return out
}

// eachStream sends one request of each stream, and returns what was measured of it.
func (d testDriver) eachStream(t *testing.T, requests []source.Request, scripts map[string]script) []measure.Request {
	t.Helper()
	o := d.oracle(t, streaming(scripts))
	r := d.runner(t, setup{url: o.URL, requests: requests, timeout: 10 * time.Second})
	n := int64(len(requests))
	m := drive(t, r, arrivalsStep(pace.Rate(n*1e6), time.Second))
	if got := total(t, m).Sent; got != n {
		t.Fatalf("%d of %d were sent", got, n)
	}
	return m.Requests
}

func TestTimesOfEventsAreExact(t *testing.T) {
	const first, gap = 200 * ms, 20 * ms
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		got := d.eachStream(t, []source.Request{
			of("whole", transport.Stream{Until: "[DONE]"}),
			of("paused", transport.Stream{}),
			of("slow", transport.Stream{}),
		}, map[string]script{
			"whole":  {first, "a", gap, "b", gap, "c", gap, "[DONE]"},
			"paused": {first, "a", 2 * time.Second, "b", gap, "c"},
			"slow":   {12 * time.Second, "a"},
		})
		for i, want := range []struct {
			outcome measure.Outcome
			events  int64
			times   [measure.NumStreamTimes][]time.Duration
		}{
			{measure.Success, 4, [...][]time.Duration{{first}, {gap, gap, gap}, {gap}, {gap}}},
			{measure.Success, 3, [...][]time.Duration{{first}, {gap, 2 * time.Second}, {2 * time.Second}, {1010 * ms}}},
			{measure.Timeout, 0, [...][]time.Duration{{10 * time.Second}, nil, nil, nil}}, // it has waited so long
		} {
			q := &got[i]
			same.As(t, "outcomes", map[string]int64{want.outcome.String(): 1}, outcomes(*q))
			if q.Streams == nil {
				t.Fatalf("request %d has no stream", i)
			}
			same.As(t, "events", want.events, q.Streams.Events)
			for at := range want.times {
				measured, ideal := q.Streams.Times[at], q.Streams.Ideally(measure.StreamTime(at))
				same.As(t, fmt.Sprintf("times %d of request %d", at, i), want.times[at], timesOf(measured))
				same.As(t, fmt.Sprintf("ideal times %d of request %d", at, i), want.times[at], timesOf(ideal))
			}
		}
	})
}

func TestEachEndOfAStreamHasItsOutcome(t *testing.T) {
	const gap = 20 * time.Millisecond
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		stall := transport.Stream{Until: "[DONE]", Stall: time.Second}
		requests := []source.Request{
			of("stalls", stall), of("nearly", stall), of("breaks", stall), of("early", stall), of("endless", stall),
			of("empty", transport.Stream{}), of("refused", stall), of("none", stall),
		}
		got := d.eachStream(t, requests, map[string]script{
			"stalls":  {gap, "a", gap, "b", 1100 * time.Millisecond, "[DONE]"},
			"nearly":  {gap, "a", gap, "b", 990 * time.Millisecond, "[DONE]"},
			"breaks":  {gap, "a", gap, reset},
			"early":   {gap, "a", gap, "b"},
			"endless": {gap, "a", gap, "[DONE]", time.Hour},
			"empty":   {gap},
			"refused": {503, "a"},
			"none":    {gap, reset},
		})
		for i, want := range []measure.Outcome{
			measure.Stalled, measure.Success, measure.BrokenOff, measure.EndedEarly, measure.Success, measure.EndedEarly, measure.ServerError, measure.Reset,
		} {
			same.As(t, requests[i].Name, map[string]int64{want.String(): 1}, outcomes(got[i]))
		}
		same.As(t, "longest gap of the one that stalled", []time.Duration{time.Second}, timesOf(got[0].Streams.Times[measure.LongestGap]))
		same.As(t, "longest gap of the one that nearly did", []time.Duration{990 * time.Millisecond}, timesOf(got[1].Streams.Times[measure.LongestGap]))
		// The client did not wait for the end of the response: the last event was its end.
		same.As(t, "response time of the endless one", []time.Duration{2 * gap}, timesOf(got[4].Response))
		for i, q := range got[:5] {
			if q.Streams == nil {
				t.Fatalf("request %d has no stream", i)
			}
		}
		if got[6].Streams != nil && got[6].Streams.Events > 0 {
			t.Errorf("%d events of a response that was refused", got[6].Streams.Events)
		}
		for request, want := range map[int]string{3: `request "get /early": the stream ended after 2 events, without its last one, "[DONE]"`, 5: `the stream ended without an event`, 0: "the stream stalled"} {
			for _, text := range got[request].Errors {
				contains(t, text, want)
			}
		}
	})
}

// Each time of a stream that is bounded by a goal decides whether it is kept, and the event before the last one
// says how many tokens there were.
func TestGoalsAndTokensAreCounted(t *testing.T) {
	goals := []measure.StreamGoal{
		{FirstEvent: 210 * ms}, {FirstEvent: 190 * ms}, {MeanGap: 61 * ms}, {MeanGap: 59 * ms}, {Within: 270 * ms}, {Within: 250 * ms},
		{Within: 270 * ms, FirstEvent: 210 * ms, MeanGap: 61 * ms}, {FirstEvent: 210 * ms, MeanGap: 59 * ms},
	}
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		chat := of("chat", transport.Stream{Until: "[DONE]"})
		chat.Tokens = source.Tokens{Input: ".in", Output: ".out"}
		failed := of("failed", transport.Stream{Until: "[DONE]"})
		failed.Tokens = chat.Tokens
		prompts := of("prompts", transport.Stream{Until: "[DONE]"})
		prompts.Tokens = source.Tokens{Input: ".in"} // how many were written is not known
		requests := []source.Request{chat, failed, prompts}
		o := d.oracle(t, streaming(map[string]script{
			"chat":    {200 * ms, "a", 20 * ms, "b", 20 * ms, `{"in": 7, "out": 2}`, 20 * ms, "[DONE]"},
			"failed":  {"a", `{"in": 7, "out": 2}`},
			"prompts": {200 * ms, "a", 20 * ms, "b", 20 * ms, `{"in": 7, "out": 2}`, 20 * ms, "[DONE]"},
		}))
		r := d.runner(t, setup{url: o.URL, requests: requests})
		r.config.StreamGoals = goals
		m := drive(t, r, arrivalsStep(6e6, time.Second))
		want := []int64{2, 0, 2, 0, 2, 0, 2, 0}
		s := m.Requests[0].Streams
		// Of two tokens in four events, the time from the first event to the last is that of one.
		same.As(t, "mean gap", []time.Duration{60 * ms, 60 * ms}, timesOf(s.Times[measure.MeanGap]))
		same.As(t, "mean gap of what failed", 2, len(timesOf(m.Requests[1].Streams.Times[measure.MeanGap])))
		same.As(t, "on time", want, s.OnTime)
		same.As(t, "on time with a perfect generator", want, s.IdealOnTime)
		same.As(t, "tokens", []int64{2, 14, 4}, []int64{s.Tokened, s.InputTokens, s.OutputTokens})
		p := m.Requests[2].Streams
		same.As(t, "mean gap of events", []time.Duration{20 * ms, 20 * ms}, timesOf(p.Times[measure.MeanGap]))
		same.As(t, "on time by events", []int64{2, 0, 2, 2, 2, 0, 2, 2}, p.OnTime)
		// The second of them, which is due at 0.83 s, ends after the window.
		same.As(t, "tokens of prompts", []int64{1, 7, 0}, []int64{p.Tokened, p.InputTokens, p.OutputTokens})
		f := m.Requests[1].Streams
		same.As(t, "tokens of what failed", []int64{0, 0, 0}, []int64{f.Tokened, f.InputTokens, f.OutputTokens})
	})
}

// A user waits for the end of a stream after its last event, and that is neither a part of its time nor the
// generator's delay.
func TestUsersWaitForTheEndOfAStream(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		o := d.oracle(t, streaming(map[string]script{"s": {500 * time.Millisecond, "[DONE]", time.Hour}}))
		r := d.runner(t, setup{url: o.URL, requests: []source.Request{of("s", transport.Stream{Until: "[DONE]"})}})
		m := drive(t, r, usersStep(2, ClosedUsers{Duration: 5900 * time.Millisecond}))
		q := total(t, m)
		same.As(t, "sent", int64(8), q.Sent) // each 1.5 s
		same.As(t, "late", []int64{0, 0}, []int64{q.Late, int64(m.HeldUp)})
		if got := q.Response.Max().Round(time.Millisecond); got != 500*time.Millisecond {
			t.Errorf("the longest response took %v, want 500ms", got)
		}
	})
}

// A stream that had not ended when its step did may yet get a longer gap.
func TestStreamsThatAreCutHaveEventsAndNoLongestGap(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		o := d.oracle(t, streaming(map[string]script{"s": {100 * ms, "a", 100 * ms, "b", 100 * ms, "c", time.Hour}}))
		r := d.runner(t, setup{url: o.URL, requests: []source.Request{of("s", transport.Stream{})}})
		x := r.Start(arrivalsStep(1e6, time.Second), time.Now())
		<-time.After(900 * ms)
		x.Cut()
		q := total(t, finish(t, x))
		same.As(t, "outcomes", map[string]int64{"unfinished": 1}, outcomes(q))
		s := q.Streams
		same.As(t, "counts", []int64{3, 1, 2, 0, 0}, []int64{s.Events, s.Times[measure.FirstEvent].Count(), s.Times[measure.BetweenEvents].Count(), s.Times[measure.LongestGap].Count(), s.Times[measure.MeanGap].Count()})
	})
}

// Events of the warm-up are not counted, and events after the window are not in it.
func TestOnlyEventsOfTheWindowAreInIt(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		o := d.oracle(t, streaming(map[string]script{"s": {300 * time.Millisecond, "a", 300 * time.Millisecond, "b"}}))
		r := d.runner(t, setup{url: o.URL, requests: []source.Request{of("s", transport.Stream{})}})
		step := arrivalsStep(2e6, 2*time.Second) // at 0, 0.5, 1 and 1.5 s
		step.WarmUp = time.Second
		got := total(t, drive(t, r, step)).Streams
		same.As(t, "events", int64(8), got.Events)
		same.As(t, "events in the window", int64(7), got.InWindow)
	})
}

// What the generator itself lost is no time of the target: an event that was read late came earlier, and
// events that were read together came one after another.
func TestEventsThatWereReadLateHaveABracket(t *testing.T) {
	for name, test := range map[string]struct {
		first, together int
		waited          time.Duration
		want            [2][]time.Duration // measured, ideal
	}{
		"in time":          {1, 1, 0, [2][]time.Duration{{100 * ms}, {100 * ms}}},
		"late":             {1, 1, 40 * ms, [2][]time.Duration{{100 * ms}, {60 * ms}}},
		"a burst":          {1, 4, 0, [2][]time.Duration{{0, 0, 0, 100 * ms}, {0, 0, 0, 100 * ms}}},
		"together, late":   {1, 4, 20 * ms, [2][]time.Duration{{0, 0, 0, 100 * ms}, {20 * ms, 20 * ms, 20 * ms, 20 * ms}}},
		"late beyond all":  {1, 1, time.Hour, [2][]time.Duration{{100 * ms}, {0}}},
		"first in a burst": {3, 1, 0, [2][]time.Duration{{0, 0, 100 * ms}, {0, 0, 100 * ms}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := newRecorder(1, time.Hour, nil, nil)
				x := &Execution{start: time.Now(), rec: rec, stood: func(time.Duration) time.Duration { return 0 }}
				e := &eventTimes{x: x, slot: &connSlot{}}
				e.Came(test.first, 0)
				<-time.After(100 * ms)
				e.Came(test.together, test.waited)
				s := rec.streams[0].times
				same.As(t, "measured", test.want[0], timesOf(s.Times[measure.BetweenEvents]))
				same.As(t, "ideal", test.want[1], timesOf(s.Ideally(measure.BetweenEvents)))
			})
		})
	}
}

// While the process stood still, what it read after that may have come.
func TestEventsThatCameWhileTheProcessStoodStillHaveABracket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec, stood := newRecorder(1, time.Hour, nil, nil), time.Duration(0)
		x := &Execution{start: time.Now(), rec: rec, stood: func(time.Duration) time.Duration { return stood }}
		e := &eventTimes{x: x, slot: &connSlot{}}
		<-time.After(20 * ms)
		e.Came(1, 0)
		<-time.After(2 * time.Second)
		stood = 1980 * ms
		e.Came(99, 0)
		e.ended(&e.slot.hit, &transport.Response{}, result{outcome: measure.Reset})
		s := rec.streams[0].times
		same.As(t, "longest gap as it was measured", []time.Duration{2 * time.Second}, timesOf(s.Times[measure.LongestGap]))
		if ideal := s.Ideally(measure.LongestGap).Max(); ideal > 20*ms {
			t.Errorf("the longest gap of a perfect generator was %v, want at most 20ms", ideal)
		}
	})
}
