package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/memory"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var errGone = errors.New("gone")

// service is a handler over a store in memory, and its counts.
type service struct {
	*Handler
	store    *memory.Store
	clock    *storetest.Clock
	events   map[shortener.Event]int
	observed []string
}

func newService(t *testing.T, change func(*shortener.Config, *Config)) *service {
	t.Helper()
	s := &service{clock: storetest.NewClock(), events: map[shortener.Event]int{}}
	s.store = memory.New(s.clock.Now)
	count := func(e shortener.Event, n int) { s.events[e] += n }
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	domain := shortener.Config{
		Store: s.store, CodeLength: 6, TTL: time.Hour, Now: s.clock.Now, Count: count, Logger: quiet,
		Clicks:     shortener.Synchronous{Store: s.store, Count: count},
		RandomCode: func(int) string { return "abc123" },
	}
	config := Config{
		PagesConfig: PagesConfig{
			About:   About{Version: "v1.2.3", InstanceID: "pod-abc123", API: shortener.Canonical, Replicas: 4, Shards: 1, Connections: "pool", PoolSize: 100, CodeLength: 6, LinkTTL: "1h0m0s", Cache: "off", Clicks: "sync"},
			Ready:   s.store.Ping,
			Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "metrics") }),
			Observe: func(r shortener.Route, status int, took time.Duration) {
				s.observed = append(s.observed, fmt.Sprint(r, " ", status))
				if took != 0 {
					t.Errorf("a request took %v by a clock that stands", took)
				}
			},
			Now: s.clock.Now, Logger: quiet,
		},
		API: shortener.Canonical, BaseURL: "http://sho.rt", Count: count,
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, // httptest's peer
	}
	if change != nil {
		change(&domain, &config)
	}
	var err error
	config.Service, err = shortener.New(domain)
	must.Succeed(t, err)
	s.Handler, err = NewHandler(config)
	must.Succeed(t, err)
	return s
}

// create puts a link into the store.
func (s *service) create(t *testing.T, code string) {
	t.Helper()
	l := shortener.Link{Code: code, URL: "https://example.com/" + code, CreatedAt: s.clock.Now(), ExpiresAt: s.clock.Now().Add(time.Hour)}
	must.Succeed(t, s.store.Create(t.Context(), l))
}

// seen is an answer as a client gets it.
type seen struct {
	Status  int
	Headers map[string]string
	Body    string
}

func (s *service) ask(method, path, body string) seen {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if strings.Contains(body, "long_url") {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	got := seen{Status: w.Code, Headers: map[string]string{}, Body: strings.TrimSuffix(w.Body.String(), "\n")}
	for name := range w.Header() {
		got.Headers[name] = w.Header().Get(name)
	}
	return got
}

func wantStatusAndBody(t *testing.T, got seen, status int, body string) {
	t.Helper()
	same.As(t, "reply", seen{Status: status, Body: body}, seen{Status: got.Status, Body: got.Body})
}

func TestVisitsAreRedirectedAndCounted(t *testing.T) {
	tests := map[string]struct {
		method, path string
		api          shortener.API
		want         seen
		observed     string
		redirects    int
	}{
		"a visit": {
			method: "GET", path: "/mine",
			want:     seen{302, map[string]string{"Location": "https://example.com/mine", "Cache-Control": "no-store"}, ""},
			observed: "redirect 302", redirects: 1,
		},
		"a visit with a query": {
			method: "GET", path: "/mine?a=b",
			want:     seen{302, map[string]string{"Location": "https://example.com/mine", "Cache-Control": "no-store"}, ""},
			observed: "redirect 302", redirects: 1,
		},
		"as seed 001 does": {
			method: "GET", path: "/mine", api: shortener.Seed001,
			want:     seen{301, map[string]string{"Location": "https://example.com/mine", "Cache-Control": "no-store"}, ""},
			observed: "redirect 301", redirects: 1,
		},
		"only the headers": {
			method: "HEAD", path: "/mine",
			want:     seen{302, map[string]string{"Location": "https://example.com/mine", "Cache-Control": "no-store"}, ""},
			observed: "redirect 302",
		},
		"nothing there": {
			method: "GET", path: "/other",
			want: seen{404, map[string]string{"Content-Type": "application/json", "X-Content-Type-Options": "nosniff"},
				`{"error":"Short code does not exist"}`},
			observed: "redirect 404",
		},
		"another method": {
			method: "DELETE", path: "/mine",
			want: seen{405, map[string]string{"Allow": "GET, HEAD", "Content-Type": "application/json", "X-Content-Type-Options": "nosniff"},
				`{"error":"method not allowed: use GET, HEAD"}`},
			observed: "redirect 405",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newService(t, func(_ *shortener.Config, c *Config) {
				if tt.api != "" {
					c.API = tt.api
				}
			})
			s.create(t, "mine")
			same.As(t, "reply", tt.want, s.ask(tt.method, tt.path, ""))
			same.As(t, "observed", []string{tt.observed}, s.observed)
			same.As(t, "counted redirects", tt.redirects, s.events[shortener.Redirected])
			if _, clicks, err := s.store.Totals(t.Context()); err != nil || int(clicks) != tt.redirects {
				t.Errorf("%d clicks stored, %v; want %d", clicks, err, tt.redirects)
			}
		})
	}
}

