package http

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestNewHandlerRefusesIncompleteConfig(t *testing.T) {
	accept := func(c Config) error { _, err := NewHandler(c); return err }
	servetest.Required(t, newService(t, 0, nil).Config, accept, "Stores", "Bodies", "Open", "Observe", "Metrics", "Now", "Logger")
}

func TestPagesTellStateAndConfiguration(t *testing.T) {
	broken := func(s *service) { s.store.pingErr = errDisk }
	draining := func(s *service) { s.Drain() }
	tests := map[string]struct {
		path   string
		change func(*service)
		status int
		body   string
	}{
		"health":                   {path: "/health", status: 200, body: `{"status":"healthy"}`},
		"health of a broken disk":  {path: "/health", change: broken, status: 503, body: `{"status":"unhealthy","error":"a log cannot be read"}`},
		"health while draining":    {path: "/health", change: draining, status: 200, body: `{"status":"healthy"}`},
		"ready":                    {path: "/ready", status: 200, body: `{"status":"ready"}`},
		"ready with a broken disk": {path: "/ready", change: broken, status: 503, body: `{"status":"not ready","error":"a log cannot be read"}`},
		"ready while draining":     {path: "/ready", change: draining, status: 503, body: `{"status":"draining"}`},
		"version": {
			path: "/version", status: 200,
			body: `{"version":"v1.2.3","instanceId":"pod-abc123","synchronous":"full","groupCommit":true,"readers":4,"memoryLimit":"1Gi","tenants":0,` +
				`"authentication":false,"idempotencyWindow":0,"gzip":false,"delay":"0s","rateLimit":false}`,
		},
		"metrics": {path: "/metrics", status: 200, body: "metrics"},
		"elsewhere": {
			path: "/event", status: 404,
			body: problem("no such page: use /events, /events/batch, /events/stream, /position, /subscriptions/{id}/position, /health, /ready, /version or /metrics"),
		},
		"tenants of a service without": {
			path: "/tenants", status: 404,
			body: problem("no such page: use /events, /events/batch, /events/stream, /position, /subscriptions/{id}/position, /health, /ready, /version or /metrics"),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newService(t, 0, nil)
			if tc.change != nil {
				tc.change(s)
			}
			same.As(t, "page", page{Status: tc.status, Body: tc.body}, s.ask("GET", tc.path, ""))
			if len(s.observed) != 0 {
				t.Errorf("observed %v: only the API is counted", s.observed)
			}
		})
	}
}

func TestOtherMethodsAreRefused(t *testing.T) {
	s := newService(t, 0, nil)
	for path, allow := range map[string]string{
		"/events": "GET, POST", "/events/batch": "POST", "/events/stream": "GET", "/position": "GET",
		"/subscriptions/a/position": "GET, POST, PUT", "/health": "GET", "/metrics": "GET",
	} {
		want := page{Status: 405, Headers: map[string]string{"Allow": allow}, Body: problem("Method not allowed")}
		same.As(t, "DELETE "+path, want, s.ask("DELETE", path, ""))
	}
}

// A log that hangs must not make the probe hang.
func TestHealthHasATimeLimit(t *testing.T) {
	hangs := &hanging{}
	s := newService(t, 0, func(c *Config) { c.Open = func() []eventstore.Store { return []eventstore.Store{hangs} } })
	if got := s.ask("GET", "/health", ""); got.Status != 503 {
		t.Errorf("status = %d, want 503: the check was given no time limit", got.Status)
	}
}

type hanging struct{ memory }

func (h *hanging) Ping(ctx context.Context) error {
	if _, limited := ctx.Deadline(); !limited {
		return nil
	}
	return context.DeadlineExceeded
}

