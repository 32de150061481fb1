package postgres

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// closedFor is how long a server that could not be dialled is not dialled
// again.
const closedFor = 250 * time.Millisecond

// gate keeps requests from queueing up before a server that is not there: for
// a moment after a dial has failed, all others fail with the same error and at
// once. A request that was given up says nothing about the server, and neither
// does a dial that failed while another succeeded: that server is there, and
// has more clients than it can take.
type gate struct {
	dial dialFunc
	now  func() time.Time

	mu     sync.Mutex
	opened time.Time // when a dial last succeeded
	closed time.Time // until then
	err    error
}

func (g *gate) dialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	start, err := g.enter()
	if err != nil {
		return nil, err
	}
	conn, err := g.dial(ctx, network, addr)
	if err == nil || ctx.Err() == nil {
		g.settle(start, err)
	}
	return conn, err
}

// enter returns the time, unless the gate is closed.
func (g *gate) enter() (time.Time, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	if now.Before(g.closed) {
		return now, fmt.Errorf("dialled a moment ago: %w", g.err)
	}
	return now, nil
}

// settle closes or opens the gate as the dial that started then came out.
func (g *gate) settle(start time.Time, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case err == nil:
		g.opened, g.closed = g.now(), time.Time{}
	case !g.opened.After(start):
		g.closed, g.err = g.now().Add(closedFor), err
	}
}
