package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// frozen is a clock by which nothing refills.
func frozen() time.Time { return time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC) }

// start runs the whole program until the test ends.
func start(t *testing.T, args ...string) servetest.Service {
	t.Helper()
	return servetest.Run(t, func(ctx context.Context, log io.Writer) error {
		return run(ctx, append(args, "--port=0"), servetest.Environment(map[string]string{"REDIS_PASSWORD": ""}), frozen, log)
	})
}

func get(t *testing.T, url, client string) (int, string) {
	t.Helper()
	return servetest.Ask(t, "GET", url, "", "X-Forwarded-For", client)
}

// Two replicas on one Redis are one limiter, and their counters together are
// what the clients saw.
func TestReplicasShareBucketsAndCountEveryRequest(t *testing.T) {
	args := []string{"--redis-addr=" + redistest.Start(t), "--strategy=lua-seconds", "--capacity=5", "--trusted-proxies=127.0.0.0/8"}
	replicas := []string{start(t, args...).URL, start(t, args...).URL}
	seen := map[int]int{}
	for i := range 12 {
		status, _ := get(t, replicas[i%2]+"/api", "192.168.1.100")
		seen[status]++
	}
	for _, client := range []string{"192.168.1.101", "not a name"} {
		status, _ := get(t, replicas[0]+"/api", client)
		seen[status]++
	}
	same.As(t, "replies by status", map[int]int{200: 6, 429: 7, 400: 1}, seen)

	counted := map[string]int{}
	for _, replica := range replicas {
		_, page := get(t, replica+"/metrics", "")
		for _, decision := range []string{"granted", "denied", "error"} {
			counted[decision] += counter(t, page, decision)
		}
	}
	same.As(t, "counted", map[string]int{"granted": 6, "denied": 7, "error": 1}, counted)
}

func counter(t *testing.T, page, decision string) int {
	t.Helper()
	return servetest.Counted(t, page, fmt.Sprintf(`ratelimiter_requests_total{decision=%q,strategy="lua-seconds"}`, decision))
}

func TestVersionReportsConfiguration(t *testing.T) {
	url := start(t, "--redis-addr="+redistest.Start(t), "--strategy=hash", "--refill-rate=2.5").URL
	_, body := get(t, url+"/version", "")
	var got map[string]any
	must.Succeed(t, json.Unmarshal([]byte(body), &got))
	if id, _ := got["instanceId"].(string); !strings.Contains(id, "-") {
		t.Errorf("instanceId = %q, want host-random", id)
	}
	delete(got, "instanceId")
	want := map[string]any{"version": "dev", "strategy": "hash", "capacity": 50.0, "refillPerSecond": 2.5, "maxRetries": 10.0, "onStoreFailure": "closed"}
	same.As(t, "/version", want, got)
}

// A replica starts without Redis, reports that, and denies no request falsely.
func TestStartWithoutRedis(t *testing.T) {
	for policy, tc := range map[string]struct {
		pages   map[string]int
		counted map[string]int
	}{
		"closed": {
			pages:   map[string]int{"/health": 200, "/ready": 503, "/api": 503},
			counted: map[string]int{"granted": 0, "denied": 0, "unchecked": 0, "error": 20},
		},
		"open": {
			pages:   map[string]int{"/health": 200, "/ready": 200, "/api": 200},
			counted: map[string]int{"granted": 0, "denied": 0, "unchecked": 20, "error": 0},
		},
	} {
		t.Run(policy, func(t *testing.T) {
			url := start(t, "--redis-addr="+t.TempDir()+"/absent", "--strategy=lua-seconds", "--on-store-failure="+policy).URL
			// Enough requests to open the breaker: the reply stays the same.
			for range 20 {
				for path, want := range tc.pages {
					if got, body := get(t, url+path, ""); got != want {
						t.Errorf("%s = %d %s, want %d", path, got, body, want)
					}
				}
			}
			_, page := get(t, url+"/metrics", "")
			counted := map[string]int{}
			for decision := range tc.counted {
				counted[decision] = counter(t, page, decision)
			}
			same.As(t, "counted", tc.counted, counted)
		})
	}
}

// The command checks what it serves, and knows when it is not there.
func TestCheckPassesWhatRunsAlone(t *testing.T) {
	ask := func(url, timeout string) error {
		return run(t.Context(), []string{"check", "--url=" + url, "--timeout=" + timeout}, servetest.Environment(nil), frozen, io.Discard)
	}
	must.Report(t, "a service that runs", ask(start(t, "--redis-addr="+redistest.Start(t), "--strategy=transaction-429").URL, "1m"))
	if err := ask(start(t, "--redis-addr="+t.TempDir()+"/absent").URL, "100ms"); err == nil {
		t.Error("a service without Redis passed")
	}
}

func TestRunRefuses(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"no pool":    {[]string{"--redis-pool-size=0"}, "redis pool size is 0: use 1 or more"},
		"no retries": {[]string{"--max-retries=-1"}, "max retries is -1: use 0 or more"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := run(t.Context(), tc.args, servetest.Environment(nil), frozen, io.Discard)
			if err == nil || err.Error() != tc.want {
				t.Errorf("run() = %v, want %s", err, tc.want)
			}
		})
	}
}
