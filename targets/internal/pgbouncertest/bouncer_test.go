package pgbouncertest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// waitTimeout is how long PgBouncer may take to hear of ten queries; it takes
// milliseconds on an idle machine.
const waitTimeout = time.Minute

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must.Succeed(t, err)
	// The test's context has ended by now.
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// awaitPool asks PgBouncer until so many clients of a database have a server
// connection, and so many wait for one.
func awaitPool(t *testing.T, address, database string, active, waiting int) {
	t.Helper()
	conn := connect(t, console(address))
	again, enough := time.NewTicker(10*time.Millisecond), time.After(waitTimeout)
	defer again.Stop()
	for {
		rows, err := conn.Query(t.Context(), "SHOW POOLS")
		must.Succeed(t, err)
		pools, err := pgx.CollectRows(rows, pgx.RowToMap)
		must.Succeed(t, err)
		for _, pool := range pools {
			if fmt.Sprintln(pool["database"], pool["cl_active"], pool["cl_waiting"]) == fmt.Sprintln(database, active, waiting) {
				return
			}
		}
		select {
		case <-again.C:
		case <-enough:
			t.Fatalf("no %d active and %d waiting clients of %s after %s: %v", active, waiting, database, waitTimeout, pools)
		}
	}
}

// Ten clients share the two server connections, a transaction at a time: with
// all of them asking two are served and eight wait, and those two serve them all.
func TestClientsShareServerConnections(t *testing.T) {
	server := postgrestest.Shared(t)
	database, address := server.Database(t), Start(t, server, 2)
	// Active clients wait for this lock, so that none is done before all ask.
	gate := connect(t, server.URL(database))
	if _, err := gate.Exec(t.Context(), "SELECT pg_advisory_lock(1)"); err != nil {
		t.Fatal(err)
	}
	url := fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable&default_query_exec_mode=exec", postgrestest.User, address, database)
	var (
		group    sync.WaitGroup
		mu       sync.Mutex
		backends = map[int]bool{}
	)
	t.Cleanup(group.Wait)
	for range 10 {
		conn := connect(t, url)
		group.Go(func() {
			var pid int
			err := conn.QueryRow(t.Context(), "SELECT pg_backend_pid() FROM pg_advisory_xact_lock_shared(1)").Scan(&pid)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("query through PgBouncer: %v", err)
			}
			backends[pid] = true
		})
	}
	awaitPool(t, address, database, 2, 8)
	if _, err := gate.Exec(t.Context(), "SELECT pg_advisory_unlock(1)"); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	if len(backends) != 2 {
		t.Errorf("%d server connections, want 2", len(backends))
	}
}
