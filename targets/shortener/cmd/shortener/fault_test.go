package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// durable are settings of a server that loses no acknowledged writes.
var durable = []string{"fsync=on", "synchronous_commit=on"}

// threeShards runs three servers with a database of the same name.
func threeShards(t *testing.T) (servers []*postgrestest.Server, flags []string) {
	t.Helper()
	var addrs []string
	for range 3 {
		server := postgrestest.New(t, durable...)
		servers, addrs = append(servers, server), append(addrs, server.Addr())
	}
	return servers, []string{"serve", "--clicks=sync", "--postgres-shards=" + strings.Join(addrs, ","), "--postgres-database=postgres", "--postgres-connections=pool", "--postgres-pool-size=8"}
}

// byShard creates a link on each shard.
func byShard(t *testing.T, r replica) [3]string {
	t.Helper()
	ring := shortener.NewRing("shard0", "shard1", "shard2")
	var codes [3]string
	for found := 0; found < 3; {
		code := shorten(t, r, "https://example.com/")
		if owner := ring.Owner(code); codes[owner] == "" {
			codes[owner] = code
			found++
		}
	}
	return codes
}

func visits(t *testing.T, r replica, codes [3]string) [3]int {
	t.Helper()
	var statuses [3]int
	for i, code := range codes {
		statuses[i] = get(t, r.URL+"/"+code).status
	}
	return statuses
}

// A shard that is down takes its own links with it, and no others; when it is
// back everything is as before.
func TestServeWithFailedShard(t *testing.T) {
	servers, flags := threeShards(t)
	r := start(t, flags...)
	awaitReady(t, r)
	codes := byShard(t, r)
	before, _, err := totals(r)
	must.Succeed(t, err)

	servers[1].Crash(t)
	same.As(t, "redirects while shard1 is down", [3]int{302, 503, 302}, visits(t, r, codes))
	// Awaited, since a check has a second, and a busy machine may take more.
	await.True(t, "/ready names the shard that is down", func() bool {
		return get(t, r.URL+"/ready") == answer{status: 200, body: "{\"status\":\"degraded\",\"down\":[\"shard1\"]}\n"}
	})
	if got := get(t, r.URL+"/stats"); got.status != 503 {
		t.Errorf("/stats while shard1 is down = %d %s; want no sum of a part", got.status, got.body)
	}
	// A replica that starts now serves the other shards, and this one later.
	late := start(t, flags...)
	await.True(t, "the late replica serves two shards", func() bool {
		return visits(t, late, codes) == [3]int{302, 503, 302}
	})

	servers[1].Start(t)
	for _, replica := range []replica{r, late} {
		await.True(t, "every link leads on again", func() bool {
			return visits(t, replica, codes) == [3]int{302, 302, 302}
		})
		awaitReady(t, replica)
	}
	if after, _, err := totals(r); err != nil || after != before {
		t.Errorf("%d links, %v; want %d as before", after, err, before)
	}
}

func TestServeWithoutShards(t *testing.T) {
	r := start(t, "serve", "--postgres-shards=127.0.0.1:1")
	for path, want := range map[string]int{"/health": 200, "/version": 200, "/ready": 503, "/stats": 503, "/mine": 503} {
		if got := get(t, r.URL+path); got.status != want {
			t.Errorf("%s = %d %s, want %d", path, got.status, got.body, want)
		}
	}
}

