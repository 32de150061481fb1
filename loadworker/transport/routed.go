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
type routed struct{ clients []Client }

// NewRouted returns a client whose connections have one to each target, opened when it is
// needed: that of clients[i] carries the requests whose Target is i. Only connections of clients
// whose requests are sent by Do can be among them, not in an event loop.
func NewRouted(clients ...Client) Client { return routed{clients} }

// NewConn returns a connection that is open to no target.
func (r routed) NewConn() Conn {
	c := &RoutedConn{conns: make([]Conn, len(r.clients))}
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
	return strings.Join(names, ", ") + fmt.Sprintf(", %d targets", len(r.clients))
}

// RoutedConn is a connection to each of several targets. What a Conn says of itself is said of
// that to the target which was selected last, as is that of a request by Do.
type RoutedConn struct {
	conns []Conn
	at    int
}

// Targets is to how many targets it has a connection.
func (c *RoutedConn) Targets() int { return len(c.conns) }

// Select has Open, IsOpen and Alive be about the connection to a target.
func (c *RoutedConn) Select(target int) { c.at = target }

// Do sends a request to its target.
func (c *RoutedConn) Do(ctx context.Context, r *Request, deadline time.Time) (Response, error) {
	c.at = r.Target
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
