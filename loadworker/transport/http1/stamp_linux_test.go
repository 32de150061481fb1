//go:build !race

package http1

import (
	"context"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// A loop that turns to a response late says how late. Not with the race detector,
// with which no connection is stamped.
func TestLoopMeasuresHowLongResponsesWait(t *testing.T) {
	d := newTestClient(t, dial.Config{URL: scripted.Serve(t, scripted.Stay(scripted.Answer(slices.Repeat([]string{scripted.Empty}, 100)...)))})
	s := newLoopSender(t, d)
	// The kernel begins to stamp packets soon after the first socket asks for it.
	for range 99 {
		r, err := s.send(scripted.Get, scripted.Patience)
		if err != nil {
			t.Fatal(err)
		}
		if r.Waited > 0 {
			break
		}
	}
	s.loop.Send(context.Background(), &s.inLoop, scripted.Get, time.Since(s.start)+scripted.Patience)
	awaitEvent(t, s.inLoop.fd, unix.POLLIN)
	there := time.Now()
	const late = 20 * time.Millisecond
	<-time.After(late)
	s.ended = false
	for !s.ended {
		s.loop.Wait(time.Since(s.start) + scripted.Patience)
	}
	if waited := time.Since(there); s.err != nil || s.r.Waited < late || s.r.Waited > waited+time.Second {
		t.Errorf("%v, waited %v; want from %v to %v", s.err, s.r.Waited, late, waited)
	}
}

func TestOneOfSixteenConnectionsIsStamped(t *testing.T) {
	d := newTestClient(t, dial.Config{URL: scripted.Serve(t, scripted.Stay(scripted.Answer(scripted.Empty)))})
	s := newLoopSender(t, d)
	for number := range int32(2*stampedEvery + 1) {
		conn := d.newConn()
		if err := conn.Open(context.Background(), scripted.Far()); err != nil {
			t.Fatal(err)
		}
		fd, err := conn.release()
		if err != nil {
			t.Fatal(err)
		}
		c := LoopConn{number: number}
		if err := s.loop.connect(&c, fd); err != nil {
			t.Fatal(err)
		}
		if want := number%stampedEvery == 0; c.stamped != want {
			t.Errorf("connection %d is stamped: %v, want %v", number, c.stamped, want)
		}
		c.close()
	}
}

// A control message that is missing, of another kind or from the future says nothing.
func TestWaitIsUnknownWithoutAStamp(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	stamped := func(level, kind int32, at time.Time) *control {
		// The header is a length of eight bytes, a level and a kind; then come seconds
		// and nanoseconds.
		return &control{32, uint64(uint32(level)) | uint64(kind)<<32, uint64(at.Unix()), uint64(at.Nanosecond())}
	}
	ago := now.Add(-1500 * time.Millisecond)
	for name, tc := range map[string]struct {
		c    *control
		n    int
		want time.Duration
	}{
		"a stamp":          {stamped(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, ago), 32, 1500 * time.Millisecond},
		"no message":       {stamped(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, ago), 0, 0},
		"a short message":  {stamped(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, ago), 31, 0},
		"another level":    {stamped(unix.SOL_TCP, unix.SO_TIMESTAMPNS, ago), 32, 0},
		"another kind":     {stamped(unix.SOL_SOCKET, unix.SO_TIMESTAMP, ago), 32, 0},
		"a clock set back": {stamped(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, now.Add(time.Hour)), 32, 0},
	} {
		if got := tc.c.waited(tc.n, now); got != tc.want {
			t.Errorf("%s: waited %v, want %v", name, got, tc.want)
		}
	}
}
