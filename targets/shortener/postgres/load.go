package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

const (
	// createStaging is gone when the transaction ends: behind PgBouncer the next one
	// may meet the same server connection.
	createStaging = `CREATE TEMPORARY TABLE staged (short_code text, url text, created_at timestamptz, expires_at timestamptz) ON COMMIT DROP`
	merge         = `INSERT INTO links (short_code, url, created_at, expires_at)
SELECT short_code, url, created_at, expires_at FROM staged` + replaceExpired
)

// Load adds many links at once, and returns how many. A link whose code is
// taken is left out. Codes must differ from each other.
func (s *Store) Load(ctx context.Context, links []shortener.Link) (int, error) {
	added := 0
	err := s.session(ctx, func(conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			n, err := load(ctx, tx, links)
			added = n
			return err
		})
	})
	if err != nil {
		return 0, fmt.Errorf("load %d links: %w", len(links), err)
	}
	return added, nil
}

func load(ctx context.Context, tx pgx.Tx, links []shortener.Link) (int, error) {
	if _, err := tx.Exec(ctx, createStaging); err != nil {
		return 0, err
	}
	rows := pgx.CopyFromSlice(len(links), func(i int) ([]any, error) {
		l := links[i]
		return []any{l.Code, l.URL, l.CreatedAt, l.ExpiresAt}, nil
	})
	columns := []string{"short_code", "url", "created_at", "expires_at"}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"staged"}, columns, rows); err != nil {
		return 0, err
	}
	tag, err := tx.Exec(ctx, merge)
	return int(tag.RowsAffected()), err
}

// Analyze updates the planner's statistics of the links, which autovacuum would do
// a minute later, in the middle of a load test.
func (s *Store) Analyze(ctx context.Context) error {
	err := s.session(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `ANALYZE links`)
		return err
	})
	if err != nil {
		return fmt.Errorf("analyze links: %w", err)
	}
	return nil
}
