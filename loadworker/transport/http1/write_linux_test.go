package http1

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

func TestSendToAServerThatReadsNothing(t *testing.T) {
	gone := make(chan struct{})
	defer close(gone)
	tests := map[string]struct {
		then    func(c *net.TCPConn, cut func()) // after part of the request has arrived
		timeout time.Duration
		class   measure.Outcome
	}{
		"it is given up":    {func(*net.TCPConn, func()) { <-gone }, time.Second, measure.Timeout},
		"it breaks it off":  {func(c *net.TCPConn, _ func()) { _ = c.SetLinger(0) }, scripted.Patience, measure.Reset},
		"it is interrupted": {func(_ *net.TCPConn, cut func()) { cut(); <-gone }, scripted.Patience, measure.Unfinished},
	}
	for kind, way := range senders(t) {
		for name, tt := range tests {
			if way.isLoop && tt.class == measure.Unfinished {
				continue
			}
			t.Run(kind+"/"+name, func(t *testing.T) {
				var s sender
				s = way.from(way.client(t, scripted.Serve(t, func(c *net.TCPConn, r *bufio.Reader) {
					_, _ = r.ReadString('\n')
					tt.then(c, func() { s.(connSender).Interrupt() })
				})))
				must.Succeed(t, s.open())
				_, err := s.send(scripted.Large(), tt.timeout)
				wantOutcome(t, err, tt.class, failure.Writing)
				if s.isOpen() {
					t.Error("the connection is open still")
				}
			})
		}
	}
}

// On a connection that was reset and not checked since, a request fails at once, in
// writing.
func TestSendOnAConnectionThatWasReset(t *testing.T) {
	for kind, way := range senders(t) {
		t.Run(kind, func(t *testing.T) {
			answered := make(chan struct{})
			d := way.client(t, scripted.Serve(t, resets(func(c *net.TCPConn, r *bufio.Reader) {
				says(scripted.Empty)(c, r)
				<-answered
			})))
			s := way.from(d)
			if _, err := s.send(scripted.Get, scripted.Patience); err != nil {
				t.Fatal(err)
			}
			close(answered)
			s.awaitClose(t)
			got, err := s.send(scripted.Get, scripted.Patience)
			wantOutcome(t, err, measure.Reset, failure.Writing)
			if !got.Reused || s.isOpen() || d.Opened() != 1 {
				t.Errorf("reused %v, open %v, %d opened; want that it was tried on the one there was", got.Reused, s.isOpen(), d.Opened())
			}
		})
	}
}

// A deadline that an earlier request left does not end a write, and the bytes that
// were written before it are not written again.
func TestSendWritesBeyondAnEarlierDeadline(t *testing.T) {
	for kind, way := range senders(t) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := afterDeadline(t, way, func(first time.Duration) script {
				return func(c *net.TCPConn, r *bufio.Reader) {
					_, _ = r.Peek(1)
					<-time.After(first)
					request, err := http.ReadRequest(r)
					if err != nil {
						return
					}
					if body, _ := io.ReadAll(request.Body); bytes.Equal(body, scripted.Large().Body) {
						_, _ = io.WriteString(c, scripted.Empty)
					}
				}
			})
			if _, err := s.send(scripted.Large(), 4*scripted.Patience); err != nil {
				t.Fatal(err)
			}
		})
	}
}
