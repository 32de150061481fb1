package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

var (
	// ErrUnrecorded says that a database has no record of its shard: it is new, or
	// its schema was made before there was a record.
	ErrUnrecorded = errors.New("which shard the database is has not been recorded yet")
	// ErrOtherShard says that a database is not the shard that it is configured as:
	// most of its links, or links of another database, would not be found.
	ErrOtherShard = errors.New("database is another shard")
)

// sampled is how many links of a database without a record are looked at. Of links
// that were stored for one shard about half are another's when there are two, so
// that already a few show it.
const sampled = 1000

// confirm compares the record with the options.
func (o Options) confirm(ctx context.Context, conn *pgx.Conn) error {
	var shard, shards int
	err := conn.QueryRow(ctx, `SELECT place, shards FROM shard`).Scan(&shard, &shards)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ErrUnrecorded
	case err != nil:
		return fmt.Errorf("read which shard it is: %w", err)
	case shard != o.Shard || shards != max(1, o.Shards):
		return fmt.Errorf("%w: it was made as %s of %d, and is configured as %s",
			ErrOtherShard, shortener.ShardName(shard), shards, o.shardName())
	}
	return nil
}

// shardName is what the database is configured as.
func (o Options) shardName() string {
	return fmt.Sprintf("%s of %d", shortener.ShardName(o.Shard), max(1, o.Shards))
}

// adopt records a database as the shard that it is configured as, and opens the
// store. Of several replicas the first one decides, and the others compare.
//
// A database that was filled before there was a record is adopted like an empty
// one, since to refuse it would stop every release that is upgraded. Its links are
// looked at first: one that is another shard's shows that they were stored with
// another number of shards. The reverse is not seen: every link of shard0 of three
// is shard0's with two, too.
func (s *Store) adopt(ctx context.Context) error {
	err := s.session(ctx, func(conn *pgx.Conn) error {
		if err := s.options.examine(ctx, conn); err != nil {
			return err
		}
		const record = `INSERT INTO shard (place, shards) VALUES ($1, $2) ON CONFLICT DO NOTHING`
		if _, err := conn.Exec(ctx, record, s.options.Shard, max(1, s.options.Shards)); err != nil {
			return err
		}
		return s.options.confirm(ctx, conn)
	})
	if err != nil {
		return fmt.Errorf("record shard: %w", err)
	}
	s.prepared.Store(true)
	return nil
}

// examine looks for a link that would be looked up in another database.
func (o Options) examine(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `SELECT short_code FROM links LIMIT $1`, sampled)
	if err != nil {
		return err
	}
	codes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	var names []string
	for i := range max(1, o.Shards) {
		names = append(names, shortener.ShardName(i))
	}
	ring := shortener.NewRing(names...)
	for _, code := range codes {
		if owner := ring.Owner(code); owner != o.Shard {
			return fmt.Errorf("%w: it has the link %s of %s, and is configured as %s",
				ErrOtherShard, code, shortener.ShardName(owner), o.shardName())
		}
	}
	return nil
}
