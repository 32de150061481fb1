package attack

import (
	"fmt"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// eventTimes are those of the stream that a connection carries. Its client tells it of the events, and
// no two of them at once.
type eventTimes struct {
	x     *Execution
	slot  *connSlot
	count int64
	// read is when the last event was read, and came when it had come to this machine, as far as is
	// known; firstRead and firstCame are those of the first.
	read, came, firstRead, firstCame time.Duration
	// longest is the longest time between two events, and idealLongest with a perfect generator.
	longest, idealLongest time.Duration
	// stood is for how long the process had stood still when the last event was read.
	stood time.Duration
}

var _ transport.Watcher = (*eventTimes)(nil)

// watch has the events of the response to a request told to its connection, if it is a stream.
func (c *connSlot) watch(x *Execution, b *source.Buffer) {
	b.Request.Watcher = nil
	if b.Request.Stream == nil {
		c.events = nil
		return
	}
	if c.events == nil {
		c.events = &eventTimes{}
	}
	*c.events = eventTimes{x: x, slot: c}
	b.Request.Watcher = c.events
}

// behind is how long events may have waited to be read: beyond it, those that were read together had
// come one after another.
const behind = time.Millisecond

// Came notes events that were read now.
func (e *eventTimes) Came(events int, waited time.Duration) {
	x, h := e.x, &e.slot.hit
	now, isFirst := x.elapsed(), e.count == 0
	if isFirst {
		e.read, e.came, e.stood = h.sent, h.sent, h.stalled
	}
	stood := x.stood(now)
	waited = max(0, waited, min(stood-e.stood, now-e.read)) // while it stood still, they may have come
	came := max(now-waited, e.came)
	g := gaps{n: events, measured: now - e.read, ideal: came - e.came, apart: waited > behind}
	e.read, e.came, e.stood = now, came, stood
	e.count += int64(events)
	if isFirst {
		e.firstRead, e.firstCame = now, came
		g = gaps{n: events - 1}
	} else {
		e.longest, e.idealLongest = max(e.longest, g.measured), max(e.idealLongest, g.each())
	}
	if !h.counts() {
		return
	}
	x.rec.streams[h.request].count(func(s *measure.Streams) {
		s.Events += int64(events)
		if now <= x.windowEnd() {
			s.InWindow += int64(events)
		}
		if isFirst {
			s.Record(measure.FirstEvent, now-h.due, h.idealFirst(came))
		}
		g.record(s)
	})
}

// gaps are the times before each of so many events that were read together: all of the time since the one
// before, and then none. With a perfect generator, if they had come apart, each would be as long.
type gaps struct {
	n               int
	measured, ideal time.Duration // of all
	apart           bool
}

// each is what a perfect generator would have measured of the first.
func (g gaps) each() time.Duration {
	if g.apart {
		return g.ideal / time.Duration(g.n)
	}
	return g.ideal
}

func (g gaps) record(s *measure.Streams) {
	ideal := g.each()
	for range g.n {
		s.Record(measure.BetweenEvents, g.measured, ideal)
		if g.measured = 0; !g.apart {
			ideal = 0
		}
	}
}

// ended notes the end of a stream whose outcome is known.
func (e *eventTimes) ended(h *hit, r *transport.Response, res result) {
	if !h.counts() || res.outcome == measure.Unfinished || e.count == 0 && res.outcome != measure.Timeout {
		return
	}
	e.x.rec.streams[h.request].count(func(s *measure.Streams) {
		if e.count == 0 {
			s.Record(measure.FirstEvent, res.received-h.due, h.idealResponse(res))
			return
		}
		e.countLongestGap(s, res)
		parts := e.count
		if output, ok := e.countTokens(s, h, r, res); ok && output > 0 {
			parts = output
		}
		mean, idealMean := e.meanGaps(parts)
		if parts > 1 {
			s.Record(measure.MeanGap, mean, idealMean)
		}
		if res.outcome == measure.Success {
			e.countKept(s, h, res, mean, idealMean)
		}
	})
}

// countLongestGap counts the longest gap of a stream that has one. That before an event for which a stream
// was given up is one.
func (e *eventTimes) countLongestGap(s *measure.Streams, res result) {
	longest, ideal := e.longest, e.idealLongest
	waited := res.outcome == measure.Stalled || res.outcome == measure.Timeout
	if waited {
		longest = max(longest, res.received-e.read)
		ideal = max(ideal, res.received-res.unreadAtMost-e.came)
	}
	if waited || e.count > 1 {
		s.Record(measure.LongestGap, longest, ideal)
	}
}

// countTokens counts the tokens of a stream that has succeeded within the window; ok is false if it does not say
// how many it had. output is 0 if it says only how many it read.
func (e *eventTimes) countTokens(s *measure.Streams, h *hit, r *transport.Response, res result) (output int64, ok bool) {
	if res.outcome != measure.Success {
		return 0, false
	}
	input, output, ok := e.x.source.Tokens(h.request, r)
	if ok && res.inWindow {
		s.Tokened++
		s.InputTokens += input
		s.OutputTokens += output
	}
	return output, ok
}

// meanGaps are the mean times between so many parts, which are events, or tokens of which events may have
// several or none; 0: there was one event.
func (e *eventTimes) meanGaps(parts int64) (measured, ideal time.Duration) {
	between := time.Duration(max(1, parts-1))
	return (e.read - e.firstRead) / between, (e.came - e.firstCame) / between
}

// countKept counts the goals that a stream has kept.
func (e *eventTimes) countKept(s *measure.Streams, h *hit, res result, mean, idealMean time.Duration) {
	goals := e.x.rec.goals
	if len(s.OnTime) < len(goals) {
		s.OnTime, s.IdealOnTime = make([]int64, len(goals)), make([]int64, len(goals))
	}
	for i, g := range goals {
		if g.Kept(res.received-h.due, e.firstRead-h.due, mean) {
			s.OnTime[i]++
		}
		if g.Kept(h.idealResponse(res), h.idealFirst(e.firstCame), idealMean) {
			s.IdealOnTime[i]++
		}
	}
}

// idealFirst is the time to the first event, which came to this machine at an instant, that a perfect
// generator would have measured.
func (h *hit) idealFirst(came time.Duration) time.Duration {
	return h.idealSent + came - h.sent - h.idealDue
}

// streams are the events of the streams that answer a request. Each read of one takes the lock for less
// time than the read itself takes: one for all shards is enough.
type streams struct {
	mu    sync.Mutex
	times *measure.Streams // nil: no event came, and no stream ended
}

func (s *streams) count(count func(*measure.Streams)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.times == nil {
		s.times = measure.NewStreams()
	}
	count(s.times)
}

// addTo adds them to those of a request.
func (s *streams) addTo(q *measure.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return q.AddStreams(s.times)
}

// checkStream returns an error for a stream that has ended without its last event.
func (x *Execution) checkStream(h *hit, r *transport.Response) error {
	s := x.source.Stream(h.request)
	switch {
	case s == nil || s.Events == transport.Messages || r.Streamed.Ended:
		return nil
	case s.Events == transport.WebSocketMessages:
		return closedEarly(r)
	case s.Until != "":
		return fmt.Errorf("the stream ended after %d events, without its last one, %q", r.Streamed.Events, s.Until)
	case r.Streamed.Events == 0:
		return fmt.Errorf("the stream ended without an event")
	}
	return nil
}

// closedEarly says with which code a server of WebSocket has closed a connection too early. The reason may be secret.
func closedEarly(r *transport.Response) error {
	const said = "the server closed the connection with code %d after %s, before the last one"
	came := text.Plural(r.Streamed.Events, "message")
	if r.Message == "" {
		return fmt.Errorf(said, r.Streamed.Code, came)
	}
	return failure.Withhold(r.Message, said, r.Streamed.Code, came)
}