// A redirect whose click cannot be counted synchronously is none.
func TestRedirectWithoutTheStore(t *testing.T) {
	s := newService(t, nil)
	s.create(t, "mine")
	for failure, want := range map[error]int{errGone: 503, shortener.ErrOutcomeUnknown: 504} {
		s.store.SetFailure(failure)
		if got := s.ask("GET", "/mine", ""); got.Status != want {
			t.Errorf("%v: status = %d, want %d", failure, got.Status, want)
		}
	}
	same.As(t, "counted redirects", 0, s.events[shortener.Redirected])
}

// panicking is a cache with a bug.
type panicking struct{ shortener.Cache }

func (panicking) Find(context.Context, string) (shortener.Link, error) { panic("bug") }

func (panicking) Put(context.Context, shortener.Link) error { panic("bug") }

func TestPanicReturns500AndIsCounted(t *testing.T) {
	s := newService(t, func(d *shortener.Config, _ *Config) { d.Cache = panicking{} })
	const sorry = `{"error":"An unexpected error occurred"}`
	wantStatusAndBody(t, s.ask("GET", "/mine", ""), 500, sorry)
	wantStatusAndBody(t, s.ask("POST", "/urls", `{"url":"example.com"}`), 500, sorry)
	same.As(t, "observed", []string{"redirect 500", "create 500"}, s.observed)
}

// allowance is a throttle that allows the listed clients nothing.
type allowance map[string]time.Duration

func (a allowance) Allow(client string) (bool, time.Duration) {
	wait, denied := a[client]
	return !denied, wait
}

func TestLimitedClientsAreTurnedAway(t *testing.T) {
	s := newService(t, func(_ *shortener.Config, c *Config) {
		c.Throttle = allowance{"198.51.100.1": 10 * time.Millisecond, "198.51.100.2": 1500 * time.Millisecond}
	})
	s.create(t, "mine")
	tests := []struct {
		client, method, path string
		status               int
		retryAfter           string
	}{
		{"198.51.100.1", "GET", "/mine", 429, "1"},
		{"198.51.100.2", "GET", "/mine", 429, "2"},
		{"198.51.100.2", "POST", "/urls", 429, "2"},
		{"198.51.100.2", "GET", "/urls/mine", 429, "2"},
		{"198.51.100.2", "GET", "/stats", 429, "2"},
		{"198.51.100.2", "GET", "/health", 200, ""},
		{"198.51.100.2", "GET", "/ready", 200, ""},
		{"198.51.100.2", "GET", "/metrics", 200, ""},
		{"198.51.100.3", "GET", "/mine", 302, ""},
		{"", "GET", "/mine", 302, ""},
		{"no name", "GET", "/mine", 400, ""},
	}
	for _, tt := range tests {
		r := httptest.NewRequest(tt.method, tt.path, nil)
		r.Header.Set("X-Forwarded-For", tt.client)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if got := w.Header().Get("Retry-After"); w.Code != tt.status || got != tt.retryAfter {
			t.Errorf("%s %s of %q = %d, Retry-After %q; want %d, %q", tt.method, tt.path, tt.client, w.Code, got, tt.status, tt.retryAfter)
		}
	}
	same.As(t, "limited requests", 5, s.events[shortener.RateLimited])
	same.As(t, "counted redirects", 2, s.events[shortener.Redirected])
}

