package main

import (
	"net/http"
	"sync"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What /ready says.
const (
	withStore    = `{"status":"ready"}`
	withoutStore = `{"status":"ready, without the store"}`
)

// answers counts replies by what they say: granted, unchecked, denied, failed, or
// a status that none should have. Failed is a reply that says when to come back.
type answers map[string]int

func hit(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api", nil)
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
			answer := hit(t, url)
			mu.Lock()
			defer mu.Unlock()
			got[answer]++
		})
	}
	group.Wait()
	return got
}

// Whether Redis is gone or hangs, every request is answered, as the policy says,
// by a replica that stays in service; and when it is back the bucket is what it
// was: of five tokens no more than five are granted.
func TestOutagesOfRedisAreAnsweredByPolicy(t *testing.T) {
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
				url := start(t, "--redis-addr="+redis.Addr(), "--strategy=lua-seconds",
					"--capacity=5", "--refill-rate=0.01", "--on-store-failure="+policy).URL
				same.As(t, "before", answers{"granted": 3}, together(t, url, 3))
				await.True(t, "the replica is ready", func() bool {
					status, body := get(t, url+"/ready", "")
					return status == http.StatusOK && body == withStore
				})
				outage.begin(redis, t)
				same.As(t, "without Redis", answers{answer: 30}, together(t, url, 30))
				if status, body := get(t, url+"/ready", ""); status != http.StatusOK || body != withoutStore {
					t.Errorf("/ready without Redis: %d %s, want 200 %s", status, body, withoutStore)
				}
				outage.end(redis, t)
				first := ""
				await.True(t, "the limiter asks Redis again", func() bool {
					first = hit(t, url)
					return first == "granted" || first == "denied"
				})
				after := answers{first: 1}
				for range 20 {
					after[hit(t, url)]++
				}
				// Those whose replies were lost may have taken tokens too.
				if after["granted"] > 2 || after["denied"] == 0 {
					t.Errorf("after it: %v; want at most the 2 tokens that were left granted, the rest denied", after)
				}
			})
		}
	}
}
