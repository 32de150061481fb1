package main

import (
	"bufio"
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

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// asProgram makes this test's binary be the program itself, so that a test can
// kill it.
const asProgram = "EVENTSTORE_TEST_IS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// frozen is a clock by which no client regains a request.
func frozen() time.Time { return time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC) }

// address is what the first line of the log says: the URL, and the address of gRPC.
func address(t *testing.T, lines *bufio.Reader) (url, grpc string) {
	t.Helper()
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("no log: %v: %s", err, first)
	}
	var started struct{ Msg, Addr, Grpc string }
	if err := json.Unmarshal([]byte(first), &started); err != nil || started.Msg != "serving" {
		rest, _ := io.ReadAll(lines)
		t.Fatalf("first line of the log (%v): %s%s", err, first, rest)
	}
	_, port, _ := strings.Cut(started.Addr, "]:")
	return "http://127.0.0.1:" + port, started.Grpc
}

// startService runs the whole program until stop is called or the test ends.
func startService(t *testing.T, env map[string]string, args ...string) (url string, stop func()) {
	t.Helper()
	url, _, stop = startBoth(t, env, args...)
	return url, stop
}

// startBoth is startService with the address of gRPC.
func startBoth(t *testing.T, env map[string]string, args ...string) (url, grpc string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	logs, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, append(args, "--port=0"), environment(env), frozen, out)
		out.Close()
	}()
	stopped := false
	stop = func() {
		cancel()
		if stopped {
			return
		}
		stopped = true
		if err := <-ended; err != nil {
			t.Errorf("run() = %v", err)
		}
	}
	t.Cleanup(stop)
	lines := bufio.NewReader(logs)
	url, grpc = address(t, lines)
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return url, grpc, stop
}

