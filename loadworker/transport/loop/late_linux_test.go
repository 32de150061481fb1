//go:build !race

package loop

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// stamped returns connections of a loop to a server that sends back what it gets, once the
// kernel stamps what comes on them: it begins soon after the first socket asks for it.
func stamped(t *testing.T, l *Loop, n int) []*echoed {
	t.Helper()
	open := echoes(t)
	all := make([]*echoed, n)
	for i := range all {
		conn, err := open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all[i] = &echoed{}
		l.Add(&all[i].conn, all[i])
		if err := all[i].conn.Adopt(conn); err != nil {
			t.Fatal(err)
		}
	}
	first := all[0] // whose wait is always known
	end := scripted.Far()
	for n := 1; first.waited == 0; n++ {
		if time.Now().After(end) {
			t.Fatal("the kernel does not say when bytes came")
		}
		first.conn.Write([]byte{1})
		l.await(t, func() bool { return len(first.got) == n })
	}
	return all
}

// awaitBytes waits until bytes have come on a connection, and reads none of them.
func awaitBytes(t *testing.T, c *Conn) {
	t.Helper()
	poll := []unix.PollFd{{Fd: c.fd, Events: unix.POLLIN}}
	if n, err := unix.Poll(poll, int(scripted.Patience.Milliseconds())); n != 1 {
		t.Fatal(err)
	}
}

// A loop that turns to responses late says of each how late, whether it reads them by an event
// or as their deadline has passed. Not with the race detector, with which no connection is
// stamped.
func TestLoopMeasuresHowLongBytesWait(t *testing.T) {
	const n, late = 2*sampledEvery + 1, 20 * time.Millisecond
	for name, read := range map[string]func(*Loop){
		"by an event":             func(l *Loop) { l.Wait(0) },
		"as the deadline is past": func(l *Loop) { l.expire(0) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newTestLoop(t, nil)
			all, asked := stamped(t, l, n), time.Now()
			got := len(all[0].got)
			for _, e := range all {
				e.conn.Write([]byte{2})
				e.conn.Await(&Deadline{}, waiter(func(error) {}), 0)
			}
			for _, e := range all {
				awaitBytes(t, &e.conn)
			}
			<-time.After(late)
			read(l)
			most := time.Since(asked) // of another clock
			for i, e := range all {
				if i == 0 && len(e.got) != got+1 || i > 0 && len(e.got) != 1 || e.waited < late || e.waited > most {
					t.Errorf("connection %d: %d bytes, waited %v; want from %v to %v", i, len(e.got), e.waited, late, most)
				}
				if want := i%sampledEvery == 0; e.conn.Sampled() != want {
					t.Errorf("connection %d is sampled: %v, want %v", i, !want, want)
				}
			}
		})
	}
}

// Only what is stamped, and what came before the deadline by that, is known to be in time.
func TestAnswersAreMissedThatCameAfterTheirDeadline(t *testing.T) {
	l := newTestLoop(t, nil)
	e := &echoed{}
	l.Add(&e.conn, e)
	now := time.Since(l.start)
	for name, tt := range map[string]struct {
		at, waited time.Duration
		secured    *socket.TLS
		want       bool
	}{
		"came after it":  {now - time.Minute, time.Second, nil, true},
		"came before it": {now - time.Minute, time.Hour, nil, false},
		"not known":      {now - time.Minute, 0, nil, false},
		"over TLS":       {now - time.Minute, time.Second, &socket.TLS{}, false},
	} {
		e.conn.secured = tt.secured
		if got := e.conn.Missed(&Deadline{at: tt.at}, tt.waited); got != tt.want {
			t.Errorf("%s: missed %v, want %v", name, got, tt.want)
		}
	}
}

// The first read since the loop asked for events finds out whether the process stood still;
// later ones come ever later themselves.
func TestReadsThatMayBeLate(t *testing.T) {
	const now = -time.Hour // before the step begins
	for name, tt := range map[string]struct {
		noted []time.Duration // waits, all of them an instant before
		want  bool
	}{
		"the first":                        {nil, true},
		"after one in time":                {[]time.Duration{0}, false},
		"after one just in time":           {[]time.Duration{lateAfter}, false},
		"after one that was late":          {[]time.Duration{lateAfter + 1}, true},
		"after others that were late, too": {[]time.Duration{lateAfter + 1, 0}, true},
	} {
		var p punctuality
		for _, waited := range tt.noted {
			p.note(now, waited)
		}
		if got := p.mayBeLate(now); got != tt.want {
			t.Errorf("%s: may be late %v, want %v", name, got, tt.want)
		}
	}
	var p punctuality
	p.note(now, 0)
	if !p.mayBeLate(now + lateAfter + 1) {
		t.Error("what is read long after the first may be late")
	}
}

// What comes within a moment after the loop was told of all that there was cannot have waited
// for longer than that.
func TestWhatCameSinceTheLoopWasToldOfAll(t *testing.T) {
	const first = -time.Hour // before the step begins
	for name, tt := range map[string]struct {
		after time.Duration
		full  bool
		read  time.Duration // after it was told again
		want  bool
	}{
		"at once":                 {0, false, 0, false},
		"just in time":            {lateAfter, false, 0, false},
		"after a pause":           {lateAfter + 1, false, 0, true},
		"read after others":       {lateAfter / 2, false, lateAfter/2 + 1, true},
		"where there was no room": {0, true, 0, true},
	} {
		var l told
		if p := l.again(first, tt.full); !p.mayBeLate(first) {
			t.Fatalf("%s: it is known of the first that they were in time", name)
		}
		p := l.again(first+tt.after, false)
		if got := p.mayBeLate(first + tt.after + tt.read); got != tt.want {
			t.Errorf("%s: may be late %v, want %v", name, got, tt.want)
		}
	}
}
