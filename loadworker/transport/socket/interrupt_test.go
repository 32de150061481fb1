package socket_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
)

// watched notes the deadlines that it is given.
type watched struct {
	net.Conn
	deadlines []time.Time
	closed    bool
}

func (w *watched) SetDeadline(t time.Time) error {
	w.deadlines = append(w.deadlines, t)
	return nil
}

func (w *watched) Close() error {
	w.closed = true
	return nil
}

func TestInterruptEndsRequestsUntilResume(t *testing.T) {
	var i socket.Interruptible
	i.Interrupt() // there is no socket yet
	i.Resume()
	conn, now := &watched{}, time.Unix(1_000, 0)
	i.Share(conn)
	if !i.SetDeadline(now.Add(time.Second)) || !errors.Is(i.Interruption(io.EOF), io.EOF) {
		t.Error("it is interrupted before Interrupt")
	}
	i.Interrupt()
	if last := conn.deadlines[len(conn.deadlines)-1]; !last.Before(now) {
		t.Errorf("the socket's deadline is %v, want one that has passed", last)
	}
	n := len(conn.deadlines)
	if i.SetDeadline(now) || i.EnsureDeadline(now, now.Add(time.Second)) || len(conn.deadlines) > n {
		t.Error("it takes a deadline after Interrupt")
	}
	if err := i.Interruption(io.EOF); !errors.Is(err, failure.ErrInterrupted) {
		t.Errorf("the error is %v, want that it was interrupted", err)
	}
	i.Resume()
	if !i.EnsureDeadline(now, now.Add(time.Second)) || len(conn.deadlines) != n+1 {
		t.Error("it is interrupted after Resume")
	}
}

// A deadline that has not passed stays, unless it is after the one that is asked for.
func TestDeadlinesThatStay(t *testing.T) {
	var i socket.Interruptible
	conn, start := &watched{}, time.Unix(1_000, 0)
	i.Share(conn)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	for _, tt := range []struct{ now, deadline, set int }{
		{0, 10, 1}, {5, 15, 1}, {9, 10, 1}, {10, 20, 2}, {11, 19, 3}, {12, 19, 3}, {19, 29, 4},
	} {
		if i.EnsureDeadline(at(tt.now), at(tt.deadline)); len(conn.deadlines) != tt.set {
			t.Errorf("at %d s, until %d s: the deadline was set %d times, want %d", tt.now, tt.deadline, len(conn.deadlines), tt.set)
		}
	}
	other := &watched{}
	i.Share(other)
	if i.EnsureDeadline(at(20), at(30)); len(other.deadlines) != 1 {
		t.Error("another socket got no deadline")
	}
}

func TestUnshareClosesUnlessTheSocketLives(t *testing.T) {
	var i socket.Interruptible
	kept, closed := &watched{}, &watched{}
	i.Share(kept)
	i.Unshare(nil)
	i.Share(closed)
	i.Unshare(closed)
	i.Interrupt()
	if kept.closed || !closed.closed || len(kept.deadlines)+len(closed.deadlines) > 0 {
		t.Errorf("kept %+v, closed %+v", kept, closed)
	}
}
