package http1

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// A server closes a connection that idles. That is no failure of a request, and
// the request is sent once: on another connection.
func TestConnClosedWhileIdleIsNoFailure(t *testing.T) {
	for name, serve := range map[string]func(idle <-chan struct{}) dial.Config{
		"plain": func(idle <-chan struct{}) dial.Config {
			return dial.Config{URL: scripted.Serve(t, func(c *net.TCPConn, r *bufio.Reader) { scripted.Answer(scripted.Empty)(c, r); <-idle }, scripted.Stay(scripted.Answer(scripted.Empty)))}
		},
		"TLS": func(idle <-chan struct{}) dial.Config {
			return scripted.ServeTLS(t, func(c *tls.Conn, r *bufio.Reader) { answersTLS(1)(c, r); <-idle }, answersTLS(2))
		},
		"TLS, with close_notify": func(idle <-chan struct{}) dial.Config {
			return scripted.ServeTLS(t, func(c *tls.Conn, r *bufio.Reader) { answersTLS(1)(c, r); <-idle; _ = c.Close() }, answersTLS(2))
		},
	} {
		t.Run(name, func(t *testing.T) {
			idle := make(chan struct{})
			d := newTestClient(t, serve(idle))
			c := d.newConn()
			defer c.Close()
			do(t, c)
			close(idle)
			for deadline := scripted.Far(); c.Alive(); { // until the close has arrived
				if time.Now().After(deadline) {
					t.Fatal("the connection is alive still")
				}
				<-time.After(time.Millisecond)
			}
			c.used = time.Time{} // it idled for long
			old := c.net
			do(t, c)
			if err := old.SetDeadline(time.Time{}); !errors.Is(err, net.ErrClosed) {
				t.Errorf("the old connection's socket: %v, want it closed", err)
			}
		})
	}
}

// answersTLS answers at most n requests.
func answersTLS(n int) func(*tls.Conn, *bufio.Reader) {
	return func(c *tls.Conn, r *bufio.Reader) {
		for range n {
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
			_, _ = io.WriteString(c, scripted.Empty)
		}
	}
}

// A connection that idles beyond the deadline of its last request stays usable.
func TestConnIdlesBeyondADeadline(t *testing.T) {
	for name, config := range map[string]dial.Config{
		"plain": {URL: scripted.Serve(t, scripted.Stay(scripted.Answer(scripted.Empty, scripted.Empty)))},
		"TLS":   scripted.ServeTLS(t, answersTLS(3)),
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestClient(t, config)
			c := d.newConn()
			defer c.Close()
			do(t, c)
			past := time.Unix(1, 0)
			if !c.SetDeadline(past) {
				t.Fatal("the connection is interrupted")
			}
			c.used = past
			if !c.Alive() {
				t.Error("the connection is not alive")
			}
			if do(t, c); d.Opened() != 1 {
				t.Errorf("%d connections opened, want 1", d.Opened())
			}
		})
	}
}