// A Postgres that keeps its data no longer than its pod comes back empty: replicas
// that run make the schema anew, as one that starts does, and say until then that they
// are not ready.
func TestDatabaseComesBackEmpty(t *testing.T) {
	server := postgrestest.New(t)
	r := start(t, append([]string{"serve", "--clicks=sync"}, onShards(server)...)...)
	awaitReady(t, r)
	shorten(t, r, "https://example.com/lost")
	execute(t, server, `DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
	if got := get(t, r.URL+"/stats"); got.status != 503 {
		t.Errorf("/stats without tables = %d %s, want 503", got.status, got.body)
	}
	await.True(t, "links are created again", func() bool {
		_, err := tryShorten(r, "https://example.com/")
		return err == nil
	})
	awaitReady(t, r)
	if links, _, err := totals(r); err != nil || links != 1 {
		t.Errorf("%d links, %v; want 1", links, err)
	}
}

func execute(t *testing.T, server *postgrestest.Server, statements string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.URL("postgres"))
	must.Succeed(t, err)
	defer conn.Close(t.Context())
	must.Succeed(t, conn.PgConn().Exec(t.Context(), statements).Close())
}

// acknowledged collects the successful replies of concurrent clients.
type acknowledged struct {
	mu       sync.Mutex
	codes    map[string]string // to the URL that each must lead to
	clicks   int
	unknown  int // requests that ended without an answer
	progress chan struct{}
}

// use creates links and visits each once, until an answer does not come.
func (a *acknowledged) use(r replica, worker int) {
	for i := 0; ; i++ {
		url := fmt.Sprintf("https://example.com/%d/%d", worker, i)
		code, err := tryShorten(r, url)
		a.mu.Lock()
		if err == nil {
			a.codes[code] = url
		}
		a.mu.Unlock()
		var visit answer
		if err == nil {
			visit, err = send(http.MethodGet, r.URL+"/"+code, "")
		}
		a.mu.Lock()
		if err != nil || visit.status != http.StatusFound {
			a.unknown++
			a.mu.Unlock()
			return
		}
		a.clicks++
		a.mu.Unlock()
		a.progress <- struct{}{}
	}
}

// runUntil uses the replica with eight workers; after n rounds it calls fault,
// and returns when no worker gets answers any more.
func runUntil(r replica, n int, fault func()) *acknowledged {
	a := &acknowledged{codes: map[string]string{}, progress: make(chan struct{})}
	var workers sync.WaitGroup
	for worker := range 8 {
		workers.Go(func() { a.use(r, worker) })
	}
	go func() {
		workers.Wait()
		close(a.progress)
	}()
	rounds := 0
	for range a.progress {
		if rounds++; rounds == n {
			go fault()
		}
	}
	return a
}

// audit compares the stored data with the acknowledged requests: each acknowledged
// link has its URL, and the rest is at most the requests without an answer.
func (a *acknowledged) audit(t *testing.T, r replica) {
	t.Helper()
	awaitReady(t, r)
	var links, clicks int
	// Awaited, as are the redirects: after a crash of the database the pool has
	// broken connections, each of which fails one request.
	await.True(t, "links and clicks are counted", func() (ok bool) {
		var err error
		links, clicks, err = totals(r)
		return err == nil
	})
	if links < len(a.codes) || links > len(a.codes)+a.unknown {
		t.Errorf("%d links stored, want %d to %d more", links, len(a.codes), a.unknown)
	}
	if clicks < a.clicks || clicks > a.clicks+a.unknown {
		t.Errorf("%d clicks stored, want %d to %d more", clicks, a.clicks, a.unknown)
	}
	for code, url := range a.codes {
		await.True(t, code+" leads to "+url, func() bool { return get(t, r.URL+"/"+code) == answer{302, url, ""} })
	}
	if len(a.codes) < 200 || a.unknown != 8 {
		t.Errorf("%d links were acknowledged, %d workers ended without an answer: the fault came too early or not at all", len(a.codes), a.unknown)
	}
}

// A replica that is killed while it creates links has lost none that it
// acknowledged.
func TestReplicaKillDuringWrites(t *testing.T) {
	flags := append([]string{"serve", "--clicks=sync"}, database(t)...)
	r := program(t, flags...)
	awaitReady(t, r)
	killed := make(chan error, 1)
	a := runUntil(r, 200, func() { killed <- r.Stop() })
	must.Succeed(t, <-killed)
	a.audit(t, program(t, flags...))
}

// Nor has one that is killed while the queue of its clicks is down: each click is
// in the database when its redirect is answered.
func TestReplicaKillWithoutQueue(t *testing.T) {
	for name, queue := range map[string][]string{
		"redis": {"--clicks=redis", "--redis-addr=" + t.TempDir() + "/absent"},
		"kafka": {"--clicks=kafka", "--kafka-brokers=127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			const visits = 20
			flags := append([]string{"serve"}, database(t)...)
			r := program(t, append(flags, queue...)...)
			await.True(t, "the replica is ready, and says what is down", func() bool {
				return get(t, r.URL+"/ready") == answer{status: 200, body: fmt.Sprintf("{\"status\":\"degraded\",\"down\":[%q]}\n", name)}
			})
			code := shorten(t, r, "https://example.com/")
			for range visits {
				if got := get(t, r.URL+"/"+code); got.status != http.StatusFound {
					t.Errorf("redirect without a queue = %d %s", got.status, got.body)
				}
			}
			must.Succeed(t, r.Stop())
			after := start(t, flags...)
			awaitReady(t, after)
			if _, clicks, err := totals(after); err != nil || clicks != visits {
				t.Errorf("%d clicks are stored, %v; want %d", clicks, err, visits)
			}
		})
	}
}

// Nor has a database that is.
func TestDatabaseCrashDuringWrites(t *testing.T) {
	server := postgrestest.New(t, durable...)
	r := start(t, "serve", "--clicks=sync", "--postgres-shards="+server.Addr(), "--postgres-database=postgres", "--postgres-connections=pool", "--postgres-pool-size=8")
	awaitReady(t, r)
	crashed := make(chan struct{})
	a := runUntil(r, 200, func() {
		defer close(crashed)
		server.Crash(t)
	})
	<-crashed
	server.Start(t)
	a.audit(t, r)
}
