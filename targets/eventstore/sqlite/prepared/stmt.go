package prepared

import (
	"fmt"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Stmt is a statement that is ready to run.
type Stmt struct {
	conn *Conn
	ptr  uintptr
	// params hold the text and blobs that are bound, from parameter 1.
	params []memory
	// err is the first that a Bind met; Step returns it.
	err error
}

// Prepare makes a statement ready. It lives as long as the connection.
func (c *Conn) Prepare(sql string) (*Stmt, error) {
	text, err := libc.CString(sql)
	if err != nil {
		return nil, fmt.Errorf("memory for a statement: %w", err)
	}
	defer libc.Xfree(c.tls, text)
	s := &Stmt{conn: c}
	err = c.withPointer(func(out uintptr) error {
		code := sqlite3.Xsqlite3_prepare_v3(c.tls, c.db, text, -1, sqlite3.SQLITE_PREPARE_PERSISTENT, out, 0)
		s.ptr = pointerAt(out)
		return c.check(code)
	})
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", sql, err)
	}
	s.params = make([]memory, sqlite3.Xsqlite3_bind_parameter_count(c.tls, s.ptr))
	c.stmts = append(c.stmts, s)
	return s, nil
}

// BindInt sets a parameter, which are counted from 1.
func (s *Stmt) BindInt(param int, v int64) {
	s.note(sqlite3.Xsqlite3_bind_int64(s.conn.tls, s.ptr, int32(param), v))
}

// BindText sets a parameter to a string.
func (s *Stmt) BindText(param int, v string) {
	if p, ok := s.hold(param, len(v)); ok {
		copy(bytesAt(p, len(v)), v)
		s.note(sqlite3.Xsqlite3_bind_text(s.conn.tls, s.ptr, int32(param), p, int32(len(v)), sqlite3.SQLITE_STATIC))
	}
}

// BindBlob sets a parameter to bytes.
func (s *Stmt) BindBlob(param int, v []byte) {
	if p, ok := s.hold(param, len(v)); ok {
		copy(bytesAt(p, len(v)), v)
		s.note(sqlite3.Xsqlite3_bind_blob(s.conn.tls, s.ptr, int32(param), p, int32(len(v)), sqlite3.SQLITE_STATIC))
	}
}

// hold returns memory of a parameter's own, which SQLite reads until the
// statement is reset.
func (s *Stmt) hold(param, size int) (uintptr, bool) {
	if param < 1 || param > len(s.params) {
		s.note(sqlite3.SQLITE_RANGE)
		return 0, false
	}
	m := &s.params[param-1]
	if err := m.grow(s.conn.tls, size); err != nil {
		if s.err == nil {
			s.err = err
		}
		return 0, false
	}
	return m.ptr, true
}

func (s *Stmt) note(code int32) {
	if code != sqlite3.SQLITE_OK && s.err == nil {
		s.err = s.conn.check(code)
	}
}

// Run executes a statement that answers no row, and makes it ready again.
func (s *Stmt) Run() error {
	return s.Each(func(Row) {})
}

// Row executes a statement that answers one row or none, shows it, and makes
// the statement ready again.
func (s *Stmt) Row(show func(Row)) (found bool, err error) {
	err = s.Each(func(r Row) {
		found = true
		show(r)
	})
	return found, err
}

// Each executes a statement, shows each row that it answers, and makes it ready
// again.
func (s *Stmt) Each(show func(Row)) error {
	err := s.err
	s.err = nil
	if err != nil {
		return err
	}
	for {
		code := sqlite3.Xsqlite3_step(s.conn.tls, s.ptr)
		if code == sqlite3.SQLITE_ROW {
			show(Row{s})
			continue
		}
		if code != sqlite3.SQLITE_DONE {
			err = s.conn.check(code)
		}
		// What reset returns is the error of the step again.
		sqlite3.Xsqlite3_reset(s.conn.tls, s.ptr)
		return err
	}
}

// Row is what a statement answers. Columns are counted from 0.
type Row struct{ s *Stmt }

// Int is a column's number.
func (r Row) Int(column int) int64 {
	return sqlite3.Xsqlite3_column_int64(r.s.conn.tls, r.s.ptr, int32(column))
}

// Bytes are a copy of a column's text or blob.
func (r Row) Bytes(column int) []byte {
	p := sqlite3.Xsqlite3_column_blob(r.s.conn.tls, r.s.ptr, int32(column))
	n := sqlite3.Xsqlite3_column_bytes(r.s.conn.tls, r.s.ptr, int32(column))
	return append([]byte{}, bytesAt(p, int(n))...)
}

func (s *Stmt) free() {
	sqlite3.Xsqlite3_finalize(s.conn.tls, s.ptr)
	for i := range s.params {
		s.params[i].free(s.conn.tls)
	}
}
