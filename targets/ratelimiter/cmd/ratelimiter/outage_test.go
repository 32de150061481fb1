package main

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// waitTimeout is how long the limiter may take to find that Redis is back. It takes
// a second or two on an idle machine.
const waitTimeout = time.Minute

// What /ready says.
const (
	withStore    = `{"status":"ready"}` + "\n"
	withoutStore = `{"status":"ready, without the store"}` + "\n"
)

// answers counts replies by what they say: granted, unchecked, denied, failed, or
// a status that none should have. Failed is a reply that says when to come back.
type answers map[string]int

func hit(ctx context.Context, t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api", nil)
	must.Succeed(t, err)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Errorf("no reply: %v", err)
		return "none"
	}
	defer resp.Body.Close()
	switch {
	case resp.Header.Get("X-RateLimit-Unchecked") != "":
		return "unchecked"
	case resp.StatusCode == http.StatusOK:
		return "granted"
	case resp.StatusCode == http.StatusTooManyRequests:
		return "denied"
	case resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") == "1":
		return "failed"
	}
	return resp.Status
}

// together sends n requests at once.
func together(t *testing.T, url string, n int) answers {
	t.Helper()
	var (
		mu    sync.Mutex
		group sync.WaitGroup
		got   = answers{}
	)
	for range n {
		group.Go(func() {
			answer := hit(t.Context(), t, url)
			mu.Lock()
			defer mu.Unlock()
			got[answer]++
		})
	}
	group.Wait()
	return got
}

// awaitRedis sends requests until the limiter has asked Redis, and returns that
// reply.
func awaitRedis(t *testing.T, url string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		if answer := hit(ctx, t, url); answer == "granted" || answer == "denied" {
			return answer
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("Redis is back, and the limiter has not asked it for %s", waitTimeout)
		}
	}
}

// awaitReady polls until the replica has reached Redis and is ready.
func awaitReady(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		status, body := get(t, url+"/ready", "")
		if status == http.StatusOK && body == withStore {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("not ready after %s: %d %s", waitTimeout, status, body)
		}
	}
}

// Whether Redis is gone or hangs, every request is answered, as the policy says,
// by a replica that stays in service; and when it is back the bucket is what it
// was: of five tokens no more than five are granted.
func TestRedisFails(t *testing.T) {
	outages := map[string]struct {
		begin, end func(*redistest.Server, testing.TB)
	}{
		"crash": {(*redistest.Server).Crash, (*redistest.Server).Start},
		"hang":  {(*redistest.Server).Hang, (*redistest.Server).Resume},
	}
	for policy, answer := range map[string]string{"closed": "failed", "open": "unchecked"} {
		for name, outage := range outages {
			t.Run(policy+"/"+name, func(t *testing.T) {
				t.Parallel()
				redis := redistest.New(t)
				url := startReplica(t, "--redis-addr="+redis.Addr(), "--strategy=lua-seconds",
					"--capacity=5", "--refill-rate=0.01", "--on-store-failure="+policy)
				if diff := cmp.Diff(answers{"granted": 3}, together(t, url, 3)); diff != "" {
					t.Fatalf("before (-want +got):\n%s", diff)
				}
				awaitReady(t, url)
				outage.begin(redis, t)
				same.As(t, "without Redis", answers{answer: 30}, together(t, url, 30))
				if status, body := get(t, url+"/ready", ""); status != http.StatusOK || body != withoutStore {
					t.Errorf("/ready without Redis: %d %s, want 200 %s", status, body, withoutStore)
				}
				outage.end(redis, t)
				after := answers{awaitRedis(t, url): 1}
				for range 20 {
					after[hit(t.Context(), t, url)]++
				}
				// Those whose replies were lost may have taken tokens too.
				if after["granted"] > 2 || after["denied"] == 0 {
					t.Errorf("after it: %v; want at most the 2 tokens that were left granted, the rest denied", after)
				}
			})
		}
	}
}
