package http

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/memory"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// discard is a ResponseWriter that keeps nothing but the headers' map.
type discard struct{ header http.Header }

func (d discard) Header() http.Header       { return d.header }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

// BenchmarkRedirect is what a redirect costs beside net/http and the finder.
func BenchmarkRedirect(b *testing.B) {
	store := memory.New(time.Now)
	link := shortener.Link{Code: "abc123", URL: "https://example.com/", ExpiresAt: time.Now().Add(time.Hour)}
	must.Succeed(b, store.Create(b.Context(), link))
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	count := func(shortener.Event, int) {}
	service, err := shortener.New(shortener.Config{Store: store, CodeLength: 6, TTL: time.Hour, Now: time.Now, Count: count, Logger: quiet})
	must.Succeed(b, err)
	handler, err := NewHandler(Config{
		PagesConfig: PagesConfig{
			About: About{}, Ready: store.Ping, Metrics: http.NotFoundHandler(),
			Observe: func(shortener.Route, int, time.Duration) {}, Now: time.Now, Logger: quiet,
		},
		Service: service, API: shortener.Canonical, BaseURL: "http://sho.rt", Count: count,
	})
	must.Succeed(b, err)
	r, w := httptest.NewRequest(http.MethodGet, "/abc123", nil), discard{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(w, r)
	}
}
