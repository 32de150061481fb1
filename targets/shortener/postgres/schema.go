package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// schemaLock is the advisory lock under which the schema is changed: any
// number that nothing else in the database uses.
const schemaLock = 20261120

// schema is one message of several statements, and with that one transaction:
// replicas that start together wait for each other at the lock, and see all of
// it or nothing.
//
// Codes are compared by their bytes (COLLATE "C"), which is what they are.
//
// clicks has no foreign key to links: it would lock the link's row for each
// click. clicks_stored_at is of a few pages for millions of rows, which come
// in its order. shard has no row before Adopt, and one after it.
//
// CREATE INDEX waits for all writes, and has others wait behind it, before it looks
// whether the index is there: IF NOT EXISTS would stop a replica's start, and all writes,
// until the slowest of them has ended.
const schema = `
SELECT pg_advisory_xact_lock(%d);
CREATE TABLE IF NOT EXISTS links (
	id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	short_code text COLLATE "C" NOT NULL UNIQUE,
	url        text NOT NULL,
	created_at timestamptz NOT NULL,
	expires_at timestamptz NOT NULL,
	clicks     bigint NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS clicks (
	id         uuid PRIMARY KEY,
	link_id    bigint NOT NULL,
	clicked_at timestamptz NOT NULL,
	stored_at  timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS shard (
	the_only boolean PRIMARY KEY DEFAULT true CHECK (the_only),
	place    integer NOT NULL,
	shards   integer NOT NULL
);
DO $$ BEGIN
	IF to_regclass('clicks_link_id') IS NULL THEN CREATE INDEX clicks_link_id ON clicks (link_id); END IF;
	IF to_regclass('clicks_stored_at') IS NULL THEN CREATE INDEX clicks_stored_at ON clicks USING brin (stored_at); END IF;
	%s
END $$`

const (
	createLinkIndex = `IF to_regclass('links_short_code_expires_at') IS NULL THEN CREATE INDEX links_short_code_expires_at ON links (short_code, expires_at); END IF;`
	dropLinkIndex   = `DROP INDEX IF EXISTS links_short_code_expires_at;`
)

// Prepare makes the schema as the options say, whatever it was. Until it has
// succeeded once, the store answers nothing. It takes as long as an index over
// all links takes to build, if there has to be one.
//
// A database that has no record of its shard is recorded as the shard that the
// options say; with several shards, Confirm all of them before.
func (s *Store) Prepare(ctx context.Context) error {
	err := s.Confirm(ctx)
	if errors.Is(err, ErrUnrecorded) {
		err = s.adopt(ctx)
	}
	return err
}

// Confirm is Prepare of a database that is recorded already. A database without a
// record gets the schema, and is ErrUnrecorded.
func (s *Store) Confirm(ctx context.Context) error {
	index := dropLinkIndex
	if s.options.LinkIndex {
		index = createLinkIndex
	}
	err := s.session(ctx, func(conn *pgx.Conn) error {
		if err := conn.PgConn().Exec(ctx, fmt.Sprintf(schema, schemaLock, index)).Close(); err != nil {
			return err
		}
		return s.options.confirm(ctx, conn)
	})
	if err != nil {
		return fmt.Errorf("prepare schema: %w", err)
	}
	s.prepared.Store(true)
	return nil
}
