package loop

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
)

// dialResult is the result of dialling for a connection: a socket or an error.
type dialResult struct {
	conn    *Conn
	opening *dial.Opening
	fd      int
	secured *socket.TLS
	err     error
}

// Dial begins to open a connection, before a deadline. Opened of its protocol gets the
// result.
func (c *Conn) Dial(ctx context.Context, deadline time.Duration) {
	l := c.loop
	counted, opening := l.Openings.Begin(ctx)
	l.dials.Go(func() { l.dial(counted, dialResult{conn: c, opening: opening}, deadline) })
}

// dial opens a socket, in a goroutine of its own. ctx may end it before Interrupt is
// called.
func (l *Loop) dial(ctx context.Context, r dialResult, deadline time.Duration) {
	timed, cancel := socket.WithDeadline(ctx, l.start.Add(deadline))
	defer cancel()
	conn, err := l.open(timed)
	switch {
	case err == nil:
		if r.fd, r.secured, r.err = socket.Detach(conn); r.err != nil {
			r.err = &failure.Error{Phase: failure.Dialing, Err: r.err}
		}
	case ctx.Err() != nil:
		r.err = failure.ErrInterrupted
	default:
		r.err = err
	}
	r.opening.Opened()
	l.mu.Lock()
	l.dialed = append(l.dialed, r)
	l.mu.Unlock()
	l.Wake()
}

// takeDialed passes the results of dialling on.
func (l *Loop) takeDialed() {
	var count [8]byte
	_, _ = unix.Read(l.waker, count[:])
	l.mu.Lock()
	results := l.dialed
	l.dialed = nil
	l.mu.Unlock()
	for _, r := range results {
		r.opening.End()
		if r.err == nil {
			r.err = r.conn.connect(r.fd, r.secured)
		}
		if l.interrupted {
			r.conn.Close()
			r.err = failure.ErrInterrupted
		}
		r.conn.protocol.Opened(r.err)
	}
}
