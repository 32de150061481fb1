package transport

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// routed is a Client of several targets.
type routed struct {
	clients []Client // of the targets first
	targets int
	apart   []int // the index of the client of requests of WebSocket, by target; nil: they have none apart
}

// NewRouted returns a client whose connections have one to each target, opened when it is
// needed: that of clients[i] carries the requests whose Target is i. Only connections of clients
// whose requests are sent by Do can be among them, not in an event loop.
func NewRouted(clients ...Client) Client { return routed{clients: clients, targets: len(clients)} }

// NewMixed is NewRouted with clients of their own for requests of WebSocket: webSockets[i] carries those whose
// Target is i. Where that is nil, clients[i] carries all.
func NewMixed(clients, webSockets []Client) Client {
	r := routed{clients: slices.Clone(clients), targets: len(clients), apart: make([]int, len(clients))}
	for i, client := range webSockets {
		r.apart[i] = i
		if client != nil {
			r.apart[i] = len(r.clients)
			r.clients = append(r.clients, client)
		}
	}
	return r
}

// NewConn returns a connection that is open to no target.
func (r routed) NewConn() Conn {
	c := &RoutedConn{conns: make([]Conn, len(r.clients)), targets: r.targets, apart: r.apart}
	for i, client := range r.clients {
		c.conns[i] = client.NewConn()
	}
	return c
}

// Probe asks the first target; the clients of the others are asked by who has them.
func (r routed) Probe(ctx context.Context) error { return r.clients[0].Probe(ctx) }

// Opened is the sum over all targets.
func (r routed) Opened() (n int64) {
	for _, c := range r.clients {
		n += c.Opened()
	}
	return n
}

// Handshakes are those with all targets.
func (r routed) Handshakes() (times *measure.Histogram, resumed int64) {
	for _, c := range r.clients {
		own, n := c.Handshakes()
		resumed += n
		switch {
		case own == nil:
		case times == nil:
			times = own
		case times.Merge(own) != nil:
			panic("histograms of handshakes differ") // not reached: all have one layout
		}
	}
	return times, resumed
}

// Exhausted is the sum over all targets.
func (r routed) Exhausted() (descriptors, ports int64) {
	for _, c := range r.clients {
		d, p := c.Exhausted()
		descriptors, ports = descriptors+d, ports+p
	}
	return descriptors, ports
}

// Name has the names of the clients, each once.
func (r routed) Name() string {
	var names []string
	for _, c := range r.clients {
		if name := c.Name(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	all := strings.Join(names, ", ")
	if r.targets > 1 {
		all += fmt.Sprintf(", %d targets", r.targets)
	}
	return all
}

// RoutedConn is a connection to each of several targets. What a Conn says of itself is said of
// that to the target which was selected last, as is that of a request by Do.
type RoutedConn struct {
	conns   []Conn
	targets int
	apart   []int
	at      int
}

// Targets is to how many targets it has a connection.
func (c *RoutedConn) Targets() int { return c.targets }

// Select has Open, IsOpen and Alive be about the connection to a target.
func (c *RoutedConn) Select(target int) { c.at = target }

// SelectFor is Select for the connection that carries a request.
func (c *RoutedConn) SelectFor(r *Request) {
	c.at = r.Target
	if r.WebSocket != nil && c.apart != nil {
		c.at = c.apart[r.Target]
	}
}

// Do sends a request to its target.
func (c *RoutedConn) Do(ctx context.Context, r *Request, deadline time.Time) (Response, error) {
	c.SelectFor(r)
	return c.conns[c.at].Do(ctx, r, deadline)
}

// Open opens the connection to the selected target.
func (c *RoutedConn) Open(ctx context.Context, deadline time.Time) error {
	return c.conns[c.at].Open(ctx, deadline)
}

// IsOpen reports whether the connection to the selected target is.
func (c *RoutedConn) IsOpen() bool { return c.conns[c.at].IsOpen() }

// Alive checks the connection to the selected target.
func (c *RoutedConn) Alive() bool { return c.conns[c.at].Alive() }

// Interrupt ends the request that is under way, to whichever target.
func (c *RoutedConn) Interrupt() {
	for _, conn := range c.conns {
		conn.Interrupt()
	}
}

// Resume has it send again, to each target.
func (c *RoutedConn) Resume() {
	for _, conn := range c.conns {
		conn.Resume()
	}
}

// Close closes the connections to all targets.
func (c *RoutedConn) Close() {
	for _, conn := range c.conns {
		conn.Close()
	}
}
