package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// onShards are the flags for the databases of servers.
func onShards(servers ...*postgrestest.Server) []string {
	var addrs []string
	for _, server := range servers {
		addrs = append(addrs, server.Addr())
	}
	return []string{"--postgres-shards=" + strings.Join(addrs, ","), "--postgres-database=postgres", "--postgres-connections=pool", "--postgres-pool-size=4"}
}

// refused runs a command that has to end by itself, and returns its error.
func refused(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	err := run(ctx, invocation{args: args, getenv: servetest.Environment(nil), now: time.Now, out: io.Discard})
	if err == nil {
		t.Fatalf("%v: ended without an error, and by itself: %v", args, ctx.Err() == nil)
	}
	return err.Error()
}

// Another number of shards would look for most links where they are not: no command
// starts with it, and none records anything in the other database.
func TestCommandsRefuseAnotherNumberOfShards(t *testing.T) {
	first, second := postgrestest.New(t), postgrestest.New(t)
	r := start(t, append([]string{"serve"}, onShards(first)...)...)
	awaitReady(t, r)
	code := shorten(t, r, "https://example.com/kept")

	const wayOut = ": set --postgres-shards (POSTGRES_SHARDS; in the chart postgres.shards) to the shards with which its links were stored, in their order, or begin with empty databases"
	want := "shard0 at " + first.Addr() + ": prepare schema: database is another shard: it was made as shard0 of 1, and is configured as shard0 of 2" + wayOut
	for _, command := range [][]string{
		{"serve", "--port=0"}, {"seed"}, {"clicks", "--port=0", "--clicks=redis", "--redis-addr=" + redistest.Start(t)},
	} {
		same.As(t, command[0]+" with two shards", want, refused(t, append(command, onShards(first, second)...)...))
	}
	same.As(t, "what the replica that runs answers", answer{302, "https://example.com/kept", ""}, get(t, r.URL+"/"+code), cmp.AllowUnexported(answer{}))

	awaitReady(t, start(t, append([]string{"serve"}, onShards(second)...)...)) // which nothing was recorded in
}

// A database without a record is given one when every shard has been asked, so that
// a shard that is down cannot refuse the number later.
func TestNewShardsWaitForEachOther(t *testing.T) {
	servers := []*postgrestest.Server{postgrestest.New(t), postgrestest.New(t)}
	servers[1].Crash(t)
	r := start(t, append([]string{"serve"}, onShards(servers...)...)...)
	await.True(t, "the schema of the shard that is there is made", func() bool { return hasTables(t, servers[0]) })
	a, err := send(http.MethodPost, r.URL+"/urls", `{"url":"https://example.com/"}`)
	must.Succeed(t, err)
	same.As(t, "POST /urls", 503, a.status)
	servers[1].Start(t)
	awaitReady(t, r)
}

// hasTables reports whether a server has the schema.
func hasTables(t *testing.T, server *postgrestest.Server) bool {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.URL("postgres"))
	must.Succeed(t, err)
	defer conn.Close(t.Context())
	var found bool
	must.Succeed(t, conn.QueryRow(t.Context(), `SELECT to_regclass('shard') IS NOT NULL`).Scan(&found))
	return found
}

// Two names of one database would count each of its links twice.
func TestOneDatabaseUnderTwoNames(t *testing.T) {
	server := postgrestest.New(t)
	flags := onShards(server)
	flags[0] += ",[::ffff:" + strings.Replace(server.Addr(), ":", "]:", 1)
	if got := refused(t, append([]string{"seed"}, flags...)...); !strings.Contains(got, "it was made as shard0 of 2, and is configured as shard1 of 2") {
		t.Errorf("seed = %s", got)
	}
}
