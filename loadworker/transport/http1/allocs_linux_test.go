//go:build !race

package http1

import (
	"bufio"
	"net"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// The race detector empties pools at random, so that this test runs without it.
func TestSendAllocatesNothing(t *testing.T) {
	for kind, way := range senders(t) {
		if way.secured {
			continue // crypto/tls allocates a few bytes for each read, here and in the server
		}
		t.Run(kind, func(t *testing.T) {
			s := way.from(way.client(t, scripted.Serve(t, quick)))
			request := &transport.Request{Method: "GET", Path: []byte("/"), Headers: []transport.Header{{Name: "Accept", Value: []byte("*/*")}}, Keep: 10}
			send := func() {
				if got, err := s.send(request, scripted.Patience); err != nil || string(got.Body) != "hello" {
					t.Fatalf("Do = %+v, %v", got, err)
				}
			}
			send() // opens
			// Less than one: the garbage collector empties the pool of buffers.
			if n := testing.AllocsPerRun(500, send); n >= 1 {
				t.Errorf("%v allocations for each request, want none", n)
			}
		})
	}
}

// counter is a watcher that keeps nothing.
type counter int

func (c *counter) Came(n int, _ time.Duration) { *c += counter(n) }

// The events of a stream cost none either, however many reads they come by, nor does what ends it.
func TestEventsAllocateNothing(t *testing.T) {
	const reads = 20
	stream := func(c *net.TCPConn, _ *bufio.Reader) {
		in := make([]byte, 4096)
		header, event, end := []byte(chunkedHeader), []byte("9\r\ndata: a\n\n\r\n9\r\ndata: b\n\n\r\n"), []byte("0\r\n\r\n")
		for {
			if _, err := c.Read(in); err != nil {
				return
			}
			_, _ = c.Write(header)
			for range reads {
				_, _ = c.Write(event)
			}
			_, _ = c.Write(end)
		}
	}
	for kind, way := range senders(t) {
		if way.secured {
			continue // as above
		}
		t.Run(kind, func(t *testing.T) {
			s := way.from(way.client(t, scripted.Serve(t, stream)))
			var came counter
			request := &transport.Request{Method: "GET", Path: []byte("/"), Stream: &transport.Stream{Until: "c", Stall: time.Minute}, Watcher: &came}
			send := func() {
				if r, err := s.send(request, scripted.Patience); err != nil || r.Streamed.Events != 2*reads {
					t.Fatalf("Do = %+v, %v", r, err)
				}
			}
			send() // opens
			if n := testing.AllocsPerRun(200, send); n >= 1 {
				t.Errorf("%v allocations for %d events, want none", n, 2*reads)
			}
		})
	}
}