func TestPositionAndSubscriptions(t *testing.T) {
	steps := []struct {
		method, path, body string
		want               page
	}{
		{"GET", "/position", "", page{Status: 200, Body: `{"position":3}`}},
		{"GET", "/subscriptions/a/position", "", page{Status: 200, Body: `{"position":0}`}},
		{"POST", "/subscriptions/a/position", `{"position":2}`, page{Status: 204}},
		{"PUT", "/subscriptions/a/position", `{"position":3}`, page{Status: 204}},
		{"PUT", "/subscriptions/a/position", `{"position":1}`, page{
			Status: 409,
			Body:   `{"error":"subscription is at position 3, which is after 1: ask with allowBackwards=true to go back","position":3}`,
		}},
		{"PUT", "/subscriptions/a/position?allowBackwards=false", `{"position":1}`, page{
			Status: 409,
			Body:   `{"error":"subscription is at position 3, which is after 1: ask with allowBackwards=true to go back","position":3}`,
		}},
		{"PUT", "/subscriptions/a/position?allowBackwards=true", `{"position":2}`, page{Status: 204}},
		{"PUT", "/subscriptions/a/position", `{"position":1,"allowBackwards":true}`, page{Status: 204}},
		{"GET", "/subscriptions/a/position", "", page{Status: 200, Body: `{"position":1}`}},
		{"PUT", "/subscriptions/a/position?allowBackwards=yes", `{"position":1}`, page{
			Status: 400, Body: problem("Invalid 'allowBackwards' parameter: use true or false"),
		}},
		{"PUT", "/subscriptions/a/position", `{}`, page{Status: 400, Body: problem("Invalid request body: position is missing")}},
		{"PUT", "/subscriptions/a/position", `{"position":-1}`, page{Status: 400, Body: problem("position is -1: use 0 or more")}},
		{"PUT", "/subscriptions/a%20b/position", `{"position":1}`, page{
			Status: 400, Body: problem("subscription has no proper name: use 1 to 200 letters, digits and any of . _ : -"),
		}},
		{"GET", "/subscriptions/a%2Fb/position", "", page{
			Status: 400, Body: problem("subscription has no proper name: use 1 to 200 letters, digits and any of . _ : -"),
		}},
	}
	s := newService(t, 3, nil)
	for i, step := range steps {
		same.As(t, fmt.Sprintf("step %d, %s %s %s", i, step.method, step.path, step.body), step.want, s.ask(step.method, step.path, step.body))
	}
	same.As(t, "observed requests", len(steps), len(s.observed))
}

func newTenants(t *testing.T, list ...eventstore.Tenant) eventstore.Tenants {
	t.Helper()
	tenants, err := eventstore.NewTenants(list)
	must.Succeed(t, err)
	return tenants
}

func TestAKeyOpensTheLogOfItsTenant(t *testing.T) {
	single := func(t *testing.T) eventstore.Access {
		return eventstore.Access{Tenants: newTenants(t, eventstore.Tenant{Name: eventstore.SingleLog, APIKey: "k1"})}
	}
	multi := func(t *testing.T) eventstore.Access {
		return eventstore.Access{Multi: true, Tenants: newTenants(t, eventstore.Tenant{Name: "shop", APIKey: "k1"}, eventstore.Tenant{Name: "bank", APIKey: "k2"})}
	}
	open := func(*testing.T) eventstore.Access { return eventstore.Access{} }
	tests := map[string]struct {
		access  func(*testing.T) eventstore.Access
		headers []string
		tenant  string
		refused string
	}{
		"open to all":               {access: open, tenant: "events"},
		"open, with a key":          {access: open, headers: []string{"X-API-Key", "x"}, tenant: "events"},
		"one key":                   {access: single, headers: []string{"X-API-Key", "k1"}, tenant: "events"},
		"one key, bearer":           {access: single, headers: []string{"Authorization", "bearer k1"}, tenant: "events"},
		"one key, bare":             {access: single, headers: []string{"Authorization", "k1"}, tenant: "events"},
		"one key, the wrong one":    {access: single, headers: []string{"X-API-Key", "k2"}, refused: "Unauthorized"},
		"one key, none given":       {access: single, refused: "Unauthorized"},
		"X-API-Key wins":            {access: single, headers: []string{"X-API-Key", "k2", "Authorization", "k1"}, refused: "Unauthorized"},
		"tenants":                   {access: multi, headers: []string{"X-API-Key", "k1"}, tenant: "shop"},
		"tenants, the other":        {access: multi, headers: []string{"Authorization", "Bearer k2"}, tenant: "bank"},
		"tenants, none given":       {access: multi, refused: "API key required"},
		"tenants, the wrong one":    {access: multi, headers: []string{"X-API-Key", "k3"}, refused: "Invalid API key"},
		"tenants, a name for a key": {access: multi, headers: []string{"X-API-Key", "shop"}, refused: "Invalid API key"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var asked []string
			var s *service
			s = newService(t, 0, func(c *Config) {
				c.Access = tc.access(t)
				c.Stores = func(_ context.Context, tenant string) (eventstore.Store, error) {
					asked = append(asked, tenant)
					return s.store, nil
				}
			})
			want, tenants := page{Status: 200, Body: `{"position":0}`}, []string{tc.tenant}
			if tc.refused != "" {
				tenants = nil
				want = page{Status: 401, Headers: map[string]string{"Www-Authenticate": "Bearer"}, Body: problem(tc.refused)}
			}
			same.As(t, "page", want, s.ask("GET", "/position", "", tc.headers...))
			same.As(t, "logs that were opened", tenants, asked)
		})
	}
}

