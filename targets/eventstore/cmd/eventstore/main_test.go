package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestMain(m *testing.M) {
	if servetest.IsProgram() {
		main()
	}
	os.Exit(m.Run())
}

// frozen is a clock by which no client regains a request.
func frozen() time.Time { return time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC) }

// start runs the whole program until the test ends.
func start(t *testing.T, env map[string]string, args ...string) servetest.Service {
	t.Helper()
	return servetest.Run(t, func(ctx context.Context, log io.Writer) error {
		return run(ctx, append(args, "--port=0"), servetest.Environment(env), frozen, log)
	})
}

func expect(t *testing.T, method, url string, wantStatus int, want, body string, headers ...string) {
	t.Helper()
	if status, got := servetest.Ask(t, method, url, body, headers...); status != wantStatus || got != want {
		t.Errorf("%s %s = %d %s, want %d %s", method, url, status, got, wantStatus, want)
	}
}

// Also when only one of them is open at a time, a log is that of a key.
func TestTenantsAreIsolated(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "tenants.yaml")
	must.Succeed(t, os.WriteFile(file, []byte("tenants:\n- {name: shop, apiKey: k1}\n- {name: bank, apiKey: k2}\n"), 0o600))
	s := start(t, map[string]string{"TENANTS_FILE": file, "DATA_DIR": dir, "OPEN_LOGS": "1"})
	expect(t, "POST", s.URL+"/events", 200, `{"position":1,"type":"a","data":null,"timestamp":"2026-11-20T12:00:00Z"}`, `{"type":"a"}`, "X-API-Key", "k1")
	if _, err := os.Stat(filepath.Join(dir, "bank.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the log of bank is there before bank came: %v", err)
	}
	expect(t, "GET", s.URL+"/position", 200, `{"position":0}`, "", "Authorization", "Bearer k2")
	expect(t, "GET", s.URL+"/position", 200, `{"position":1}`, "", "X-API-Key", "k1")
	expect(t, "GET", s.URL+"/position", 401, `{"error":"Invalid API key"}`, "", "X-API-Key", "k3")
	for _, path := range []string{"/version", "/metrics", "/health", "/ready"} {
		status, page := servetest.Ask(t, "GET", s.URL+path, "")
		if status != 200 || strings.Contains(page, "bank") || strings.Contains(page, "k1") {
			t.Errorf("%s = %d, and must tell neither names nor keys:\n%s", path, status, page)
		}
		if path == "/version" && !strings.Contains(page, `"tenants":2,"openLogs":1,`) {
			t.Errorf("/version does not tell how many logs there are and how many can be open:\n%s", page)
		}
	}
}

// The command checks what it serves, and knows when it is not there.
func TestCheckPassesWhatRunsAlone(t *testing.T) {
	env := map[string]string{"API_KEY": "s3cr3t"}
	s := start(t, env, "--data-dir="+t.TempDir())
	ask := func(env map[string]string, timeout string) error {
		return run(t.Context(), []string{"check", "--url=" + s.URL, "--timeout=" + timeout}, servetest.Environment(env), frozen, io.Discard)
	}
	must.Report(t, "a service that runs", ask(env, "1m"))
	if err := ask(nil, "1m"); err == nil {
		t.Error("passed without the key")
	}
	must.Succeed(t, s.Stop())
	if err := ask(env, "10ms"); err == nil {
		t.Error("a service that ended passed")
	}
}

func TestVersionReportsConfiguration(t *testing.T) {
	s := start(t, map[string]string{"API_KEY": "k"}, "--data-dir="+t.TempDir(), "--synchronous=normal", "--rate-limit=on",
		"--rate-limit-burst=3", "--idempotency-window=50", "--enable-gzip=off", "--delay=50ms", "--readers=2")
	_, body := servetest.Ask(t, "GET", s.URL+"/version", "")
	var got map[string]any
	must.Succeed(t, json.Unmarshal([]byte(body), &got))
	if id, _ := got["instanceId"].(string); !strings.Contains(id, "-") {
		t.Errorf("instanceId = %q, want host-random", id)
	}
	delete(got, "instanceId")
	want := map[string]any{
		"version": "dev", "synchronous": "normal", "groupCommit": true, "readers": 2.0, "tenants": 0.0, "authentication": true,
		"idempotencyWindow": 50.0, "gzip": false, "delay": "50ms", "rateLimit": true, "rateLimitPerSecond": 100.0, "rateLimitBurst": 3.0,
	}
	same.As(t, "/version", want, got)
	// The limit is the client's, over all its connections.
	seen := map[int]int{}
	for range 5 {
		http.DefaultClient.CloseIdleConnections()
		status, _ := servetest.Ask(t, "GET", s.URL+"/position", "", "X-API-Key", "k")
		seen[status]++
	}
	same.As(t, "replies by status", map[int]int{200: 3, 429: 2}, seen)
}

func TestRunRefuses(t *testing.T) {
	dir := t.TempDir()
	tests := map[string]struct {
		args []string
		want string
	}{
		"no folder":  {[]string{"--data-dir=" + filepath.Join(dir, "none")}, "log events: lock the log: "},
		"no tenants": {[]string{"--data-dir=" + dir, "--tenants-file=" + filepath.Join(dir, "none")}, "open the tenants' file: "},
		"no burst":   {[]string{"--data-dir=" + dir, "--rate-limit=on", "--rate-limit-burst=0"}, "--rate-limit (RATE_LIMIT): burst of the rate limit is 0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := run(t.Context(), tc.args, servetest.Environment(nil), frozen, io.Discard)
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("run() = %v, want %s", err, tc.want)
			}
		})
	}
}
