package http1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// came is a watcher that calls a function.
type came func(events int)

func (c came) Came(events int, _ time.Duration) { c(events) }

// A goroutine that stood still beyond the limit of a stream goes on if an event had come, and has not stalled.
func TestAConnThatStoodStillReadsEvents(t *testing.T) {
	const event = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\n"
	for kind, way := range senders(t) {
		for name, want := range map[string]error{"an event": nil, "none": failure.ErrStalled} {
			more := make(chan bool)
			s, isConn := way.from(way.client(t, scripted.Serve(t, func(c *net.TCPConn, r *bufio.Reader) {
				_, _ = http.ReadRequest(r)
				if want == nil {
					_, _ = io.WriteString(c, event)
				}
				<-more
				_, _ = io.WriteString(c, "0\r\n\r\n")
				_, _ = io.Copy(io.Discard, r)
			}))).(connSender)
			if !isConn {
				continue
			}
			t.Run(kind+", "+name, func(t *testing.T) {
				must.Succeed(t, s.open())
				c := s.Conn
				r := &transport.Request{Method: "GET", Path: []byte("/"), Stream: &transport.Stream{Stall: time.Minute}, Watcher: came(func(int) { close(more) })}
				c.response.begin(r)
				c.response.beginStream(r, 2*time.Hour)
				c.used = time.Now().Add(-time.Hour)
				c.response.events.At(30 * time.Minute) // an event came then, and none for the minute after it
				c.secured = make([]byte, securedBuffer)
				if _, err := c.net.Write(AppendRequest(nil, r, "a.test", "")); err != nil {
					t.Fatal(err)
				}
				if want == nil {
					scripted.AwaitEvent(t, c.net, unix.POLLIN)
				} else {
					defer close(more)
				}
				c.setDeadline(time.Now(), time.Unix(1, 0))
				deadline := c.used.Add(2 * time.Hour)
				await := func() error { return c.awaitSecured(deadline) }
				if c.raw != nil {
					await = func() error { return c.await(deadline) }
				}
				if err := await(); !errors.Is(err, want) || c.response.parser.done() != (want == nil) {
					t.Errorf("%v, whole %v; want %v", err, c.response.parser.done(), want)
				}
			})
		}
	}
}

// A server that sends as fast as it is read does not keep a request beyond its deadline.
func TestAStreamWithoutAnEndHasADeadline(t *testing.T) {
	accepted := make(chan *net.TCPConn, 1)
	d := newTestClient(t, dial.Config{URL: scripted.Serve(t, func(c *net.TCPConn, r *bufio.Reader) {
		_, _ = http.ReadRequest(r)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		accepted <- c
		_, _ = io.WriteString(c, "a")
		_, _ = io.Copy(io.Discard, r)
	})})
	c := d.newConn()
	defer c.Close()
	must.Succeed(t, c.Open(context.Background(), scripted.Far()))
	var server *net.TCPConn
	deadline := time.Now().Add(20 * time.Millisecond)
	again := came(func(int) {
		if server == nil {
			server = <-accepted
		}
		_, _ = io.WriteString(server, "a")
		if time.Since(deadline) > 10*time.Second {
			_ = server.Close() // it would go on without an end
		}
	})
	_, err := c.Do(context.Background(), &transport.Request{Method: "GET", Path: []byte("/"), Stream: &transport.Stream{Events: transport.Chunks}, Watcher: again}, deadline)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v; want that the deadline ends it", err)
	}
}
