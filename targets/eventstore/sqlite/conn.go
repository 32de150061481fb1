package sqlite

import (
	"errors"
	"fmt"

	engine "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// The writer's connection keeps its statements prepared: database/sql, which
// the readers use, parses a statement anew each time that it is executed, and
// that costs more than to insert a row: compare BenchmarkPlainInsert with
// BenchmarkWriterInsert.

// stmt is a statement that stays prepared. Parameters count from 1, columns
// from 0.
type stmt = engine.Stmt

// storageError is an error of SQLite, after which a transaction cannot go on;
// other errors refuse one request of it.
type storageError struct{ error }

func (e storageError) Unwrap() error { return e.error }

// connect opens a file, which is made if it is not there, and sets each of the
// pragmas, such as synchronous(full).
func connect(path string, pragmas []string) (*engine.Conn, error) {
	conn, err := engine.OpenConn(path, engine.OpenReadWrite, engine.OpenCreate)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	for _, pragma := range pragmas {
		if err := execute(conn, "PRAGMA "+pragma); err != nil {
			return nil, errors.Join(fmt.Errorf("pragma %s: %w", pragma, err), conn.Close())
		}
	}
	return conn, nil
}

// execute runs a statement that is not run often enough to keep.
func execute(conn *engine.Conn, sql string) error {
	return sqlitex.ExecuteTransient(conn, sql, nil)
}

// run executes a statement that answers no row, and makes it ready again.
func run(s *stmt) error { return each(s, func(*stmt) {}) }

// row executes a statement that answers one row or none, shows it, and makes
// the statement ready again.
func row(s *stmt, show func(*stmt)) (found bool, err error) {
	err = each(s, func(s *stmt) {
		found = true
		show(s)
	})
	return found, err
}

// each executes a statement, shows each row that it answers, and makes it ready
// again.
func each(s *stmt, show func(*stmt)) error {
	for {
		more, err := s.Step()
		if err != nil {
			return storageError{err} // Step has reset the statement
		}
		if !more {
			break
		}
		show(s)
	}
	if err := s.Reset(); err != nil {
		return storageError{err}
	}
	return nil
}

// blob is a copy of a column's bytes.
func blob(s *stmt, column int) []byte {
	b := make([]byte, s.ColumnLen(column))
	s.ColumnBytes(column, b)
	return b
}
