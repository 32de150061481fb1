// The race detector looks at the tests of this file, too: a connection for each request.

package transport_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/nethttp"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

func TestOneShotOpensAConnectionForEachRequest(t *testing.T) {
	var mu sync.Mutex
	var closed []string
	for name, config := range scripted.Protocols(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		closed = append(closed, fmt.Sprint(r.Close, r.Header["X-A"]))
	})) {
		t.Run(name, func(t *testing.T) {
			closed = nil
			d := scripted.NewDialer(t, config)
			for _, inner := range []transport.Client{http1.NewClient(d, ""), nethttp.NewClient(d, "")} {
				if inner.Name() == "http1" && config.HTTP2 {
					continue
				}
				client := transport.NewOneShot(inner)
				conn := client.NewConn()
				if err := conn.Open(context.Background(), scripted.Far()); err != nil || conn.IsOpen() || !conn.Alive() || client.Opened() != 0 {
					t.Errorf("opened beforehand: %v, open %v, %d connections", err, conn.IsOpen(), client.Opened())
				}
				request := &transport.Request{Method: "GET", Path: []byte("/"), Headers: []transport.Header{{Name: "X-A", Value: []byte("1")}}}
				for range 3 {
					if got, err := conn.Do(context.Background(), request, scripted.Far()); err != nil || got.Status != 200 {
						t.Errorf("%s: %d, %v", client.Name(), got.Status, err)
					}
				}
				if n := client.Opened(); n != 3 || len(request.Headers) != 1 {
					t.Errorf("%s: %d connections for 3 requests; the request has %d headers", client.Name(), n, len(request.Headers))
				}
				if !strings.HasSuffix(client.Name(), ", no keep-alive") {
					t.Errorf("named %q", client.Name())
				}
			}
			for _, got := range closed {
				if want := fmt.Sprint(!config.HTTP2, []string{"1"}); got != want {
					t.Errorf("closed and X-A are %s, want %s", got, want)
				}
			}
		})
	}
}
