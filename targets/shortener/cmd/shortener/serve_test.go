package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/kafkatest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/pgbouncertest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// database returns the flags for a new database of the shared server.
func database(t *testing.T) []string {
	t.Helper()
	server := postgrestest.Shared(t)
	return []string{"--postgres-shards=" + server.Addr(), "--postgres-database=" + server.Database(t), "--postgres-connections=pool", "--postgres-pool-size=8"}
}

// metric is the value of a series at /metrics.
func metric(t *testing.T, r replica, series string) int {
	t.Helper()
	return servetest.Counted(t, get(t, r.URL+"/metrics").body, series)
}

// Two replicas serve one set of links, and everything is counted exactly once.
func TestReplicasShareLinksAndCountEveryVisit(t *testing.T) {
	args := append([]string{"serve", "--clicks=sync", "--base-url=http://sho.rt/"}, database(t)...)
	replicas := []replica{start(t, args...), start(t, args...)}
	for _, r := range replicas {
		awaitReady(t, r)
	}
	a, err := send(http.MethodPost, replicas[0].URL+"/urls", `{"url":"https://example.com/a","alias":"mine"}`)
	must.Succeed(t, err)
	if want := "{\"shortUrl\":\"http://sho.rt/mine\",\"code\":\"mine\"}\n"; a.status != 201 || a.body != want {
		t.Errorf("POST /urls = %d %s, want 201 %s", a.status, a.body, want)
	}
	for i := range 10 {
		if got := get(t, replicas[i%2].URL+"/mine"); got.status != 302 || got.location != "https://example.com/a" {
			t.Errorf("GET /mine = %+v", got)
		}
	}
	if got := get(t, replicas[1].URL+"/nothing"); got.status != 404 {
		t.Errorf("GET /nothing = %d, want 404", got.status)
	}
	for _, r := range replicas {
		if links, clicks, err := totals(r); err != nil || links != 1 || clicks != 10 {
			t.Errorf("/stats = %d links, %d clicks, %v; want 1, 10", links, clicks, err)
		}
	}
	for series, want := range map[string][2]int{
		"shortener_redirects_total":                                  {5, 5},
		"shortener_clicks_stored_total":                              {5, 5},
		"shortener_links_created_total":                              {1, 0},
		`shortener_requests_total{code="3xx",route="redirect"}`:      {5, 5},
		`shortener_requests_total{code="4xx",route="redirect"}`:      {0, 1},
		`shortener_requests_total{code="2xx",route="create"}`:        {1, 0},
		`shortener_request_duration_seconds_count{route="redirect"}`: {5, 6},
	} {
		got := [2]int{metric(t, replicas[0], series), metric(t, replicas[1], series)}
		same.As(t, series, want, got)
	}
}

func TestVersionReportsVariant(t *testing.T) {
	redis := redistest.Start(t)
	tests := map[string]struct {
		args []string
		want map[string]any
	}{
		"as it comes": {nil, map[string]any{
			"version": "dev", "api": "canonical", "replicas": 1.0, "shards": 1.0, "connections": "unlimited", "linkIndex": true,
			"codeLength": 6.0, "linkTtl": "8760h0m0s", "cache": "off", "clicks": "off", "rateLimit": false,
		}},
		"everything": {
			[]string{
				"--api=seed-002", "--replicas=4", "--postgres-shards=127.0.0.1:1,127.0.0.1:2,127.0.0.1:3", "--postgres-connections=pgbouncer", "--postgres-pool-size=7",
				"--link-index=off", "--code-length=3", "--link-ttl=1h", "--cache=redis", "--redis-addr=" + redis, "--cache-ttl=1m", "--cache-negative-ttl=1s",
				"--clicks=redis", "--rate-limit=on", "--rate-limit-per-second=1.5", "--rate-limit-burst=3",
			}, map[string]any{
				"version": "dev", "api": "seed-002", "replicas": 4.0, "shards": 3.0, "connections": "pgbouncer", "poolSize": 7.0, "linkIndex": false,
				"codeLength": 3.0, "linkTtl": "1h0m0s", "cache": "redis", "cacheTtl": "1m0s", "cacheNegativeTtl": "1s",
				"clicks": "redis", "rateLimit": true, "rateLimitPerSecond": 1.5, "rateLimitBurst": 3.0,
			}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := start(t, append([]string{"serve"}, tt.args...)...)
			var got map[string]any
			must.Succeed(t, json.Unmarshal([]byte(get(t, r.URL+"/version").body), &got))
			if id, _ := got["instanceId"].(string); !regexp.MustCompile(`.-[a-z0-9]{6}$`).MatchString(id) {
				t.Errorf("instanceId = %q, want host-random", id)
			}
			delete(got, "instanceId")
			same.As(t, "/version", tt.want, got)
		})
	}
}