// ask sends a request; headers are name, value, and so on.
func ask(t *testing.T, method, url, body string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	must.Succeed(t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	must.Succeed(t, err)
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	must.Succeed(t, err)
	return resp.StatusCode, strings.TrimSpace(string(reply))
}

func expect(t *testing.T, what string, status int, body string, wantStatus int, wantBody string) {
	t.Helper()
	if status != wantStatus || body != wantBody {
		t.Errorf("%s = %d %s, want %d %s", what, status, body, wantStatus, wantBody)
	}
}

// Stored events are there after a restart of the program, and the counters match
// the client's.
func TestRestartKeepsEvents(t *testing.T) {
	dir := t.TempDir()
	url, stop := startService(t, nil, "--data-dir="+dir)
	const stored = `{"position":1,"type":"a","data":{"n":1},"timestamp":"2026-11-20T12:00:00Z"}`
	for range 2 {
		status, body := ask(t, "POST", url+"/events", `{"type":"a","data":{"n":1}}`, "Idempotency-Key", "k")
		expect(t, "POST /events", status, body, 200, stored)
	}
	status, body := ask(t, "POST", url+"/events/batch", `[{"type":"b"},{"type":"c"}]`)
	expect(t, "POST /events/batch", status, body, 200, `{"saved":2,"first_position":2,"last_position":3}`)
	_, page := ask(t, "GET", url+"/metrics", "")
	for _, want := range []string{
		"\neventstore_events_appended_total 3\n",
		"\neventstore_requests_total{operation=\"append\",outcome=\"done\"} 1\n",
		"\neventstore_requests_total{operation=\"append\",outcome=\"replayed\"} 1\n",
		"\neventstore_requests_total{operation=\"append-batch\",outcome=\"done\"} 1\n",
		"\neventstore_commits_total{outcome=\"failed\"} 0\n",
		"\neventstore_waiting_requests 0\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	stop()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	must.Succeed(t, err)
	same.As(t, "files after the end", []string{filepath.Join(dir, "events.db"), filepath.Join(dir, "events.db.lock")}, files)

	url, _ = startService(t, nil, "--data-dir="+dir, "--group-commit=off")
	status, body = ask(t, "GET", url+"/events?from=1&to=1", "")
	expect(t, "GET /events", status, body, 200, "["+stored+"]")
	status, body = ask(t, "GET", url+"/position", "")
	expect(t, "GET /position", status, body, 200, `{"position":3}`)
}

// Also when only one of them is open at a time.
func TestTenantsAreIsolated(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "tenants.yaml")
	must.Succeed(t, os.WriteFile(file, []byte("tenants:\n- {name: shop, apiKey: k1}\n- {name: bank, apiKey: k2}\n"), 0o600))
	url, stop := startService(t, map[string]string{"TENANTS_FILE": file, "DATA_DIR": dir, "OPEN_LOGS": "1"})
	for range 2 {
		if status, body := ask(t, "POST", url+"/events", `{"type":"a"}`, "X-API-Key", "k1"); status != 200 {
			t.Fatalf("POST /events = %d %s", status, body)
		}
	}
	status, body := ask(t, "GET", url+"/position", "", "X-API-Key", "k1")
	expect(t, "position of shop", status, body, 200, `{"position":2}`)
	if _, err := os.Stat(filepath.Join(dir, "bank.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the log of bank is there before bank came: %v", err)
	}
	status, body = ask(t, "GET", url+"/position", "", "Authorization", "Bearer k2")
	expect(t, "position of bank", status, body, 200, `{"position":0}`)
	status, body = ask(t, "GET", url+"/tenants", "", "X-API-Key", "k2")
	expect(t, "tenants", status, body, 200, `{"tenants":["bank"],"count":1}`)
	status, body = ask(t, "GET", url+"/position", "", "X-API-Key", "k3")
	expect(t, "a wrong key", status, body, 401, `{"error":"Invalid API key"}`)
	for _, path := range []string{"/version", "/metrics", "/health", "/ready"} {
		status, page := ask(t, "GET", url+path, "")
		if status != 200 || strings.Contains(page, "bank") || strings.Contains(page, "k1") {
			t.Errorf("%s = %d, and must tell neither names nor keys:\n%s", path, status, page)
		}
	}
	if _, page := ask(t, "GET", url+"/version", ""); !strings.Contains(page, `"tenants":2,"openLogs":1,`) {
		t.Errorf("/version does not tell how many logs there are and how many can be open:\n%s", page)
	}
	status, body = ask(t, "GET", url+"/events?from=2", "", "X-API-Key", "k1")
	expect(t, "events of shop", status, body, 200, `[{"position":2,"type":"a","data":null,"timestamp":"2026-11-20T12:00:00Z"}]`)
	stop()
	for _, name := range []string{"shop", "bank"} {
		if _, err := os.Stat(filepath.Join(dir, name+".db")); err != nil {
			t.Error(err)
		}
	}
}

// The command checks what it serves, and knows when it is not there.
func TestCheck(t *testing.T) {
	env := map[string]string{"API_KEY": "s3cr3t"}
	url, stop := startService(t, env, "--data-dir="+t.TempDir())
	ask := func(env map[string]string, timeout string) error {
		return run(t.Context(), []string{"check", "--url=" + url, "--timeout=" + timeout}, environment(env), frozen, io.Discard)
	}
	if err := ask(env, "1m"); err != nil {
		t.Errorf("a service that runs: %v", err)
	}
	if err := ask(nil, "1m"); err == nil {
		t.Error("passed without the key")
	}
	stop()
	if err := ask(env, "10ms"); err == nil {
		t.Error("a service that ended passed")
	}
}

func TestVersionReportsConfiguration(t *testing.T) {
	url, _ := startService(t, map[string]string{"API_KEY": "k"}, "--data-dir="+t.TempDir(), "--synchronous=normal", "--rate-limit=on",
		"--rate-limit-burst=3", "--idempotency-window=50", "--enable-gzip=off", "--readers=2")
	_, body := ask(t, "GET", url+"/version", "")
	var got map[string]any
	must.Succeed(t, json.Unmarshal([]byte(body), &got))
	if id, _ := got["instanceId"].(string); !strings.Contains(id, "-") {
		t.Errorf("instanceId = %q, want host-random", id)
	}
	delete(got, "instanceId")
	want := map[string]any{
		"version": "dev", "synchronous": "normal", "groupCommit": true, "readers": 2.0, "tenants": 0.0, "authentication": true,
		"idempotencyWindow": 50.0, "gzip": false, "rateLimit": true, "rateLimitPerSecond": 100.0, "rateLimitBurst": 3.0,
	}
	same.As(t, "/version", want, got)
	// The limit is the client's, over all its connections.
	seen := map[int]int{}
	for range 5 {
		http.DefaultClient.CloseIdleConnections()
		status, _ := ask(t, "GET", url+"/position", "", "X-API-Key", "k")
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
			err := run(t.Context(), tc.args, environment(nil), frozen, io.Discard)
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("run() = %v, want %s", err, tc.want)
			}
		})
	}
}
