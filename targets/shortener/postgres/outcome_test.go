package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// unsent is an error from before the statement was sent.
type unsent struct{ error }

func (unsent) SafeToRetry() bool { return true }

// Only what may have reached the server and had no answer is unknown.
func TestOutcome(t *testing.T) {
	tests := map[string]struct {
		err     error
		unknown bool
	}{
		"none":                  {},
		"no row":                {err: pgx.ErrNoRows},
		"refused by the server": {err: fmt.Errorf("insert: %w", &pgconn.PgError{Code: "53300"})},
		"never sent":            {err: unsent{io.EOF}},
		"too late":              {err: fmt.Errorf("insert: %w", context.DeadlineExceeded), unknown: true},
		"cut off":               {err: io.ErrUnexpectedEOF, unknown: true},
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
