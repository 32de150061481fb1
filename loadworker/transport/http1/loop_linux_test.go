package http1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// loopSender sends on one connection of a loop.
type loopSender struct {
	loop   *Loop
	inLoop LoopConn
	conn   *Conn // has the socket before the loop
	start  time.Time
	ended  bool
	r      transport.Response
	err    error
}

func newLoopSender(t testing.TB, d *Client) *loopSender {
	t.Helper()
	s := &loopSender{start: time.Now(), conn: d.newConn()}
	var err error
	s.loop, err = d.NewLoop(s.start, func(_ *LoopConn, r transport.Response, err error) { s.ended, s.r, s.err = true, r, err })
	must.Succeed(t, err)
	t.Cleanup(s.loop.Close)
	s.loop.Add(&s.inLoop, s.conn)
	return s
}

func (s *loopSender) isOpen() bool { return s.inLoop.IsOpen() }

func (s *loopSender) awaitClose(t *testing.T) {
	t.Helper()
	conn, err := s.inLoop.conn.Release()
	if err == nil {
		scripted.AwaitEvent(t, conn, unix.POLLRDHUP)
		err = s.inLoop.conn.Adopt(conn)
	}
	must.Succeed(t, err)
}

func (s *loopSender) open() error {
	s.loop.Return(&s.inLoop, s.conn)
	err := s.conn.Open(context.Background(), scripted.Far())
	s.loop.Add(&s.inLoop, s.conn)
	return err
}

func (s *loopSender) send(r *transport.Request, timeout time.Duration) (transport.Response, error) {
	s.ended = false
	s.loop.Send(context.Background(), &s.inLoop, r, time.Since(s.start)+timeout)
	for !s.ended {
		s.loop.Wait(time.Since(s.start) + scripted.Patience)
	}
	return s.r, s.err
}

// Add and Return pass on the socket itself, with all state of TLS.
func TestLoopTakesAndReturnsConnections(t *testing.T) {
	for name, config := range map[string]dial.Config{
		"plain": {URL: scripted.Serve(t, scripted.Stay(scripted.Answer(slices.Repeat([]string{scripted.Empty}, 9)...)))},
		"TLS":   scripted.ServeTLS(t, answersTLS(9)),
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestClient(t, config)
			c := d.newConn()
			defer c.Close()
			do(t, c)
			s := newLoopSender(t, d)
			for range 3 {
				s.conn = c
				s.loop.Add(&s.inLoop, c)
				if c.IsOpen() || !s.inLoop.IsOpen() {
					t.Fatalf("the connection is open: %v, in the loop: %v; want there only", c.IsOpen(), s.inLoop.IsOpen())
				}
				if r, err := s.send(scripted.Get, scripted.Patience); err != nil || r.Status != 200 || !r.Reused {
					t.Fatalf("%+v, %v; want 200 over a connection that is reused", r, err)
				}
				s.loop.Return(&s.inLoop, c)
				if !c.IsOpen() || s.inLoop.IsOpen() {
					t.Errorf("the connection is open: %v, in the loop: %v; want not there", c.IsOpen(), s.inLoop.IsOpen())
				}
				if r, err := c.Do(context.Background(), scripted.Get, scripted.Far()); err != nil || !r.Reused {
					t.Fatalf("%+v, %v; want that it is reused", r, err)
				}
			}
			if d.Opened() != 1 {
				t.Errorf("%d connections opened, want 1", d.Opened())
			}
		})
	}
}

// When a server closes an idle connection, the loop notices, and sends the next
// request over another.
func TestLoopSeesAnIdleConnectionClose(t *testing.T) {
	tests := map[string]script{
		"closed":             func(c *net.TCPConn, r *bufio.Reader) { scripted.Answer(scripted.Empty)(c, r) },
		"bytes without need": scripted.Stay(says(scripted.Empty, "HTTP/1.1 408 Request Timeout\r\n\r\n")),
	}
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			d := newTestClient(t, dial.Config{URL: scripted.Serve(t, script, scripted.Stay(scripted.Answer(scripted.Empty)))})
			s := newLoopSender(t, d)
			for range 2 {
				if got, err := s.send(scripted.Get, scripted.Patience); err != nil || got.Status != 200 {
					t.Fatalf("%+v, %v; want 200", got, err)
				}
				for deadline := time.Now().Add(scripted.Patience); s.inLoop.IsOpen() && d.Opened() == 1 && time.Now().Before(deadline); {
					s.loop.Wait(time.Since(s.start) + time.Second)
				}
			}
			if d.Opened() != 2 {
				t.Errorf("%d connections opened, want 2", d.Opened())
			}
		})
	}
}

