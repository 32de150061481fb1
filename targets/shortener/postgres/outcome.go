package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// outcome marks the error of a write whose outcome is unknown: the error neither
// says that the write was not carried out, nor occurred before it was sent. Do not
// pass errors of connecting: no statement was sent then.
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

// refused reports whether the error says that the statement was not carried out.
//
// Of Postgres that is an ERROR, after which it has rolled back and the session goes
// on. A FATAL ends the session, whatever the statement was at, and a PANIC can come
// when the commit is on the disk already.
func refused(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch cmp.Or(answer.SeverityUnlocalized, answer.Severity) {
	case "ERROR":
		return !strings.HasPrefix(answer.Code, connectionClass) && answer.Code != statementUnknown
	case "FATAL":
		return neverForwarded(answer)
	}
	return false
}

// neverForwarded reports whether PgBouncer has turned a client away that had no
// server connection, and so none of whose statement was sent on: it waited for one
// too long, or there is none to wait for. Both are FATAL 08P01, as is the loss of a
// server which may have committed ("server conn crashed?"): only the words differ,
// and words that are not known here leave the outcome open.
func neverForwarded(answer *pgconn.PgError) bool {
	return answer.Code == "08P01" &&
		(answer.Message == "query_wait_timeout" || strings.HasPrefix(answer.Message, "server login has been failing"))
}
