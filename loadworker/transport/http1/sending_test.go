package http1

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// late is a connection whose writes a deadline has stopped. It notes which deadlines are set.
type late struct {
	net.Conn
	both, reads, writes int
}

func (l *late) Write([]byte) (int, error)        { return 0, os.ErrDeadlineExceeded }
func (l *late) SetDeadline(time.Time) error      { l.both++; return nil }
func (l *late) SetReadDeadline(time.Time) error  { l.reads++; return nil }
func (l *late) SetWriteDeadline(time.Time) error { l.writes++; return nil }
func (l *late) Close() error                     { return nil }

// A write of TLS that a deadline stopped cannot go on: while a request is written, the limit of its stream is of
// reads alone, and a write that was stopped is not tried again.
func TestWritesOverTLSAreStoppedOnce(t *testing.T) {
	l := &late{}
	c := &Conn{}
	c.net = l
	c.Share(l)
	c.send(make([]byte, 1), scripted.Far())
	if !c.setDeadline(time.Now(), scripted.Far()) || l.both != 0 || l.reads != 1 {
		t.Errorf("the limit of a stream is set %d times for both ways and %d times for reads", l.both, l.reads)
	}
	if err := c.sending.end(); !errors.Is(err, os.ErrDeadlineExceeded) || l.writes != 1 {
		t.Errorf("%v; the deadline of writes is set %d times, want once, to end them", err, l.writes)
	}
	c.Close()
}
