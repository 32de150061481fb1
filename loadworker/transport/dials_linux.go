package transport

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// dialed is a wire whose dialling has ended.
type dialed struct {
	wire *Wire
	fd   int
	err  error
}

// Dialing is how many wires are being opened.
func (l *Loop) Dialing() int { return l.dialing }

// dial opens a socket, in a goroutine of its own. The loop may hear that it was
// ended by ctx before it hears that it is cut.
func (l *Loop) dial(ctx context.Context, w *Wire, deadline time.Duration) {
	c := l.dialer.NewConn()
	d := dialed{wire: w, err: c.Open(ctx, l.start.Add(deadline))}
	switch {
	case d.err == nil:
		d.fd, d.err = c.release()
	case ctx.Err() != nil:
		d.err = ErrCut
	}
	l.mu.Lock()
	l.dialed = append(l.dialed, d)
	l.mu.Unlock()
	l.Wake()
}

// Wake ends a Wait.
func (l *Loop) Wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed { // its number may be another's by now
		_, _ = unix.Write(l.waker, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}

// woken takes what was dialled.
func (l *Loop) woken() {
	var count [8]byte
	_, _ = unix.Read(l.waker, count[:])
	l.mu.Lock()
	came := l.dialed
	l.dialed = nil
	l.mu.Unlock()
	l.dialing -= len(came)
	for _, d := range came {
		if d.err == nil {
			d.err = l.connect(d.wire, d.fd)
		}
		if d.err != nil || l.cut {
			l.fail(d.wire, d.err)
			continue
		}
		l.begin(d.wire, d.wire.rest)
	}
}
