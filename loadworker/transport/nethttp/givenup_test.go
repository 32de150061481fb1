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

func TestNetHTTPInterrupt(t *testing.T) {
	started := make(chan struct{}, 10)
	for name, config := range scripted.Protocols(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			started <- struct{}{}
			<-r.Context().Done()
		}
	})) {
		t.Run(name, func(t *testing.T) {
			line := newTestClient(t, config).NewConn()
			defer line.Close()
			failed := make(chan error)
			go func() {
				_, err := line.Do(context.Background(), &transport.Request{Method: "GET", Path: []byte("/hang")}, scripted.Far())
				failed <- err
			}()
			<-started
			line.Interrupt()
			if err := <-failed; !errors.Is(err, failure.ErrInterrupted) {
				t.Errorf("cut: %v, want %v", err, failure.ErrInterrupted)
			}
			if _, err := line.Do(context.Background(), scripted.Get, scripted.Far()); !errors.Is(err, failure.ErrInterrupted) {
				t.Errorf("after the cut: %v, want %v", err, failure.ErrInterrupted)
			}
			line.Resume()
			if got, err := line.Do(context.Background(), scripted.Get, scripted.Far()); err != nil || got.Status != 200 {
				t.Errorf("after Resume: %d, %v", got.Status, err)
			}
		})
	}
}

// A target hears over TLS that its client hangs up before the connection is
// closed, and may still answer. That is no response in time.
func TestNetHTTPTakesNoAnswerToItsHangingUp(t *testing.T) {
	for name, tc := range map[string]struct {
		timeout   time.Duration
		interrupt bool
		want      measure.Outcome
	}{
		"when it is cut":      {time.Minute, true, measure.Unfinished},
		"when it has run out": {100 * time.Millisecond, false, measure.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			target := &polite{reading: make(chan struct{})}
			line := newClient(dial.Target{Host: "127.0.0.1:1", Name: "127.0.0.1", Port: 1}, "", target).NewConn()
			defer line.Close()
			go func() {
				if <-target.reading; tc.interrupt {
					line.Interrupt()
				}
			}()
			got, err := line.Do(context.Background(), scripted.Get, time.Now().Add(tc.timeout))
			if err == nil || failure.Classify(err) != tc.want {
				t.Errorf("status %d, %v; want the outcome %v", got.Status, err, tc.want)
			}
			if line.IsOpen() {
				t.Error("the line is open still")
			}
		})
	}
}

// polite is a way to a target that sends its header at once, and its body when
// the client hangs up.
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
	return &hangingUp{Conn: client, polite: p, target: target}, nil
}

func (p *polite) Exhausted() (descriptors, ports int64) { return 0, 0 }

// hangingUp is the client's end.
type hangingUp struct {
	net.Conn
	*polite
	target net.Conn
	reads  int
	once   sync.Once
}

func (h *hangingUp) Read(into []byte) (int, error) {
	if h.reads++; h.reads == 2 { // the first has read the header
		close(h.reading)
	}
	return h.Conn.Read(into)
}

func (h *hangingUp) Close() error {
	h.once.Do(func() {
		select {
		case <-h.reading:
			_, _ = h.target.Write([]byte("ok"))
		default: // nobody would read it
		}
	})
	return errors.Join(h.Conn.Close(), h.target.Close())
}
