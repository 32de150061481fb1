package nethttp

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

func TestInterruptEndsTheRequestAndLaterOnes(t *testing.T) {
	started := make(chan struct{}, 10)
	for name, config := range scripted.Protocols(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			started <- struct{}{}
			<-r.Context().Done()
		}
	})) {
		t.Run(name, func(t *testing.T) {
			conn := newTestClient(t, config).NewConn()
			defer conn.Close()
			failed := make(chan error)
			go func() {
				_, err := conn.Do(context.Background(), &transport.Request{Method: "GET", Path: []byte("/hang")}, scripted.Far())
				failed <- err
			}()
			<-started
			conn.Interrupt()
			if err := <-failed; !errors.Is(err, failure.ErrInterrupted) {
				t.Errorf("interrupted: %v, want %v", err, failure.ErrInterrupted)
			}
			if _, err := conn.Do(context.Background(), scripted.Get, scripted.Far()); !errors.Is(err, failure.ErrInterrupted) {
				t.Errorf("after the interruption: %v, want %v", err, failure.ErrInterrupted)
			}
			conn.Resume()
			if got, err := conn.Do(context.Background(), scripted.Get, scripted.Far()); err != nil || got.Status != 200 {
				t.Errorf("after Resume: %d, %v", got.Status, err)
			}
		})
	}
}

// Over TLS, a target receives close_notify before the connection is closed, and may
// still answer. That answer is no response in time.
func TestAnswerAfterTheEndOfARequestIsIgnored(t *testing.T) {
	for name, tc := range map[string]struct {
		timeout   time.Duration
		interrupt bool
		want      measure.Outcome
	}{
		"when it is interrupted": {time.Minute, true, measure.Unfinished},
		"when it has timed out":  {100 * time.Millisecond, false, measure.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			target := &polite{reading: make(chan struct{})}
			conn := newClient(dial.Target{Host: "127.0.0.1:1", Name: "127.0.0.1", Port: 1}, "", target).NewConn()
			defer conn.Close()
			go func() {
				if <-target.reading; tc.interrupt {
					conn.Interrupt()
				}
			}()
			got, err := conn.Do(context.Background(), scripted.Get, time.Now().Add(tc.timeout))
			if err == nil || failure.Classify(err) != tc.want {
				t.Errorf("status %d, %v; want the outcome %v", got.Status, err, tc.want)
			}
			if conn.IsOpen() {
				t.Error("the connection is still open")
			}
		})
	}
}

// polite dials a target that sends its header at once, and its body when the client
// closes the connection.
type polite struct {
	reading chan struct{} // closed when the client waits for the body
}

func (p *polite) DialWrapped(context.Context, func(net.Conn) net.Conn) (net.Conn, error) {
	client, target := net.Pipe()
	go func() {
		if _, err := http.ReadRequest(bufio.NewReader(target)); err == nil {
			_, _ = target.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"))
		}
	}()
	return &closingConn{Conn: client, polite: p, target: target}, nil
}

func (p *polite) Handshakes() (*measure.Histogram, int64) { return nil, 0 }

func (p *polite) NewSession() *dial.Session { return nil }

func (p *polite) Exhausted() (descriptors, ports int64) { return 0, 0 }

// closingConn is the client's side.
type closingConn struct {
	net.Conn
	*polite
	target net.Conn
	reads  int
	once   sync.Once
}

func (h *closingConn) Read(into []byte) (int, error) {
	if h.reads++; h.reads == 2 { // the first has read the header
		close(h.reading)
	}
	return h.Conn.Read(into)
}

func (h *closingConn) Close() error {
	h.once.Do(func() {
		select {
		case <-h.reading:
			_, _ = h.target.Write([]byte("ok"))
		default: // the client would not read it
		}
	})
	return errors.Join(h.Conn.Close(), h.target.Close())
}
