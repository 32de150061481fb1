package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// unsent is an error from before the statement was sent.
type unsent struct{ error }

func (unsent) SafeToRetry() bool { return true }

// An outcome is unknown only if the statement may have reached the server and had
// no answer.
func TestErrorsSayWhetherAnythingWasWritten(t *testing.T) {
	tests := map[string]struct {
		err     error
		unknown bool
	}{
		"none":                  {},
		"refused by the server": {err: fmt.Errorf("insert: %w", &pgconn.PgError{Severity: "ERROR", Code: "53200"})},
		"rolled back":           {err: &pgconn.PgError{Severity: "ERROR", Code: "40001"}},
		"in another language":   {err: &pgconn.PgError{Severity: "FEHLER", SeverityUnlocalized: "ERROR", Code: "40001"}},
		"never sent":            {err: unsent{io.EOF}},
		"too late":              {err: fmt.Errorf("insert: %w", context.DeadlineExceeded), unknown: true},
		"cut off":               {err: io.ErrUnexpectedEOF, unknown: true},
		"cut off from PgBouncer's server": {
			err:     fmt.Errorf("insert: %w", &pgconn.PgError{Severity: "FATAL", Code: "08P01", Message: "server conn crashed?"}),
			unknown: true,
		},
		"connection failure": {err: &pgconn.PgError{Severity: "ERROR", Code: "08006"}, unknown: true},
		"completion unknown": {err: &pgconn.PgError{Severity: "ERROR", Code: "40003"}, unknown: true},
		"no severity":        {err: &pgconn.PgError{Code: "40001"}, unknown: true},
		"the session ends":   {err: &pgconn.PgError{Severity: "FATAL", Code: "57P01"}, unknown: true},
		"in another language, the session ends": {
			err: &pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "FATAL", Code: "57P01"}, unknown: true,
		},
		"the disk fails at the commit":  {err: &pgconn.PgError{Severity: "PANIC", Code: "53100"}, unknown: true},
		"waited for PgBouncer's server": {err: &pgconn.PgError{Severity: "FATAL", Code: "08P01", Message: "query_wait_timeout"}},
		"PgBouncer has no server": {err: &pgconn.PgError{
			Severity: "FATAL", Code: "08P01", Message: "server login has been failing, try again later (server_login_retry)",
		}},
		"a later PgBouncer has no server": {err: &pgconn.PgError{
			Severity: "FATAL", Code: "08P01", Message: "server login has been failing, cached error: connect failed (server_login_retry)",
		}},
		"PgBouncer's server took too long": {err: &pgconn.PgError{Severity: "FATAL", Code: "08P01", Message: "query timeout"}, unknown: true},
		"waited, says another":             {err: &pgconn.PgError{Severity: "FATAL", Code: "57P01", Message: "query_wait_timeout"}, unknown: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := outcome(tc.err)
			if errors.Is(got, shortener.ErrOutcomeUnknown) != tc.unknown || !errors.Is(got, tc.err) {
				t.Errorf("outcome = %v, want one that is unknown: %v", got, tc.unknown)
			}
		})
	}
}

// Of statements without an answer, only writes have an unknown outcome.
func TestOnlyWritesHaveUnknownOutcome(t *testing.T) {
	s := open(t, postgrestest.Shared(t).Addr(), nil)
	now := time.Now()
	statements := map[string]struct {
		ask     func(context.Context) error
		unknown bool
	}{
		"find":    {ask: func(ctx context.Context) error { _, err := s.Find(ctx, "code"); return err }},
		"details": {ask: func(ctx context.Context) error { _, _, err := s.Details(ctx, "code"); return err }},
		"totals":  {ask: func(ctx context.Context) error { _, _, err := s.Totals(ctx); return err }},
		"create": {unknown: true, ask: func(ctx context.Context) error {
			return s.Create(ctx, shortener.Link{Code: "code", URL: "https://example.com/", CreatedAt: now, ExpiresAt: now.Add(time.Hour)})
		}},
		"add clicks": {unknown: true, ask: func(ctx context.Context) error {
			_, err := s.AddClicks(ctx, []shortener.Click{{ID: "00000000-0000-4000-8000-000000000000", Code: "code", At: now}})
			return err
		}},
	}
	for name, statement := range statements {
		t.Run(name, func(t *testing.T) {
			err := interrupted(t, s, statement.ask)
			if err == nil || errors.Is(err, shortener.ErrOutcomeUnknown) != statement.unknown {
				t.Errorf("error is %v, want one of an outcome that is unknown: %v", err, statement.unknown)
			}
		})
	}
}

// interrupted returns the error of a statement on links that is canceled while it
// waits for a table lock.
func interrupted(t *testing.T, s *Store, ask func(context.Context) error) (err error) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	locked := s.session(t.Context(), func(conn *pgx.Conn) error {
		return pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `LOCK TABLE links IN ACCESS EXCLUSIVE MODE`); err != nil {
				return err
			}
			answer := make(chan error, 1)
			go func() { answer <- ask(ctx) }()
			await.True(t, "the statement waits for the table", func() bool { return waiting(t, tx) == 1 })
			leave()
			err = <-answer
			return nil
		})
	})
	if locked != nil {
		t.Fatal(locked)
	}
	return err
}

// waiting is how many statements wait for a table of this database.
func waiting(t *testing.T, tx pgx.Tx) (n int) {
	t.Helper()
	const locks = `SELECT count(*) FROM pg_locks JOIN pg_database ON oid = database WHERE datname = current_database() AND NOT granted`
	must.Report(t, "QueryRow", tx.QueryRow(t.Context(), locks).Scan(&n))
	return n
}
