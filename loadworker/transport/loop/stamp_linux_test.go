//go:build !race

package loop

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// A loop that turns to a response late says how late. Not with the race detector,
// with which no connection is stamped.
func TestLoopMeasuresHowLongBytesWait(t *testing.T) {
	open := echoes(t)
	l := newTestLoop(t, nil)
	e := &echoed{}
	l.Add(&e.conn, e)
	conn, err := open(t.Context())
	if err == nil {
		err = e.conn.Adopt(conn)
	}
	if err != nil {
		t.Fatal(err)
	}
	// The kernel begins to stamp packets soon after the first socket asks for it.
	for n := 1; n < 100 && e.waited == 0; n++ {
		e.conn.Write([]byte{1})
		l.await(t, func() bool { return len(e.got) == n })
	}
	before, asked := len(e.got), time.Now()
	e.conn.Write([]byte{2})
	poll := []unix.PollFd{{Fd: e.conn.fd, Events: unix.POLLIN}}
	if n, err := unix.Poll(poll, int(scripted.Patience.Milliseconds())); n != 1 {
		t.Fatal(err)
	}
	const late = 20 * time.Millisecond
	<-time.After(late)
	l.await(t, func() bool { return len(e.got) > before })
	if most := time.Since(asked) + late; e.waited < late || e.waited > most { // of another clock
		t.Errorf("waited %v; want from %v to %v", e.waited, late, most)
	}
}

func TestOneOfSixteenConnectionsIsStamped(t *testing.T) {
	open := echoes(t)
	l := newTestLoop(t, nil)
	for number := range 2*stampedEvery + 1 {
		conn, err := open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		e := &echoed{}
		l.Add(&e.conn, e)
		if err := e.conn.Adopt(conn); err != nil {
			t.Fatal(err)
		}
		if want := number%stampedEvery == 0; e.conn.stamped != want {
			t.Errorf("connection %d is stamped: %v, want %v", number, e.conn.stamped, want)
		}
	}
}
