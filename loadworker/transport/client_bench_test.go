package transport_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/nethttp"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// BenchmarkClients compares the clients: HTTP/1.1 over TLS does not use net/http
// because it takes longer.
func BenchmarkClients(b *testing.B) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, bytes.NewReader(make([]byte, 256)))
	})
	for name, config := range scripted.Protocols(b, handler) {
		d := scripted.NewDialer(b, config)
		clients := map[string]transport.Client{"net": nethttp.NewClient(d, "")}
		if !config.HTTP2 {
			clients["own"] = http1.NewClient(d, "")
		}
		for kind, client := range clients {
			b.Run(kind+" "+name, func(b *testing.B) {
				conn := client.NewConn()
				defer conn.Close()
				b.ReportAllocs()
				for b.Loop() {
					if _, err := conn.Do(context.Background(), scripted.Get, scripted.Far()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
