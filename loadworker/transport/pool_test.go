// The race detector looks at the tests of this file, too: connections of all protocols.

package transport_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/nethttp"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// throughPool sends requests as vegeta does, which makes them and reads the responses.
type throughPool struct{ *nethttp.Pool }

func (p throughPool) NewConn() transport.Conn { return pooledConn{p.Pool.NewConn(), p.Pool} }

type pooledConn struct {
	transport.Conn
	pool *nethttp.Pool
}

func (c pooledConn) Do(ctx context.Context, r *transport.Request, deadline time.Time) (out transport.Response, err error) {
	request, err := http.NewRequest(r.Method, c.pool.URL(), nil)
	if err != nil {
		return out, err
	}
	request.Header = c.pool.Header(r)
	ended := 0
	response, sent := c.pool.Send(ctx, deadline, request, r, func(r transport.Response, failed error) {
		ended++
		out, err = r, failed
	})
	if sent == nil {
		_, sent = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
	if ended != 1 || !errors.Is(sent, err) {
		return out, errors.New("a request ended more than once, or not at all, or with another error than it has")
	}
	return out, err
}

// The client of net/http sends a GET again if the connection that it was written to is
// closed without a response. It would count as one.
func TestPoolSendsARequestOnce(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	twice := func(c *net.TCPConn, r *bufio.Reader) {
		_, _ = http.ReadRequest(r)
		_, _ = io.WriteString(c, ok)
		_, _ = http.ReadRequest(r)
	}
	url := scripted.Serve(t, twice, scripted.Stay(scripted.Answer(ok)), scripted.Stay(scripted.Answer(ok)))
	conn := throughPool{nethttp.NewPool(scripted.NewDialer(t, dial.Config{URL: url}), "", true)}.NewConn()
	defer conn.Close()
	if got, err := conn.Do(t.Context(), scripted.Get, scripted.Far()); err != nil || got.Status != 200 || got.Reused {
		t.Fatalf("first request: %+v, %v", got, err)
	}
	_, err := conn.Do(t.Context(), scripted.Get, scripted.Far())
	if err == nil || failure.Classify(err) != measure.Reset || !strings.Contains(err.Error(), "would have sent the request again") {
		t.Errorf("second request: %v, want that it was reset and not sent again", err)
	}
	if got, err := conn.Do(t.Context(), scripted.Get, scripted.Far()); err != nil || got.Status != 200 {
		t.Errorf("third request: %+v, %v", got, err)
	}
}

func TestPoolSpeaksAllProtocols(t *testing.T) {
	for name, config := range scripted.Protocols(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto+r.RequestURI)
	})) {
		t.Run(name, func(t *testing.T) {
			for _, keepAlive := range []bool{true, false} {
				pool := nethttp.NewPool(scripted.NewDialer(t, config), "", keepAlive)
				conn := throughPool{pool}.NewConn()
				defer conn.Close()
				want := "HTTP/1.1/a|%2F"
				if config.HTTP2 {
					want = "HTTP/2.0/a|%2F"
				}
				for n := range 3 {
					r := &transport.Request{Method: "GET", Path: []byte("/a|%2F"), Keep: 100}
					got, err := conn.Do(t.Context(), r, scripted.Far())
					if err != nil || string(got.Body) != want || got.Reused != (keepAlive && n > 0) {
						t.Errorf("keep-alive %v: request %d: %q, reused %v, %v; want %s", keepAlive, n, got.Body, got.Reused, err, want)
					}
				}
				if n := pool.Opened(); keepAlive && n != 1 || !keepAlive && n != 3 {
					t.Errorf("keep-alive %v: %d connections for 3 requests", keepAlive, n)
				}
			}
		})
	}
}
