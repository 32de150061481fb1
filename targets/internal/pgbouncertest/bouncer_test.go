package pgbouncertest

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }

// Ten clients share the two server connections, a transaction at a time.
func TestClientsShareServerConnections(t *testing.T) {
	server := postgrestest.Shared(t)
	url := fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable&default_query_exec_mode=exec",
		postgrestest.User, Start(t, server, 2), server.Database(t))
	var conns []*pgx.Conn
	for range 10 {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		conns = append(conns, conn)
	}
	var (
		group    sync.WaitGroup
		mu       sync.Mutex
		backends = map[int]bool{}
	)
	for _, conn := range conns {
		group.Go(func() {
			var pid int
			err := conn.QueryRow(t.Context(), "SELECT pg_backend_pid() FROM pg_sleep(0.01)").Scan(&pid)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("query through PgBouncer: %v", err)
			}
			backends[pid] = true
		})
	}
	group.Wait()
	if len(backends) < 1 || len(backends) > 2 {
		t.Errorf("%d server connections, want 1 or 2", len(backends))
	}
}