func TestLoopInterruptEndsRequests(t *testing.T) {
	d := newTestClient(t, dial.Config{URL: scripted.Serve(t, scripted.Stay(says()))})
	s := newLoopSender(t, d)
	ctx, cancel := context.WithCancel(context.Background())
	c := d.newConn()
	must.Succeed(t, c.Open(ctx, scripted.Far()))
	var w LoopConn
	s.loop.Add(&w, c)
	s.loop.Send(ctx, &w, scripted.Get, time.Since(s.start)+scripted.Patience)
	cancel()
	s.loop.Interrupt()
	if !s.ended || !errors.Is(s.err, failure.ErrInterrupted) || w.IsOpen() {
		t.Errorf("ended %v, %v, open %v; want that it is interrupted", s.ended, s.err, w.IsOpen())
	}
}

// Interrupt may come before or after the end of the context.
func TestLoopInterruptWhileDialling(t *testing.T) {
	for _, first := range []string{"loop", "context"} {
		t.Run(first, func(t *testing.T) {
			asked := make(chan struct{})
			d := newTestClient(t, dial.Config{URL: "http://a.test", Lookup: func(ctx context.Context, _ string) ([]netip.Addr, error) {
				close(asked)
				<-ctx.Done()
				return nil, ctx.Err()
			}})
			s := newLoopSender(t, d)
			ctx, cancel := context.WithCancel(context.Background())
			s.loop.Send(ctx, &s.inLoop, scripted.Get, time.Since(s.start)+scripted.Patience)
			<-asked
			if first == "loop" {
				s.loop.Interrupt()
			}
			if s.ended {
				t.Error("the request ended, while its connection is dialled")
			}
			cancel()
			for !s.ended {
				s.loop.Wait(time.Since(s.start) + scripted.Patience)
			}
			if !errors.Is(s.err, failure.ErrInterrupted) {
				t.Errorf("%v; want ErrInterrupted", s.err)
			}
		})
	}
}

// A socket that is dialled after the last Wait is closed with the loop.
func TestCloseClosesDialledSockets(t *testing.T) {
	gone := make(chan error)
	d := newTestClient(t, dial.Config{URL: scripted.Serve(t, func(c *net.TCPConn, _ *bufio.Reader) {
		_, err := c.Read(make([]byte, 1))
		gone <- err
	})})
	s := newLoopSender(t, d)
	s.loop.Send(context.Background(), &s.inLoop, scripted.Get, time.Since(s.start)+scripted.Patience)
	s.loop.Close()
	if err := <-gone; !errors.Is(err, io.EOF) {
		t.Errorf("the server read %v, want the end of the connection", err)
	}
	s.loop.Wake() // no effect: its descriptors are closed
	s.loop, _ = d.NewLoop(s.start, s.loop.onDone)
}

// Each of many connections gets its own response, in whatever order they come.
func TestLoopKeepsConnectionsApart(t *testing.T) {
	const n = 40
	var scripts []func(*net.TCPConn, *bufio.Reader)
	for range n {
		scripts = append(scripts, scripted.Stay(func(c *net.TCPConn, r *bufio.Reader) {
			for {
				request, err := http.ReadRequest(r)
				if err != nil {
					return
				}
				<-time.After(time.Duration(rand.IntN(2000)) * time.Microsecond)
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n"+
					"Content-Length: "+string('0'+rune(len(request.URL.Path)/10))+string('0'+rune(len(request.URL.Path)%10))+"\r\n\r\n"+request.URL.Path)
			}
		}))
	}
	d := newTestClient(t, dial.Config{URL: scripted.Serve(t, scripts...)})
	wires, left := make([]LoopConn, n), 3*n
	var loop *Loop
	start := time.Now()
	send := func(w *LoopConn) {
		path := []byte("/user/" + string('A'+rune(w.Tag)))
		loop.Send(context.Background(), w, &transport.Request{Method: "GET", Path: path, Keep: 99}, time.Since(start)+scripted.Patience)
	}
	turns := make([]int, n)
	loop, err := d.NewLoop(start, func(w *LoopConn, r transport.Response, err error) {
		if want := "/user/" + string('A'+rune(w.Tag)); err != nil || string(r.Body) != want {
			t.Errorf("user %d got %q, %v; want %q", w.Tag, r.Body, err, want)
		}
		left--
		if turns[w.Tag]++; turns[w.Tag] < 3 {
			send(w)
		}
	})
	must.Succeed(t, err)
	defer loop.Close()
	for i := range wires {
		wires[i].Tag = i
		loop.Add(&wires[i], d.newConn())
		send(&wires[i])
	}
	for left > 0 && time.Since(start) < scripted.Patience {
		loop.Wait(time.Since(start) + time.Second)
	}
	if left != 0 || d.Opened() != n {
		t.Errorf("%d left, %d connections opened; want 0, %d", left, d.Opened(), n)
	}
}
