package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// testEnv has the measured services and their dependencies.
type testEnv struct {
	*bench
	fileSystem string
	closers    []func() error
	cached     *service
}

// prepare builds the programs, and finds out where the data will be.
func (b *bench) prepare(ctx context.Context) (*testEnv, error) {
	x := &testEnv{bench: b}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	if x.fileSystem = fileSystem(mounts, b.work); x.fileSystem == "tmpfs" || x.fileSystem == "ramfs" {
		return nil, fmt.Errorf("%s is in memory (%s), where nothing is durable: set TMPDIR to a folder on a disk", filepath.Dir(b.work), x.fileSystem)
	}
	for name, folder := range map[string]string{
		"shortener":   "./targets/shortener/cmd/shortener",
		"eventstore":  "./targets/eventstore/cmd/eventstore",
		"ratelimiter": "./targets/ratelimiter/cmd/ratelimiter",
		"bare":        "./hack/bench/bare",
	} {
		if err := b.compile(ctx, name, folder, "build"); err != nil {
			return nil, err
		}
	}
	return x, b.compile(ctx, "sqlite.test", "./targets/eventstore/sqlite", "test", "-c")
}

// fileSystem is that of a folder, by the kernel's list of mounts: the last one
// of the longest path.
func fileSystem(mounts []byte, folder string) string {
	found, longest := "unknown", -1
	lines := bufio.NewScanner(bytes.NewReader(mounts))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 || len(fields[1]) < longest {
			continue
		}
		if rest, ok := strings.CutPrefix(folder, fields[1]); ok && (rest == "" || rest[0] == '/' || fields[1] == "/") {
			found, longest = fields[2], len(fields[1])
		}
	}
	return found
}

// enter starts everything, and returns the rows.
func (x *testEnv) enter(ctx context.Context) ([]entry, error) {
	redis, err := x.redis(ctx)
	if err != nil {
		return nil, err
	}
	links, err := x.shorteners(ctx, redis)
	if err != nil {
		return nil, err
	}
	store, err := x.replica(ctx, "eventstore", "--data-dir", x.work, "--synchronous", "full", "--group-commit", "on")
	if err != nil {
		return nil, err
	}
	limiter, err := x.replica(ctx, "ratelimiter", "--strategy", "lua", "--capacity", "1000000000", "--refill-rate", "1000000", "--redis-addr", redis.url)
	if err != nil {
		return nil, err
	}
	bareStore, err := x.bare(ctx, store, appendOne)
	if err != nil {
		return nil, err
	}
	bareLimiter, err := x.bare(ctx, limiter, take)
	if err != nil {
		return nil, err
	}
	rows := links
	for _, n := range []int64{64, 256} {
		bare := entry{name: bareAppend, question: appendOne, connections: n, of: bareStore}
		rows = append(rows, bare, entry{name: durableAppend, question: appendOne, connections: n, of: store, bare: bare.key().name, waits: true})
	}
	bare := entry{name: bareTake, question: take, connections: connections, of: bareLimiter}
	return append(rows, bare, entry{name: limiterTake, question: take, connections: connections, of: limiter, bare: bare.key().name, behind: redis, waits: true}), nil
}

// shorteners are the rows of two replicas, one with the cache.
func (x *testEnv) shorteners(ctx context.Context, redis *service) ([]entry, error) {
	postgres, err := x.postgres(ctx)
	if err != nil {
		return nil, err
	}
	database := []string{"--postgres-shards", postgres.url, "--postgres-connections", "pool"}
	if err := execute(ctx, x.path("shortener"), append([]string{"seed", "--rows", strconv.Itoa(seeded)}, database...)...); err != nil {
		return nil, err
	}
	plain, err := x.replica(ctx, "shortener", append([]string{"serve"}, database...)...)
	if err != nil {
		return nil, err
	}
	x.cached, err = x.replica(ctx, "shortener", append([]string{"serve", "--cache", "redis", "--redis-addr", redis.url}, database...)...)
	if err != nil {
		return nil, err
	}
	for code := firstHot; code <= lastHot; code++ {
		if _, err := probe(ctx, x.cached.url, question{method: http.MethodGet, example: fmt.Sprintf("/000%d", code), status: visit.status}); err != nil {
			return nil, err
		}
	}
	handler, err := x.bare(ctx, x.cached, visit)
	if err != nil {
		return nil, err
	}
	bare := entry{name: bareRedirect, question: visit, connections: connections, of: handler}
	return []entry{
		bare,
		{name: cachedRedirect, question: visit, connections: connections, of: x.cached, bare: bare.key().name, behind: redis},
		{name: storedRedirect, question: visit, connections: connections, of: plain, bare: bare.key().name, waits: true},
		{name: createLink, question: create, connections: connections, of: x.cached, waits: true},
	}, nil
}

// allFromCache fails if a redirect that should have come from the cache did not.
func (x *testEnv) allFromCache() error {
	r, err := probe(context.Background(), x.cached.url, question{method: http.MethodGet, example: "/metrics", status: http.StatusOK})
	if err != nil {
		return err
	}
	misses, err := series(r.Body, "shortener_cache_misses_total")
	if err != nil {
		return err
	}
	failures, err := series(r.Body, "shortener_cache_failures_total")
	// Each hot link was asked for once before.
	if most := float64(lastHot - firstHot + 1); err == nil && misses+failures > most {
		err = fmt.Errorf("%.0f redirects were not answered from the cache, want none", misses+failures-most)
	}
	return err
}

// series finds the value of a series without labels in a page of metrics.
func series(page []byte, name string) (float64, error) {
	for line := range bytes.Lines(page) {
		if value, ok := bytes.CutPrefix(line, []byte(name+" ")); ok {
			return strconv.ParseFloat(string(bytes.TrimSpace(value)), 64)
		}
	}
	return 0, fmt.Errorf("metrics have no series %s", name)
}
