package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
)

// BenchmarkClients is why HTTP/1.1 over TLS does not go through net/http.
func BenchmarkClients(b *testing.B) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, bytes.NewReader(make([]byte, 256)))
	})
	for name, config := range served(b, handler) {
		d := newTestDialer(b, config)
		clients := map[string]Client{"net": NewNetHTTP(d)}
		if !config.HTTP2 {
			clients["own"] = d
		}
		for kind, client := range clients {
			b.Run(kind+" "+name, func(b *testing.B) {
				line := client.NewLine()
				defer line.Close()
				b.ReportAllocs()
				for b.Loop() {
					if _, err := line.Do(context.Background(), aGet, far()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
