package http

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/limitertest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var testTime = time.Date(2026, time.November, 20, 12, 0, 0, 123456789, time.UTC)

// ticking is a clock that advances by 5 ms at each reading.
func ticking() func() time.Time {
	now := testTime.Add(-5 * time.Millisecond)
	return func() time.Time {
		now = now.Add(5 * time.Millisecond)
		return now
	}
}

type observation struct {
	Outcome ratelimiter.Outcome
	Took    time.Duration
}

// service is a handler and its observations.
type service struct {
	*Handler
	observed []observation
}

func newService(t *testing.T, change func(*Config)) *service {
	t.Helper()
	s := &service{}
	config := Config{
		Service: ratelimiter.Service{
			Limiter:        limitertest.Decide(ratelimiter.Decision{Allowed: true, Remaining: 49}, nil),
			Contract:       ratelimiter.Contract{Capacity: 50, RefillPerSecond: 10},
			OnStoreFailure: ratelimiter.Closed,
			StorePause:     2500 * time.Millisecond,
			Observe: func(o ratelimiter.Outcome, d time.Duration) {
				s.observed = append(s.observed, observation{o, d})
			},
			Now:    ticking(),
			Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		},
		About:          About{Version: "v1.2.3", Strategy: ratelimiter.Lua, Capacity: 50, RefillPerSecond: 10, MaxRetries: 3, OnStoreFailure: ratelimiter.Closed, InstanceID: "pod-abc123"},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, // httptest's peer
		Ping:           func(context.Context) error { return nil },
		Metrics:        http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "metrics") }),
	}
	if change != nil {
		change(&config)
	}
	handler, err := NewHandler(config)
	must.Succeed(t, err)
	s.Handler = handler
	return s
}

// page is a reply as a client gets it.
type page struct {
	Status  int
	Headers map[string]string
	Body    string
}

func (s *service) ask(method, path string, forwarded ...string) page {
	r := httptest.NewRequest(method, path, nil)
	for _, value := range forwarded {
		r.Header.Add("X-Forwarded-For", value)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	p := page{Status: w.Code, Headers: map[string]string{}, Body: w.Body.String()}
	for name := range w.Header() {
		p.Headers[name] = w.Header().Get(name)
	}
	return p
}

func TestNewHandlerRefusesIncompleteConfig(t *testing.T) {
	accept := func(c Config) error { _, err := NewHandler(c); return err }
	config := newService(t, nil).Config
	servetest.Required(t, config, accept, "Limiter", "Ping", "Observe", "Metrics", "Now", "Logger")
	config.StorePause = 0
	same.As(t, "error", "StorePause is 0s: use a time above 0s", fmt.Sprint(accept(config)))
}

func TestPagesTellStateAndConfiguration(t *testing.T) {
	tests := map[string]struct {
		path   string
		change func(*Config)
		drain  bool
		status int
		body   string
	}{
		"health": {path: "/health", status: 200, body: `{"status":"healthy"}`},
		"health without a store": {
			path:   "/health",
			change: func(c *Config) { c.Ping = func(context.Context) error { return errors.New("gone") } },
			status: 200, body: `{"status":"healthy"}`,
		},
		"ready": {path: "/ready", status: 200, body: `{"status":"ready"}`},
		"ready without a store": {
			path:   "/ready",
			change: func(c *Config) { c.Ping = func(context.Context) error { return errors.New("password: hunter2") } },
			status: 503, body: `{"status":"store not reached yet"}`,
		},
		"ready without a store, when that is no reason": {
			path: "/ready",
			change: func(c *Config) {
				c.OnStoreFailure = ratelimiter.Open
				c.Ping = func(context.Context) error { return errors.New("gone") }
			},
			status: 200, body: `{"status":"ready, without the store"}`,
		},
		"ready while draining":  {path: "/ready", drain: true, status: 503, body: `{"status":"draining"}`},
		"health while draining": {path: "/health", drain: true, status: 200, body: `{"status":"healthy"}`},
		"version": {
			path: "/version", status: 200,
			body: `{"version":"v1.2.3","strategy":"lua","capacity":50,"refillPerSecond":10,"maxRetries":3,"onStoreFailure":"closed","instanceId":"pod-abc123"}`,
		},
		"elsewhere": {
			path: "/apis", status: 404,
			body: `{"error":"no such page: use /api, /health, /ready, /version or /metrics"}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newService(t, tc.change)
			if tc.drain {
				s.Drain()
			}
			want := page{Status: tc.status, Body: tc.body + "\n", Headers: map[string]string{
				"Content-Type": "application/json", "X-Content-Type-Options": "nosniff",
			}}
			same.As(t, "page", want, s.ask("GET", tc.path))
			if len(s.observed) != 0 {
				t.Errorf("observed %v: only /api is counted", s.observed)
			}
		})
	}
}

func TestMetricsHandlerIsServed(t *testing.T) {
	if got := newService(t, nil).ask("GET", "/metrics"); got.Body != "metrics" {
		t.Errorf("/metrics = %+v", got)
	}
}

// A replica becomes ready with its store and stays ready in an outage: otherwise no
// replica would be left to report it to clients.
func TestReplicaStaysReadyAfterStoreOutage(t *testing.T) {
	gone := errors.New("gone")
	for policy, beforehand := range map[ratelimiter.FailurePolicy]string{
		ratelimiter.Closed: "503 store not reached yet",
		ratelimiter.Open:   "200 ready, without the store",
	} {
		t.Run(string(policy), func(t *testing.T) {
			var state error
			s := newService(t, func(c *Config) {
				c.OnStoreFailure = policy
				c.Ping = func(context.Context) error { return state }
			})
			var got []string
			for _, state = range []error{gone, gone, nil, gone, nil, gone} {
				got = append(got, s.ready(t))
			}
			s.Drain()
			got = append(got, s.ready(t))
			want := []string{
				beforehand, beforehand, "200 ready", "200 ready, without the store",
				"200 ready", "200 ready, without the store", "503 draining",
			}
			same.As(t, "readiness", want, got)
		})
	}
}

// ready is what /ready says, in short.
func (s *service) ready(t *testing.T) string {
	t.Helper()
	page := s.ask("GET", "/ready")
	var state struct{ Status string }
	must.Succeed(t, json.Unmarshal([]byte(page.Body), &state))
	return fmt.Sprint(page.Status, " ", state.Status)
}

// A store that hangs must not make the probe hang.
func TestReadyHasATimeLimit(t *testing.T) {
	s := newService(t, func(c *Config) {
		c.Ping = func(ctx context.Context) error {
			if _, limited := ctx.Deadline(); !limited {
				return nil
			}
			return context.DeadlineExceeded
		}
	})
	if got := s.ask("GET", "/ready"); got.Status != 503 {
		t.Errorf("status = %d, want 503: the check was given no time limit", got.Status)
	}
}
