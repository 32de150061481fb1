//go:build !race

package transport

import "testing"

// The race detector makes a pool forget what is put back, so that this is a test
// without it.
func TestSendAllocatesNothing(t *testing.T) {
	for kind, make := range senders(t) {
		t.Run(kind, func(t *testing.T) {
			s := make(newTestDialer(t, Config{URL: scripted(t, quick)}))
			request := &Request{Method: "GET", Path: []byte("/"), Headers: []Header{{"Accept", []byte("*/*")}}, Keep: 10}
			send := func() {
				if got, err := s.send(request, patience); err != nil || string(got.Body) != "hello" {
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