// A tenant is told of no other.
func TestTenantsListsOnlyOwn(t *testing.T) {
	s := newService(t, 0, func(c *Config) {
		c.Access = eventstore.Access{Multi: true, Tenants: newTenants(t, eventstore.Tenant{Name: "shop", APIKey: "k1"}, eventstore.Tenant{Name: "bank", APIKey: "k2"})}
	})
	want := page{Status: 200, Body: `{"tenants":["bank"],"count":1}`}
	same.As(t, "page", want, s.ask("GET", "/tenants", "", "X-API-Key", "k2"))
	if got := s.ask("GET", "/tenants", ""); got.Status != 401 {
		t.Errorf("without a key: %+v", got)
	}
}

// The wait for a log that is being opened has a time limit.
func TestLogsThatCannotBeOpenedAreNoEmptyLogs(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want page
	}{
		"broken": {errDisk, page{Status: 500, Body: problem("internal error: see the service's log")}},
		"slow": {
			fmt.Errorf("%w: %w", eventstore.ErrNotOpened, context.DeadlineExceeded),
			page{Status: 503, Headers: map[string]string{"Retry-After": "1"}, Body: problem(eventstore.ErrNotOpened.Error())},
		},
	} {
		s := newService(t, 0, func(c *Config) {
			c.Stores = func(ctx context.Context, _ string) (eventstore.Store, error) {
				if _, bounded := ctx.Deadline(); !bounded {
					t.Error("the wait for a log has no end")
				}
				return nil, tc.err
			}
		})
		for _, path := range []string{"/position", "/events?from=1", "/events/stream?from=1"} {
			same.As(t, name+", "+path, tc.want, s.ask("GET", path, ""))
		}
	}
}

// The limit is of a client, whatever its connections, and comes before its key.
func TestLimitIsOfAClientAndOfTheAPIAlone(t *testing.T) {
	var clients []string
	s := newService(t, 0, func(c *Config) {
		c.Access = eventstore.Access{Tenants: newTenants(t, eventstore.Tenant{Name: "events", APIKey: "k"})}
		c.Limit = func(client string) (bool, time.Duration) {
			clients = append(clients, client)
			return len(clients) == 1, 1500 * time.Millisecond
		}
	})
	if got := s.ask("GET", "/position", "", "X-API-Key", "k", "X-Forwarded-For", "10.9.9.9"); got.Status != 200 {
		t.Errorf("first = %+v", got)
	}
	want := page{Status: 429, Headers: map[string]string{"Retry-After": "2"}, Body: problem("Rate limit exceeded")}
	for _, path := range []string{"/position", "/events?from=1"} {
		same.As(t, path, want, s.ask("GET", path, ""))
	}
	same.As(t, "clients", []string{"192.0.2.1", "192.0.2.1", "192.0.2.1"}, clients)
	for _, path := range []string{"/health", "/ready", "/version", "/metrics"} {
		if got := s.ask("GET", path, ""); got.Status != 200 {
			t.Errorf("%s is limited: %+v", path, got)
		}
	}
	outcomes := []eventstore.Outcome{s.observed[0].Outcome, s.observed[1].Outcome, s.observed[2].Outcome}
	same.As(t, "outcomes", []eventstore.Outcome{eventstore.Done, eventstore.Limited, eventstore.Limited}, outcomes)
}

func TestPanicReturns500AndIsCounted(t *testing.T) {
	s := newService(t, 0, func(c *Config) {
		c.Stores = func(context.Context, string) (eventstore.Store, error) { panic("boom") }
	})
	same.As(t, "page", page{Status: 500, Body: problem("internal error")}, s.ask("GET", "/position", ""))
	if len(s.observed) != 1 || s.observed[0].Outcome != eventstore.Failed {
		t.Errorf("observed %+v, want one failure", s.observed)
	}
}

// Whatever the API answers is JSON, and is said to be.
func TestRepliesAreJSON(t *testing.T) {
	s := newService(t, 2, nil)
	for _, tc := range []struct{ method, path, body string }{
		{"POST", "/events", `{"type":"a"}`},
		{"POST", "/events", `{`},
		{"POST", "/events/batch", `[{"type":"a"}]`},
		{"GET", "/events?from=1", ""},
		{"GET", "/events?from=x", ""},
		{"GET", "/events/stream?from=1", ""},
		{"GET", "/position", ""},
		{"GET", "/nowhere", ""},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(tc.method, tc.path, strings.NewReader(tc.body)))
		got := []string{w.Header().Get("Content-Type"), w.Header().Get("X-Content-Type-Options")}
		if diff := cmp.Diff([]string{"application/json", "nosniff"}, got); diff != "" || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %s: %s\nContent-Type and X-Content-Type-Options (-want +got):\n%s", tc.method, tc.path, w.Body, diff)
		}
	}
}
