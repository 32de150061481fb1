package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// outcome marks the error of a statement that writes, if it leaves open whether
// the statement was carried out: one that is neither the server's answer, which
// has rolled back, nor came before the statement was sent.
func outcome(err error) error {
	if err == nil || refused(err) || pgconn.SafeToRetry(err) {
		return err
	}
	return fmt.Errorf("%w: %w", shortener.ErrOutcomeUnknown, err)
}

// refused reports whether the error is Postgres's answer.
func refused(err error) bool {
	_, ok := errors.AsType[*pgconn.PgError](err)
	return ok
}
