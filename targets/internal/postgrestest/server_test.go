package postgrestest

import (
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func query(t *testing.T, s *Server, database, statement string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL(database))
	must.Succeed(t, err)
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), statement)
	must.Succeed(t, err)
	values, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must.Succeed(t, err)
	return strings.Join(values, ",")
}

func TestDatabasesAreIsolatedAndDropped(t *testing.T) {
	server := Shared(t)
	var names []string
	t.Run("two", func(t *testing.T) {
		names = []string{server.Database(t), server.Database(t)}
		query(t, server, names[0], "CREATE TABLE marks (mark text)")
		same.As(t, "the other database has the table as well", "", query(t, server, names[1], "SELECT relname::text FROM pg_class WHERE relname = 'marks'"))
	})
	left := query(t, server, "postgres", "SELECT datname::text FROM pg_database WHERE datname LIKE 'test%'")
	for _, name := range names {
		if strings.Contains(left+",", name+",") {
			t.Errorf("%s outlived its test: %s", name, left)
		}
	}
}

func TestCommitSurvivesCrash(t *testing.T) {
	server := New(t, "fsync=on", "synchronous_commit=on")
	database := server.Database(t)
	addr := server.Addr()
	query(t, server, database, "CREATE TABLE marks (mark text)")
	query(t, server, database, "INSERT INTO marks VALUES ('kept')")
	server.Crash(t)
	if conn, err := pgx.Connect(t.Context(), server.URL(database)); err == nil {
		conn.Close(t.Context())
		t.Fatal("a crashed server answers")
	}
	server.Start(t)
	same.As(t, "marks after a crash", "kept", query(t, server, database, "SELECT mark FROM marks"))
	same.As(t, "address after a crash", addr, server.Addr())
}

func TestSettingsOverrideDefaults(t *testing.T) {
	server := New(t, "max_connections=17")
	same.As(t, "max_connections", "17", query(t, server, "postgres", "SHOW max_connections"))
}
