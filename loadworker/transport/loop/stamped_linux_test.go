//go:build !race

package loop

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/test/must"
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
		must.Succeed(t, err)
		all[i] = &echoed{}
		l.Add(&all[i].conn, all[i])
		must.Succeed(t, all[i].conn.Adopt(conn))
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
			all, asked := stamped(t, l, n), time.Now().Round(0) // by the clock of the stamps
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
			most := time.Now().Round(0).Sub(asked)
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

// A signal ends a wait before the loop is told of what has come: it may be the end of a stop.
// What is read next is known to be late, on a connection that is not sampled, too.
func TestASignalThatEndsAWaitSaysNothingOfWhatHasCome(t *testing.T) {
	const late = 20 * time.Millisecond
	l := newTestLoop(t, nil)
	e := stamped(t, l, 2)[1]
	e.conn.Write([]byte{2})
	l.await(t, func() bool { return len(e.got) == 1 }) // no event is left
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread, ended := unix.Gettid(), make(chan struct{})
	var signals sync.WaitGroup
	signals.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(time.Millisecond):
				_ = unix.Tgkill(unix.Getpid(), thread, unix.SIGURG) // which the runtime ignores
			}
		}
	})
	l.Wait(time.Since(l.start) + scripted.Patience)
	close(ended)
	signals.Wait()
	e.conn.Write([]byte{3})
	awaitBytes(t, &e.conn)
	<-time.After(late)
	l.told.at = time.Since(l.start) // as if the wait had ended only now
	l.await(t, func() bool { return len(e.got) == 2 })
	if e.waited < late {
		t.Errorf("waited %v, want at least %v", e.waited, late)
	}
}
