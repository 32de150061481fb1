package postgres

import (
	"errors"
	"fmt"
	"strings"

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

// Of SQLSTATEs, those of class 08 are of a connection that failed, and
// statementUnknown says itself that the outcome is.
const (
	connectionClass  = "08"
	statementUnknown = "40003"
)

// refused reports whether the error is Postgres's answer. PgBouncer answers in its
// place when it has lost the server (08P01, "server conn crashed?"), which may
// have committed by then.
func refused(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	return ok && !strings.HasPrefix(answer.Code, connectionClass) && answer.Code != statementUnknown
}
