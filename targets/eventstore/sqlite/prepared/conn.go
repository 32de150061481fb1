package prepared

import (
	"errors"
	"fmt"

	"modernc.org/libc"
	// The driver sets SQLite up for use by many goroutines when it is loaded.
	_ "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Error is what SQLite said of a call that failed.
type Error struct {
	// Code is an extended result code.
	Code    int
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("%s (SQLite code %d)", e.Message, e.Code) }

// Conn is a connection.
type Conn struct {
	tls   *libc.TLS
	db    uintptr
	stmts []*Stmt
}

// Open connects to a file, which is made if it is not there. Each of the
// pragmas, such as synchronous(full), is set.
func Open(path string, pragmas []string) (*Conn, error) {
	c := &Conn{tls: libc.NewTLS()}
	if err := c.open(path, pragmas); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Conn) open(path string, pragmas []string) error {
	name, err := libc.CString(path)
	if err != nil {
		return fmt.Errorf("memory for a path: %w", err)
	}
	defer libc.Xfree(c.tls, name)
	const flags = sqlite3.SQLITE_OPEN_READWRITE | sqlite3.SQLITE_OPEN_CREATE | sqlite3.SQLITE_OPEN_FULLMUTEX
	err = c.withPointer(func(out uintptr) error {
		code := sqlite3.Xsqlite3_open_v2(c.tls, name, out, flags, 0)
		c.db = pointerAt(out)
		return c.check(code)
	})
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	sqlite3.Xsqlite3_extended_result_codes(c.tls, c.db, 1)
	for _, pragma := range pragmas {
		if err := c.Exec("PRAGMA " + pragma); err != nil {
			return fmt.Errorf("pragma %s: %w", pragma, err)
		}
	}
	return nil
}

// Exec runs statements that are not run often enough to keep.
func (c *Conn) Exec(sql string) error {
	text, err := libc.CString(sql)
	if err != nil {
		return fmt.Errorf("memory for a statement: %w", err)
	}
	defer libc.Xfree(c.tls, text)
	return c.check(sqlite3.Xsqlite3_exec(c.tls, c.db, text, 0, 0, 0))
}

// InTransaction reports whether one has begun and not ended.
func (c *Conn) InTransaction() bool {
	return sqlite3.Xsqlite3_get_autocommit(c.tls, c.db) == 0
}

// Close ends the connection and its statements. It is called once.
func (c *Conn) Close() error {
	for _, s := range c.stmts {
		s.free()
	}
	err := c.check(sqlite3.Xsqlite3_close_v2(c.tls, c.db))
	c.tls.Close()
	return err
}

func (c *Conn) check(code int32) error {
	if code == sqlite3.SQLITE_OK {
		return nil
	}
	// Without a connection SQLite has no message but that of the code.
	if c.db == 0 {
		return &Error{Code: int(code), Message: libc.GoString(sqlite3.Xsqlite3_errstr(c.tls, code))}
	}
	return &Error{
		Code:    int(sqlite3.Xsqlite3_extended_errcode(c.tls, c.db)),
		Message: libc.GoString(sqlite3.Xsqlite3_errmsg(c.tls, c.db)),
	}
}
