package sqlite

import (
	"fmt"

	engine "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// version is that of the schema, kept in the file's user_version.
const version = 1

// schema has no index but the primary keys: events are asked for by position.
// The writer counts positions itself, so that AUTOINCREMENT, which keeps a
// second table, is not needed: nothing is ever deleted.
//
// An append with an idempotency key leaves a row in requests, in the same
// transaction. Its first position is the row's own, which makes the oldest rows
// those to forget; the index of keys is in memory, see keys. The row has only a
// hash of the key, so that it stays small.
const schema = `
CREATE TABLE events (
	position  INTEGER PRIMARY KEY,
	type      TEXT NOT NULL,
	data      BLOB NOT NULL,
	timestamp INTEGER NOT NULL -- nanoseconds since 1970
) STRICT;
CREATE TABLE requests (
	first       INTEGER PRIMARY KEY,
	last        INTEGER NOT NULL,
	key         BLOB NOT NULL,
	fingerprint BLOB NOT NULL
) STRICT;
CREATE TABLE subscriptions (
	id       TEXT PRIMARY KEY,
	position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
PRAGMA user_version = 1;
`

// migrate makes the tables of a file that is new.
func migrate(c *engine.Conn) error {
	read, err := c.Prepare("PRAGMA user_version")
	if err != nil {
		return err
	}
	var found int64
	if _, err := row(read, func(r *stmt) { found = r.ColumnInt64(0) }); err != nil {
		return fmt.Errorf("read the version of the schema: %w", err)
	}
	switch found {
	case version:
		return nil
	case 0:
		if err := sqlitex.ExecuteScript(c, schema, nil); err != nil {
			return fmt.Errorf("create the schema: %w", err)
		}
		return nil
	}
	return fmt.Errorf("file has version %d of the schema, and this program reads version %d: use the program that wrote it", found, version)
}