// Every way to hold connections and every queue leads to the same counts.
func TestVariantsCountTheSame(t *testing.T) {
	const links, visits = 5, 4
	queues := map[string]func(*testing.T) []string{
		"sync":  func(*testing.T) []string { return []string{"--clicks=sync"} },
		"redis": func(t *testing.T) []string { return []string{"--clicks=redis", "--redis-addr=" + redistest.Start(t)} },
		"kafka": func(t *testing.T) []string {
			return []string{"--clicks=kafka", "--kafka-brokers=" + kafkatest.Shared(t).Addr(), "--kafka-topic=clicks-command"}
		},
	}
	for name, queue := range queues {
		t.Run(name, func(t *testing.T) {
			args := append(queue(t), database(t)...)
			if name != "sync" {
				args[len(args)-4] = "--postgres-shards=" + pgbouncertest.Start(t, postgrestest.Shared(t), 3)
				args[len(args)-2] = "--postgres-connections=pgbouncer"
				consumer := start(t, append([]string{"clicks"}, args...)...)
				awaitReady(t, consumer)
			}
			if name == "redis" {
				args = append(args, "--cache=redis")
			}
			r := start(t, append([]string{"serve"}, args...)...)
			awaitReady(t, r)
			for range links {
				code := shorten(t, r, "https://example.com/")
				for range visits {
					if got := get(t, r.URL+"/"+code); got.status != 302 {
						t.Errorf("GET /%s = %d %s", code, got.status, got.body)
					}
				}
			}
			await.True(t, "all clicks are counted", func() bool {
				_, clicks, err := totals(r)
				return err == nil && clicks >= links*visits
			})
			if gotLinks, clicks, err := totals(r); err != nil || gotLinks != links || clicks != links*visits {
				t.Errorf("/stats = %d links, %d clicks, %v; want %d, %d", gotLinks, clicks, err, links, links*visits)
			}
			if name == "redis" {
				hits, misses := metric(t, r, "shortener_cache_hits_total"), metric(t, r, "shortener_cache_misses_total")
				failures := metric(t, r, "shortener_cache_failures_total")
				if hits+misses+failures != links*visits {
					t.Errorf("%d hits, %d misses and %d failures of the cache; want %d in all", hits, misses, failures, links*visits)
				}
				// On a busy machine Redis may be too slow for a cache, which
				// reports that.
				if failures == 0 && hits != links*visits {
					t.Errorf("%d cache hits, want %d: a link is cached when it is created", hits, links*visits)
				}
			}
		})
	}
}

func TestRateLimitOfAReplica(t *testing.T) {
	r := start(t, append([]string{"serve", "--rate-limit=on", "--rate-limit-per-second=0.001", "--rate-limit-burst=2"}, database(t)...)...)
	awaitReady(t, r)
	var got []int
	for range 3 {
		got = append(got, get(t, r.URL+"/nothing").status)
	}
	same.As(t, "replies", []int{404, 404, 429}, got)
}

// What seed says it stores is what a replica finds.
func TestSeedIsFound(t *testing.T) {
	flags := database(t)
	var out strings.Builder
	seeding := append([]string{"seed", "--rows=20005", "--code-length=4"}, flags...)
	for _, want := range []string{
		"seeded 20000 of 20005 links, 20000 of them new, in 0.0s\nseeded 20005 of 20005 links, 20005 of them new, in 0.0s\n",
		"seeded 20000 of 20005 links, 0 of them new, in 0.0s\nseeded 20005 of 20005 links, 0 of them new, in 0.0s\n",
	} {
		out.Reset()
		must.Succeed(t, run(t.Context(), invocation{args: seeding, getenv: servetest.Environment(nil), now: midnight, out: &out}))
		_, progress, _ := strings.Cut(out.String(), "}\n") // after the line that shard0 is prepared
		same.As(t, "progress", want, progress)
	}
	r := start(t, append([]string{"serve"}, flags...)...)
	awaitReady(t, r)
	seeded := shortener.Seeding{Rows: 20005, Seed: 1, CodeLength: 4}
	for _, i := range []int{0, 62, 20004} {
		l := seeded.Link(i)
		if got := get(t, r.URL+"/"+l.Code); got.status != 302 || got.location != l.URL {
			t.Errorf("GET /%s = %+v, want a redirect to %s", l.Code, got, l.URL)
		}
	}
	if links, _, err := totals(r); err != nil || links != 20005 {
		t.Errorf("/stats = %d links, %v; want 20005", links, err)
	}
}

// A code that was looked up before it was seeded is found afterwards, though a cache
// remembers that it had no link.
func TestSeededLinkIsFoundAfterItWasMissed(t *testing.T) {
	flags := append([]string{"--cache=redis", "--redis-addr=" + redistest.Start(t)}, database(t)...)
	r := start(t, append([]string{"serve"}, flags...)...)
	awaitReady(t, r)
	same.As(t, "status before", 404, get(t, r.URL+"/000003").status)
	must.Succeed(t, run(t.Context(), invoke(nil, append([]string{"seed", "--rows=5"}, flags...)...)))
	same.As(t, "status after", 302, get(t, r.URL+"/000003").status)
}

// The command checks what it serves, and knows when it is not there.
func TestCheckPassesWhatRunsAlone(t *testing.T) {
	r := start(t, append([]string{"serve"}, database(t)...)...)
	awaitReady(t, r)
	must.Report(t, "a service that runs", run(t.Context(), invoke(nil, "check", "--url="+r.URL)))
	must.Succeed(t, r.Stop())
	if err := run(t.Context(), invoke(nil, "check", "--url="+r.URL, "--timeout=10ms")); err == nil {
		t.Error("a service that ended passed")
	}
}
