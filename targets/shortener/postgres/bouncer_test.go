package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/pgbouncertest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// behind returns the store of a new database of the server, through a PgBouncer.
func behind(t *testing.T, server *postgrestest.Server, poolSize int, settings ...string) *Store {
	t.Helper()
	s := openAs(t, Options{
		Addr: pgbouncertest.Start(t, server, poolSize, settings...), Database: server.Database(t), User: postgrestest.User,
		Connections: PgBouncer, PoolSize: 8, Now: time.Now,
	})
	must.Succeed(t, s.Prepare(t.Context()))
	return s
}

// withShortTimeout calls do with a short PgBouncer timeout for a server connection;
// at other times the wait may be long.
func withShortTimeout(t *testing.T, s *Store, do func()) {
	t.Helper()
	pgbouncertest.Set(t, s.options.Addr, "query_wait_timeout", "0.1")
	do()
	pgbouncertest.Set(t, s.options.Addr, "query_wait_timeout", "120")
}

func create(ctx context.Context, s *Store) error {
	now := time.Now()
	return s.Create(ctx, shortener.Link{Code: "code", URL: "https://example.com/", CreatedAt: now, ExpiresAt: now.Add(time.Hour)})
}

// checkRefused checks that an error is PgBouncer's, contains a text, and has a
// known outcome.
func checkRefused(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("error is %v, want %q", err, words)
	}
	if errors.Is(err, shortener.ErrOutcomeUnknown) {
		t.Errorf("outcome of %q is unknown, want nothing done", err)
	}
}

// checkEmpty checks that nothing was stored.
func checkEmpty(t *testing.T, s *Store) {
	t.Helper()
	if links, clicks, err := s.Totals(t.Context()); links != 0 || clicks != 0 || err != nil {
		t.Errorf("%d links and %d clicks are stored, %v; want none", links, clicks, err)
	}
}

// A statement that gets no server connection changed nothing.
func TestPgBouncerHasNoServerConnectionLeft(t *testing.T) {
	s := behind(t, postgrestest.Shared(t), 1)
	err := s.session(t.Context(), func(conn *pgx.Conn) error {
		return pgx.BeginFunc(t.Context(), conn, func(pgx.Tx) error {
			withShortTimeout(t, s, func() { checkRefused(t, create(t.Context(), s), "query_wait_timeout") })
			return nil
		})
	})
	must.Succeed(t, err)
	checkEmpty(t, s)
}

// A statement of a client that PgBouncer refuses changed nothing.
func TestPgBouncerHasTooManyClients(t *testing.T) {
	s := behind(t, postgrestest.Shared(t), 2, "max_client_conn = 2")
	hold(t, s, 2, func() { checkRefused(t, create(t.Context(), s), "no more connections allowed") })
	checkEmpty(t, s)
}

// A write during which the server is lost has an unknown outcome. Later statements
// changed nothing, of new clients of PgBouncer and of earlier ones.
func TestPgBouncerLosesItsServer(t *testing.T) {
	server := postgrestest.New(t, "fsync=on", "synchronous_commit=on") // for the schema to outlive the crash
	s := behind(t, server, 2)
	const failing = "server login has been failing"
	err := s.session(t.Context(), func(before *pgx.Conn) error {
		checkUnknown(t, lost(t, server, s, func(*pgx.Conn) { server.Crash(t) }), "server conn crashed")
		withShortTimeout(t, s, func() {
			await.True(t, "a new client is turned away", func() bool {
				err := create(t.Context(), s)
				return err != nil && strings.Contains(err.Error(), failing)
			})
			_, err := before.Exec(t.Context(), "INSERT INTO links (short_code, url, created_at, expires_at) VALUES ('code', '', now(), now())")
			checkRefused(t, outcome(err), failing)
			checkRefused(t, create(t.Context(), s), failing)
		})
		return nil
	})
	must.Succeed(t, err)
	server.Start(t)
	await.True(t, "PgBouncer has a server", func() bool { return s.Ping(t.Context()) == nil })
	checkEmpty(t, s)
}

// A session that Postgres itself ends may have been at anything.
func TestTerminatedSessionHasUnknownOutcome(t *testing.T) {
	server := postgrestest.Shared(t)
	err := lost(t, server, behind(t, server, 2), func(other *pgx.Conn) {
		const end = "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON oid = database WHERE datname = current_database() AND NOT granted"
		if _, err := other.Exec(t.Context(), end); err != nil {
			t.Error(err)
		}
	})
	checkUnknown(t, err, "57P01")
}

// lost returns the error of a write that waits for a table lock when the server is
// lost. Other is a connection to the server itself.
func lost(t *testing.T, server *postgrestest.Server, s *Store, lose func(other *pgx.Conn)) error {
	t.Helper()
	other, err := pgx.Connect(t.Context(), server.URL(s.options.Database))
	must.Succeed(t, err)
	defer func() { _ = other.Close(context.Background()) }() // it may be broken
	tx, err := other.Begin(t.Context())
	must.Succeed(t, err)
	if _, err := tx.Exec(t.Context(), `LOCK TABLE links IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	answer := make(chan error, 1)
	go func() { answer <- create(t.Context(), s) }()
	await.True(t, "the statement waits for the table", func() bool { return waiting(t, tx) == 1 })
	lose(other)
	return <-answer
}

// checkUnknown checks that an error is a lost connection with an unknown outcome.
func checkUnknown(t *testing.T, err error, words string) {
	t.Helper()
	if !errors.Is(err, shortener.ErrOutcomeUnknown) || !strings.Contains(err.Error(), words) {
		t.Errorf("error is %v, want one of an unknown outcome: %s", err, words)
	}
}