func TestPagesTellStateAndConfiguration(t *testing.T) {
	tests := map[string]struct {
		method, path string
		ready        error
		drain        bool
		status       int
		body         string
		observed     string
	}{
		"health":                 {path: "/health", status: 200, body: `{"status":"healthy"}`, observed: "health 200"},
		"health without a store": {path: "/health", ready: errGone, status: 200, body: `{"status":"healthy"}`, observed: "health 200"},
		"ready":                  {path: "/ready", status: 200, body: `{"status":"ready"}`, observed: "ready 200"},
		"ready with some shards": {
			path: "/ready", ready: fmt.Errorf("ping: %w", &shortener.Degraded{Down: []string{"shard1"}}),
			status: 200, body: `{"status":"degraded","down":["shard1"]}`, observed: "ready 200",
		},
		"ready without a store": {path: "/ready", ready: errGone, status: 503, body: `{"status":"unavailable"}`, observed: "ready 503"},
		"draining":              {path: "/ready", drain: true, status: 503, body: `{"status":"draining"}`, observed: "ready 503"},
		"health while draining": {path: "/health", drain: true, status: 200, body: `{"status":"healthy"}`, observed: "health 200"},
		"version": {
			path: "/version", status: 200, observed: "version 200",
			body: `{"version":"v1.2.3","instanceId":"pod-abc123","api":"canonical","replicas":4,"shards":1,"connections":"pool","poolSize":100,"linkIndex":false,` +
				`"codeLength":6,"linkTtl":"1h0m0s","cache":"off","clicks":"sync","rateLimit":false}`,
		},
		"metrics":              {path: "/metrics", status: 200, body: "metrics", observed: "metrics 200"},
		"no such page":         {path: "/a/b", status: 404, body: `{"error":"no such page"}`, observed: "other 404"},
		"the root":             {path: "/", status: 404, body: `{"error":"no such page"}`, observed: "other 404"},
		"no code":              {path: "/favicon.ico", status: 404, body: `{"error":"no such page"}`, observed: "other 404"},
		"another API's page":   {path: "/api/urls/mine", status: 404, body: `{"error":"no such page"}`, observed: "other 404"},
		"another API's word":   {path: "/shorten", status: 404, body: `{"error":"no such page"}`, observed: "other 404"},
		"to write on a page":   {method: "POST", path: "/stats", status: 405, body: `{"error":"method not allowed: use GET, HEAD"}`, observed: "stats 405"},
		"to read what creates": {path: "/urls", status: 405, body: `{"error":"method not allowed: use POST"}`, observed: "create 405"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newService(t, func(_ *shortener.Config, c *Config) {
				c.Ready = func(context.Context) error { return tt.ready }
			})
			if tt.drain {
				s.Drain()
			}
			if tt.method == "" {
				tt.method = "GET"
			}
			wantStatusAndBody(t, s.ask(tt.method, tt.path, ""), tt.status, tt.body)
			same.As(t, "observed", []string{tt.observed}, s.observed)
		})
	}
}

func TestNewHandlerRefusesIncompleteConfig(t *testing.T) {
	_, err := NewHandler(Config{})
	want := "http pages are incomplete: set About, Ready, Metrics, Observe, Now and Logger\n" +
		"http server is incomplete: set Service and Count"
	same.As(t, "error", want, fmt.Sprint(err))
	accept := func(c Config) error { _, err := NewHandler(c); return err }
	servetest.Required(t, newService(t, nil).Config, accept, "About", "Ready", "Metrics", "Observe", "Now", "Logger", "Service", "Count")
	s := newService(t, nil)
	s.API = "seed-003"
	if _, err := NewHandler(s.Config); err == nil || !strings.Contains(err.Error(), `"seed-003" is no API`) {
		t.Errorf("error = %v, want one about the API", err)
	}
}
