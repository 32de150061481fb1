//go:build !race

package http1

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// The kernel's stamp tells when a response came, however late it is read, and whether its
// deadline has passed. Not with the race detector, with which no connection is stamped.
func TestAResponseThatIsReadLateSaysWhenItCame(t *testing.T) {
	d := newTestClient(t, dial.Config{URL: scripted.Serve(t, quick)})
	s := newLoopSender(t, d)
	c := &s.inLoop
	// The kernel begins to stamp packets soon after the first socket asks for it.
	for end := scripted.Far(); s.r.Waited == 0; {
		if time.Now().After(end) {
			t.Fatal("the kernel does not say when bytes came")
		}
		if _, err := s.send(scripted.Get, scripted.Patience); err != nil {
			t.Fatal(err)
		}
	}
	unread := func(deadline time.Duration) {
		s.ended = false
		s.loop.Send(context.Background(), c, scripted.Get, deadline)
		conn, err := c.conn.Release()
		if err == nil {
			scripted.AwaitEvent(t, conn, unix.POLLIN)
			err = c.conn.Adopt(conn)
		}
		must.Succeed(t, err)
	}
	unread(time.Since(s.start) + scripted.Patience)
	s.loop.Answered(&c.deadline)
	c.conn.Await(&c.deadline, c, time.Since(s.start))
	s.loop.Wait(0)
	if !s.ended || s.err != nil || s.r.Status != 200 || !c.IsOpen() || !s.r.WaitExact || !s.r.InOneRead {
		t.Errorf("ended %v, %v, open %v; want the response that came before its deadline", s.ended, s.err, c.IsOpen())
	}
	deadline := time.Since(s.start) - time.Millisecond
	unread(deadline)
	s.loop.Wait(0)
	if came := time.Since(s.start) - s.r.Waited; !s.ended || s.err != nil || !s.r.WaitExact || came < deadline {
		t.Errorf("ended %v, %v, exact %v, came %v before its deadline; want after it", s.ended, s.err, s.r.WaitExact, deadline-came)
	}
}

// waits is a watcher that keeps how long events had waited.
type waits []time.Duration

func (w *waits) Came(_ int, waited time.Duration) { *w = append(*w, waited) }

// A watcher is told how long events had been in this machine before they were read, of the first connection of a
// loop always.
func TestEventsSayHowLongTheyWaited(t *testing.T) {
	d := newTestClient(t, dial.Config{URL: scripted.Serve(t, quick)})
	s := newLoopSender(t, d)
	var w waits
	r := &transport.Request{Method: "GET", Path: []byte("/"), Stream: &transport.Stream{Events: transport.Chunks}, Watcher: &w}
	for end := scripted.Far(); len(w) == 0 || w[len(w)-1] == 0; {
		if time.Now().After(end) {
			t.Fatal("the kernel does not say when bytes came")
		}
		if _, err := s.send(r, scripted.Patience); err != nil {
			t.Fatal(err)
		}
	}
	if last := w[len(w)-1]; last != s.r.Waited {
		t.Errorf("told of %v, of a response that waited for %v", last, s.r.Waited)
	}
}
