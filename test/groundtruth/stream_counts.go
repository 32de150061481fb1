package groundtruth

import "sync/atomic"

// StreamCounts are of the streams of a route. What is begun is ended, broken, unfinished
// or under way.
type StreamCounts struct {
	// Begun is the streams whose head was written.
	Begun int64 `json:"begun"`
	// Ended is those whose whole response was written, with its last event.
	Ended int64 `json:"ended"`
	// Broken is those that ended otherwise, as their route says: by a reset, by a close or
	// without the last event.
	Broken int64 `json:"broken"`
	// Unfinished is those whose connection, or stream of HTTP/2, was ended before: by the
	// client or by an event of the script.
	Unfinished int64 `json:"unfinished"`
	// Stalled is the stalls of streams that began.
	Stalled int64 `json:"stalled"`
	// Events were written, without those that say that they are the last.
	Events int64 `json:"events"`
}

// enter enters an event that was written at an instant. Memory that another reads is never
// written to: Times only grows.
func (r *Record) enter(at int64, times int) {
	if r.Events == 0 {
		r.First = at
	} else {
		r.Gap = max(r.Gap, at-r.Last)
	}
	r.Last = at
	r.Events++
	if len(r.Times) < times {
		r.Times = append(r.Times, at)
	}
}

// streamCounts are StreamCounts that are being counted.
type streamCounts struct {
	begun, ended, broken, unfinished, stalled, events atomic.Int64
}

func (c *streamCounts) load() StreamCounts {
	return StreamCounts{
		Begun: c.begun.Load(), Ended: c.ended.Load(), Broken: c.broken.Load(), Unfinished: c.unfinished.Load(),
		Stalled: c.stalled.Load(), Events: c.events.Load(),
	}
}

// wrote counts a step that was written, and enters it.
func (s *Server) wrote(a *arrival, done step) {
	if done.stalls {
		a.route.streams.stalled.Add(1)
	}
	if !done.event {
		return
	}
	at := Now()
	a.route.streams.events.Add(1)
	if a.place < 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.record(a.place); r != nil {
		r.enter(at, s.times)
	}
}

// ended counts a stream that ended, or broke, as its route says.
func (s *Server) ended(a *arrival) {
	stream, counts := a.route.reply.Stream, &a.route.streams
	if stream.Break == Keep && !stream.Unended {
		counts.ended.Add(1)
	} else {
		counts.broken.Add(1)
	}
}
