package groundtruth

import (
	"slices"
	"sync/atomic"
)

// Counters are the counts of a server so far. Instants are of the kernel's
// monotonic clock; 0: not yet.
type Counters struct {
	// Requests that came, and of those the ones that were answered as their route says: in
	// full, by a reset, by a Frame or by a stream that ends or breaks.
	Requests int64 `json:"requests"`
	Answered int64 `json:"answered"`
	// Bad is connections closed because what came was no request. Event loops alone
	// count them.
	Bad int64 `json:"bad"`
	// Connections that were accepted, are open, and were open at once.
	Connections int64 `json:"connections"`
	Open        int64 `json:"open"`
	PeakOpen    int64 `json:"peakOpen"`
	// InFlight is requests that came and are not answered.
	InFlight     int64 `json:"inFlight"`
	PeakInFlight int64 `json:"peakInFlight"`
	// First and Last are when requests came.
	First int64 `json:"first"`
	Last  int64 `json:"last"`
	// Routes are the requests by route.
	Routes map[string]int64 `json:"routes"`
	// Streams are the streams by route, of routes that have one.
	Streams map[string]StreamCounts `json:"streams,omitempty"`
	// Stalls are when the server really stood still.
	Stalls []Stalled `json:"stalls,omitempty"`
}

// Stalled is a span in which the server stood still: what came in it was not answered
// before its end.
type Stalled struct {
	Span
	// Processor is the processor time that the process had used at the end, in nanoseconds.
	Processor int64 `json:"processor"`
}

// Record is one request.
type Record struct {
	// Number is the number at the end of its path; -1: none.
	Number int64 `json:"n"`
	// Received is when it was read, Answered when the last byte of its answer was
	// written; 0: not yet.
	Received int64 `json:"r"`
	// Came is when the kernel had received the last byte of it, however much later it was read; 0: not
	// known.
	Came     int64 `json:"c,omitempty"`
	Answered int64 `json:"a"`
	// Processor is the processor time that the process had used when it was answered, in
	// nanoseconds, to be compared with that of a stall. 0: the script has none, for which each request
	// is spared the system call.
	Processor int64 `json:"p"`
	// First and Last are when the first event of its stream and the latest one were written,
	// each with its last byte; 0: not yet.
	First int64 `json:"f,omitempty"`
	Last  int64 `json:"l,omitempty"`
	// Events were written.
	Events int64 `json:"e,omitempty"`
	// Gap is the longest time between two events that follow each other, in nanoseconds.
	Gap int64 `json:"g,omitempty"`
	// Times are when each of the first Config.Times events was written.
	Times []int64 `json:"t,omitempty"`
}

// counts are Counters that are being counted.
type counts struct {
	requests, answered, bad atomic.Int64
	connections, open, peak atomic.Int64
	inFlight, peakInFlight  atomic.Int64
	first, last             atomic.Int64
}

// up increments a number and updates its peak.
func up(n, peak *atomic.Int64) {
	now := n.Add(1)
	for {
		old := peak.Load()
		if now <= old || peak.CompareAndSwap(old, now) {
			return
		}
	}
}

// Counters are of all loops. They are not of one instant while requests come.
func (s *Server) Counters() Counters {
	c := &s.counts
	out := Counters{
		Requests: c.requests.Load(), Answered: c.answered.Load(), Bad: c.bad.Load(),
		Connections: c.connections.Load(), Open: c.open.Load(), PeakOpen: c.peak.Load(),
		InFlight: c.inFlight.Load(), PeakInFlight: c.peakInFlight.Load(),
		First: c.first.Load(), Last: c.last.Load(),
		Routes: map[string]int64{},
	}
	for name, r := range s.routes {
		out.Routes[name] = r.served.Load()
		if r.reply.Stream == nil {
			continue
		}
		if out.Streams == nil {
			out.Streams = map[string]StreamCounts{}
		}
		out.Streams[name] = r.streams.load()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out.Stalls = slices.Clone(s.stalls)
	return out
}

// Records are the latest requests, in the order in which they came.
func (s *Server) Records() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.records)
	if s.next <= n {
		return slices.Clone(s.records[:s.next])
	}
	at := s.next % n
	return slices.Concat(s.records[at:], s.records[:at])
}

// arrival is a request that came.
type arrival struct {
	route  *route
	number int64 // -1: none
	at     int64
	place  int // of its record; -1: none
}

// begin counts a request and enters it. The first one begins the script.
func (s *Server) begin(r *route, number, now int64) (place int) {
	c := &s.counts
	c.requests.Add(1)
	c.last.Store(now)
	if c.first.Load() == 0 && c.first.CompareAndSwap(0, now) && len(s.script) > 0 {
		if s.library != nil {
			s.library.schedule(s, now)
		} else {
			s.wake()
		}
	}
	up(&c.inFlight, &c.peakInFlight)
	r.served.Add(1)
	return s.received(number, now)
}

// end counts an answer, last: a reader that sees it sees all other counts of the request.
func (s *Server) end(place int) {
	s.answered(place, Now())
	s.counts.inFlight.Add(-1)
	s.counts.answered.Add(1)
}

// received enters a request, and returns its place; -1: none.
func (s *Server) received(number, at int64) int {
	if len(s.records) == 0 || number%s.every != 0 {
		return -1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[s.next%len(s.records)] = Record{Number: number, Received: at}
	s.next++
	return s.next - 1
}

// stamped enters when the kernel had received a request.
func (s *Server) stamped(place int, came int64) {
	if place < 0 || came == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.record(place); r != nil {
		r.Came = came
	}
}

// answered completes a record.
func (s *Server) answered(place int, at int64) {
	if place < 0 {
		return
	}
	used := int64(0)
	if s.stalling {
		used = processorTime()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.record(place); r != nil {
		r.Answered, r.Processor = at, used
	}
}

// record is that of a place; nil: it was given to a later request.
func (s *Server) record(place int) *Record {
	if place+len(s.records) < s.next {
		return nil
	}
	return &s.records[place%len(s.records)]
}
