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
// once. One whose request was given up says nothing about the server.
type gate struct {
	dial dialFunc
	now  func() time.Time

	mu     sync.Mutex
	closed time.Time // until then
	err    error
}

func (g *gate) dialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if err := g.shut(); err != nil {
		return nil, err
	}
	conn, err := g.dial(ctx, network, addr)
	if err != nil && ctx.Err() == nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.closed, g.err = g.now().Add(closedFor), err
	}
	return conn, err
}

func (g *gate) shut() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now().Before(g.closed) {
		return fmt.Errorf("dialled a moment ago: %w", g.err)
	}
	return nil
}
