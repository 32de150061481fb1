//go:build !race

package http1

import (
	"testing"

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
