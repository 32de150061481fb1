package loop

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// echoed is a protocol that keeps what it is called with.
type echoed struct {
	conn   Conn
	opened int
	got    []byte
	waited time.Duration
	err    error
}

func (e *echoed) Opened(err error) { e.opened, e.err = e.opened+1, err }

func (e *echoed) Receive(in []byte, waited time.Duration, _ bool) bool {
	e.got, e.waited = append(e.got, in...), waited
	if len(in) == 0 {
		e.conn.Close()
	}
	return true
}

func (e *echoed) Failed(err *failure.Error) { e.err = err }

func newTestLoop(t *testing.T, open Opener) *Loop {
	t.Helper()
	l, err := New(time.Now(), open)
	must.Succeed(t, err)
	t.Cleanup(l.Close)
	return l
}

// await waits for events until something is true.
func (l *Loop) await(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Since(l.start) + scripted.Patience; !done(); {
		if time.Since(l.start) > end {
			t.Fatal("it does not happen")
		}
		l.Wait(end)
	}
}

// echoes opens connections to a server that sends back what it gets.
func echoes(t *testing.T) Opener {
	t.Helper()
	url := scripted.ServeAll(t, func(c *net.TCPConn, r *bufio.Reader) { _, _ = io.Copy(c, r) })
	return func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(url, "http://"))
	}
}

// The other side reads again only when the socket has long been full.
func TestWritesFollowInOrderWhenThereIsRoom(t *testing.T) {
	l := newTestLoop(t, echoes(t))
	e := &echoed{}
	l.Add(&e.conn, e)
	e.conn.Dial(t.Context(), scripted.Patience)
	l.await(t, func() bool { return e.opened == 1 })
	var want []byte
	for i := range 300 {
		part := make([]byte, 100_000)
		for j := range part {
			part[j] = byte(i + j)
		}
		want = append(want, part...)
		e.conn.Write(part)
		clear(part) // it may be reused
	}
	if !e.conn.Unwritten() {
		t.Error("the socket had room for 30 MB")
	}
	l.await(t, func() bool { return len(e.got) >= len(want) })
	if !slices.Equal(e.got, want) || e.conn.Unwritten() || e.err != nil {
		t.Errorf("%d bytes came, unwritten %v, %v; want those that were written", len(e.got), e.conn.Unwritten(), e.err)
	}
}

// receiver is a protocol of a function.
type receiver struct {
	echoed
	receive func(in []byte) (more bool)
}

func (r *receiver) Receive(in []byte, _ time.Duration, _ bool) bool {
	if len(in) == 0 {
		r.conn.Close()
	}
	return r.receive(in)
}

// pair returns the two sides of a connection on which all that is written has arrived.
func pair(t *testing.T) (near, far *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must.Succeed(t, err)
	var sides [2]*net.UnixConn
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "")
		conn, err := net.FileConn(file)
		must.Succeed(t, errors.Join(err, file.Close()))
		sides[i] = conn.(*net.UnixConn)
		t.Cleanup(func() { _ = conn.Close() })
	}
	return sides[0], sides[1]
}

func (l *Loop) adopt(t *testing.T, r *receiver, conn net.Conn) {
	t.Helper()
	l.Add(&r.conn, r)
	must.Succeed(t, r.conn.Adopt(conn))
}

// A side that sends as fast as it is read has its turn, and then the others have theirs.
func TestAConnectionThatIsNeverEmptyLeavesTheLoop(t *testing.T) {
	l := newTestLoop(t, nil)
	near, far := pair(t)
	reads := 0
	l.adopt(t, &receiver{receive: func(in []byte) bool {
		if reads++; reads > 100 {
			t.Fatal("the loop reads without end")
		}
		_, _ = far.Write(in)
		return true
	}}, near)
	_, _ = far.Write(make([]byte, inBuffer+1))
	for range 3 {
		reads = 0
		l.await(t, func() bool { return reads > 0 })
	}
}

// There is no event for what one read had no room for.
func TestAFullBufferIsReadToItsEnd(t *testing.T) {
	l := newTestLoop(t, nil)
	near, far := pair(t)
	got := 0
	l.adopt(t, &receiver{receive: func(in []byte) bool { got += len(in); return false }}, near)
	_, _ = far.Write(make([]byte, inBuffer+1))
	l.await(t, func() bool { return got > 0 })
	l.Wait(0)
	if got != inBuffer+1 {
		t.Errorf("%d bytes were read, want %d", got, inBuffer+1)
	}
}

