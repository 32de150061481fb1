package transport

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

func TestOneShotOpensAConnectionForEachRequest(t *testing.T) {
	var mu sync.Mutex
	var closed []string
	for name, config := range served(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		closed = append(closed, fmt.Sprint(r.Close, r.Header["X-A"]))
	})) {
		t.Run(name, func(t *testing.T) {
			closed = nil
			d := newTestDialer(t, config)
			for _, inner := range []Client{d, NewNetHTTP(d)} {
				if inner == Client(d) && config.HTTP2 {
					continue
				}
				before := d.Opened()
				client := NewOneShot(inner, d)
				line := client.NewLine()
				if err := line.Open(context.Background(), far()); err != nil || line.IsOpen() || !line.Alive() || d.Opened() != before {
					t.Errorf("opened beforehand: %v, open %v, %d connections", err, line.IsOpen(), d.Opened())
				}
				request := &Request{Method: "GET", Path: []byte("/"), Headers: []Header{{Name: "X-A", Value: []byte("1")}}}
				for range 3 {
					if got, err := line.Do(context.Background(), request, far()); err != nil || got.Status != 200 {
						t.Errorf("%s: %d, %v", client.Name(), got.Status, err)
					}
				}
				if n := client.Opened() - before; n != 3 || len(request.Headers) != 1 {
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
