package groundtruth

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Route is what a request is answered with, and when.
type Route struct {
	// Latency is the time from when a request was read until it is answered.
	// Absent: at once.
	Latency Latency
	// Reply is the answer. Without bytes, a frame or a stream, and with End Keep: OK(64).
	Reply Reply
}

// ParseRoute reads name=reply or name=reply@latency. The name may be empty: the
// route of all paths that name none.
func ParseRoute(text string) (name string, r Route, err error) {
	name, rest, found := strings.Cut(text, "=")
	if !found {
		return "", r, fmt.Errorf("route %q: must be name=reply or name=reply@latency", text)
	}
	reply, latency, found := strings.Cut(rest, "@")
	if r.Reply, err = ParseReply(reply); err != nil {
		return "", r, fmt.Errorf("route %q: %w", text, err)
	}
	if found {
		if r.Latency, err = ParseLatency(latency); err != nil {
			return "", r, fmt.Errorf("route %q: %w", text, err)
		}
	}
	return name, r, nil
}

// Config configures a Server.
type Config struct {
	// Address is host:port. Absent: 127.0.0.1 and a free port.
	Address string
	// Protocol is what it speaks. Default HTTP1.
	Protocol Protocol
	// Certificate is for TLS. Absent: one for 127.0.0.1 and example.com.
	Certificate *tls.Certificate
	// Loops is how many event loops there are. Default 1.
	Loops int
	// Routes are by the first segment of the path. That of the empty name, or
	// OK(64) at once, is for all others.
	Routes map[string]Route
	// Script is what happens while it serves.
	Script []Event
	// Seed of the latencies and of the jitter of streams.
	Seed uint64
	// Record is of how many requests, the latest, records are kept.
	Record int
	// Every leaves out of the records the requests whose number it does not divide; 0: none.
	Every int
	// Times is of how many events, the first of a stream, a record has the times.
	Times int
	// Stamp has records say when the kernel had received a request. Event loops alone do.
	Stamp bool
}

// Server serves until it is closed.
type Server struct {
	protocol    Protocol
	address     string
	certificate []byte // in PEM; nil: there is no TLS
	routes      map[string]*route
	other       *route // of all other paths
	script      []Event
	stalling    bool // the script has a stall
	every       int64
	seed        uint64
	times       int
	stamp       bool
	counts      counts

	mu      sync.Mutex
	random  *rand.Rand
	stalls  []Stalled
	records []Record
	next    int // in records, of all that ever were

	closing atomic.Bool
	release func() // of the port; again does nothing
	loops   sync.WaitGroup
	wakers  []int    // a descriptor for each loop
	library *library // nil: there are loops
}

// route is a Route that is counted.
type route struct {
	latency  atomic.Pointer[Latency] // nil: at once
	reply    Reply
	response response // the same for net/http
	served   atomic.Int64
	streams  streamCounts
}

// defaultBody is as large as an answer that carries a few fields.
const defaultBody = 64

func newRoute(r Route) *route {
	if len(r.Reply.Bytes) == 0 && r.Reply.End == Keep && r.Reply.Frame == "" && r.Reply.Stream == nil {
		r.Reply = OK(defaultBody)
	}
	if r.Reply.Stream != nil {
		r.Reply.Stream = r.Reply.Stream.complete()
	}
	out := &route{reply: r.Reply}
	out.set(r.Latency)
	return out
}

func (r *route) set(l Latency) {
	if l == nil {
		r.latency.Store(nil)
		return
	}
	r.latency.Store(&l)
}

// Start starts a server.
func Start(c Config) (*Server, error) {
	c.Address, c.Protocol = cmp.Or(c.Address, "127.0.0.1:0"), cmp.Or(c.Protocol, HTTP1)
	c.Loops = max(c.Loops, 1)
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("ground-truth server: %w", err)
	}
	s := &Server{
		protocol: c.Protocol, routes: map[string]*route{}, script: c.Script, seed: c.Seed, times: c.Times, stamp: c.Stamp,
		random:  rand.New(rand.NewPCG(c.Seed, 0)),
		records: make([]Record, c.Record),
	}
	s.every = int64(max(c.Every, 1))
	s.stalling = slices.ContainsFunc(s.script, func(e Event) bool { return e.Kind == Stall })
	for name, r := range c.Routes {
		s.routes[name] = newRoute(r)
	}
	if s.other = s.routes[""]; s.other == nil {
		s.other = newRoute(Route{})
	}
	s.routes[""] = s.other
	run := s.run
	if c.Protocol != HTTP1 {
		run = s.runLibrary
	}
	var err error
	if s.release, c.Address, err = hold(c.Address); err != nil {
		return nil, fmt.Errorf("ground-truth server: %w", err)
	}
	if err := run(c); err != nil {
		s.release()
		return nil, fmt.Errorf("ground-truth server: %w", err)
	}
	return s, nil
}

// Address is where it listens, host:port.
func (s *Server) Address() string { return s.address }

// URL is its scheme and host.
func (s *Server) URL() string {
	if s.protocol.isSecure() {
		return "https://" + s.address
	}
	return "http://" + s.address
}

// Certificate is what clients must trust, in PEM; nil: there is no TLS.
func (s *Server) Certificate() []byte { return s.certificate }

// Close closes all connections and ends the server.
func (s *Server) Close() {
	if s.closing.CompareAndSwap(false, true) {
		if s.library != nil {
			s.library.close()
		}
		s.wake()
	}
	s.loops.Wait()
	s.release()
}

// SetLatency changes the latency of the route of the empty name, for requests
// that come from now on; nil: at once.
func (s *Server) SetLatency(l Latency) { s.other.set(l) }

// draw is how long the answer of a request to a route takes.
func (s *Server) draw(r *route) int64 {
	l := r.latency.Load()
	if l == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64((*l).At(s.random.Float64()))
}