// TLS answers each change of keys that is asked for, whether or not that is read.
func TestAnswersOfTLSAreBounded(t *testing.T) {
	l := newTestLoop(t, nil)
	client, server := scripted.Identity(t)
	near, far := pair(t)
	must.Succeed(t, near.SetWriteBuffer(1))
	secured, shaken := tls.Client(socket.Under(near), client), make(chan error)
	go func() { shaken <- secured.HandshakeContext(t.Context()) }()
	_, records := scripted.ShakeHands(t, far, server)
	if err := <-shaken; err != nil || records == nil {
		t.Fatal(err)
	}
	r := &receiver{receive: func([]byte) bool { return true }}
	l.adopt(t, r, secured)
	var group sync.WaitGroup
	defer group.Wait()
	defer func() { _ = far.Close() }()
	group.Go(func() {
		for range 2 * maxAnswers / 27 { // the length of an answer
			records.UpdateKeys(true)
			records.Write(scripted.TextRecord, 'x') // else there would be too many that have none
		}
		_ = far.CloseWrite()
	})
	l.await(t, func() bool { return r.err != nil || !r.conn.IsOpen() })
	if !errors.Is(r.err, errAnswers) {
		t.Errorf("%v, want %v", r.err, errAnswers)
	}
}

// The number of a closed descriptor may be reused by another file.
func TestWakeOfAClosedLoopWritesNothing(t *testing.T) {
	var heir [2]int
	must.Succeed(t, unix.Pipe2(heir[:], unix.O_CLOEXEC|unix.O_NONBLOCK))
	defer func() { _ = errors.Join(unix.Close(heir[0]), unix.Close(heir[1])) }()
	for range 100 {
		l, err := New(time.Now(), nil)
		must.Succeed(t, err)
		waker := l.waker
		l.Close()
		number, err := unix.FcntlInt(uintptr(heir[1]), unix.F_DUPFD_CLOEXEC, waker) // or the next that is free
		must.Succeed(t, err)
		l.Wake()
		n, err := unix.Read(heir[0], make([]byte, 8))
		_ = unix.Close(number)
		if n > 0 || !errors.Is(err, unix.EAGAIN) {
			t.Fatalf("%d bytes came, %v; want that nothing is written", n, err)
		}
		if number == waker {
			return
		}
	}
	t.Fatal("something always takes the descriptor first")
}

func TestLoopWakes(t *testing.T) {
	l := newTestLoop(t, nil)
	l.Wait(0) // takes the event that the socket is writable
	go l.Wake()
	began := time.Now()
	l.Wait(time.Since(l.start) + scripted.Patience)
	if d := time.Since(began); d >= scripted.Patience {
		t.Errorf("it waited %v, want that it was woken", d)
	}
}

func TestTheSchedulerHasItsTurnBeforeALongWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Loop{start: time.Now()}
		for _, tt := range []struct {
			after, wait time.Duration // since the row before
			turn        bool
		}{
			{0, time.Second, false},
			{yieldEvery - 1, time.Second, false},
			{1, shortWait, false},
			{0, shortWait + 1, true},
			{yieldEvery - 1, time.Second, false},
			{1, time.Second, true},
			{time.Minute, time.Second, true},
		} {
			<-time.After(tt.after)
			now, want := l.Elapsed(), l.yielded
			if tt.turn {
				want = now
			}
			if got := l.yield(now + tt.wait); got != tt.wait || l.yielded != want {
				t.Errorf("at %v, a wait of %v: %v, the last turn at %v; want %v", now, tt.wait, got, l.yielded, want)
			}
		}
	})
}

// Of 61 turns, the scheduler gives one to a goroutine that has yielded before it gives one to another.
func TestOtherGoroutinesRunBeforeALongWait(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(t *testing.T) {
		l := &Loop{start: time.Now()}
		var other atomic.Bool
		<-time.After(yieldEvery)
		go other.Store(true)
		l.yield(l.Elapsed() + time.Second)
		l.yielded = 0
		l.yield(l.Elapsed() + time.Second)
		if !other.Load() {
			t.Error("the other goroutine has not run after two turns")
		}
	})
}
