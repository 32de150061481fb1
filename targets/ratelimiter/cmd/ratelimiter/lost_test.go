package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	limits "github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/redis"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// admin is a connection to Redis that no limiter uses.
func admin(t *testing.T, addr string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr, Network: "unix", DisableIdentity: true})
	must.Close(t, client)
	return client
}

// do sends Redis a command that must succeed.
func do(t *testing.T, client *redis.Client, command ...any) {
	t.Helper()
	if err := client.Do(t.Context(), command...).Err(); err != nil {
		t.Fatalf("%v: %v", command, err)
	}
}

// held are the connections on which scripts wait until writes go on.
func held(t *testing.T, client *redis.Client) (ids []string) {
	t.Helper()
	list, err := client.ClientList(t.Context()).Result()
	must.Succeed(t, err)
	for line := range strings.Lines(list) {
		var id string
		var script bool
		for field := range strings.FieldsSeq(line) {
			name, value, _ := strings.Cut(field, "=")
			switch name {
			case "id":
				id = value
			case "cmd":
				script = value == "eval" || value == "evalsha"
			}
		}
		if script && strings.Contains(line, " flags=b") {
			ids = append(ids, id)
		}
	}
	return ids
}

// loseNext ends a connection on which scripts wait, if there is one.
func loseNext(t *testing.T, client *redis.Client, over <-chan struct{}) {
	t.Helper()
	await.True(t, "a script waits in Redis", func() bool {
		select {
		case <-over:
			return true
		default:
		}
		ids := held(t, client)
		if len(ids) > 0 {
			// A client that has just timed out is gone already.
			_ = client.Do(t.Context(), "CLIENT", "KILL", "ID", ids[0]).Err()
		}
		return len(ids) > 0
	})
}

// A lost connection fails all requests in flight on it. That is no reason to leave
// alone a Redis that answers the next.
func TestALostConnectionOpensNoBreaker(t *testing.T) {
	const callers = 64
	addr := redistest.Start(t)
	c, err := parseConfig([]string{"--redis-addr=" + addr, "--strategy=lua", "--capacity=1000"}, servetest.Environment(nil), io.Discard)
	must.Succeed(t, err)
	store, err := limits.Open(c.redis)
	must.Succeed(t, err)
	defer func() {
		must.Report(t, "Close", store.Close())
	}()
	// The handler looks at its clock when a request comes.
	came := make(chan struct{}, 3*callers)
	now := func() time.Time { came <- struct{}{}; return frozen() }
	handler, _, err := newServers(c, store, now, slog.New(slog.DiscardHandler))
	must.Succeed(t, err)
	var statuses [callers]int
	ask := func(i int) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api", nil))
		statuses[i] = w.Code
	}

	client := admin(t, addr)
	do(t, client, "CLIENT", "PAUSE", await.Patience.Milliseconds(), "WRITE")
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() { ask(i) })
	}
	for range callers {
		<-came
	}
	over := make(chan struct{})
	go func() {
		group.Wait()
		close(over)
	}()
	// The first two requests are in flight; the others go together when one of them
	// is lost, and are lost together.
	for range 3 {
		loseNext(t, client, over)
	}
	do(t, client, "CLIENT", "UNPAUSE")
	<-over
	if !slices.Contains(statuses[:], http.StatusServiceUnavailable) {
		t.Errorf("no request was lost with its connection: %v", statuses)
	}
	if ask(0); statuses[0] != http.StatusOK {
		t.Errorf("the next request is answered %d, want 200", statuses[0])
	}
}
