package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// Retention is how long a click is remembered by itself; see the package.
const Retention = 15 * 24 * time.Hour

// foldBatch is how many clicks are folded at once, which takes about as long
// as the query timeout allows on a machine that is a hundred times too slow.
const foldBatch = 10_000

// addClicks is in the order of ids, so that two consumers that were given the
// same clicks wait for each other and never in a circle. By the time that a click
// comes, its code may have another link, which was created after the click and not
// visited.
const addClicks = `
INSERT INTO clicks (id, link_id, clicked_at)
SELECT given.id, links.id, given.clicked_at
FROM unnest($1::text[]::uuid[], $2::text[], $3::timestamptz[]) AS given (id, code, clicked_at)
JOIN links ON links.short_code = given.code AND links.created_at <= given.clicked_at + make_interval(secs => $4)
ORDER BY given.id
ON CONFLICT (id) DO NOTHING`

// AddClicks stores the clicks that were not stored before.
func (s *Store) AddClicks(ctx context.Context, clicks []shortener.Click) (int, error) {
	ids, codes, times := make([]string, len(clicks)), make([]string, len(clicks)), make([]time.Time, len(clicks))
	for i, c := range clicks {
		ids[i], codes[i], times[i] = c.ID, c.Code, c.At
	}
	n, err := s.write(ctx, addClicks, ids, codes, times, shortener.ClockError.Seconds())
	if err != nil {
		return 0, fmt.Errorf("insert clicks: %w", err)
	}
	return int(n), nil
}

// fold moves clicks into their links' column. The lock prevents a deadlock between
// two replicas: a replica that does not get it folds nothing.
const fold = `
WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock($1) AS mine),
old AS (
	DELETE FROM clicks WHERE id IN (
		SELECT clicks.id FROM clicks, turn
		WHERE mine AND stored_at < now() - make_interval(secs => $2) LIMIT $3)
	RETURNING link_id),
folded AS (
	UPDATE links SET clicks = clicks + n
	FROM (SELECT link_id, count(*) AS n FROM old GROUP BY link_id) AS counted
	WHERE links.id = counted.link_id)
SELECT count(*) FROM old`

// foldLock is the advisory lock of the replica that folds.
const foldLock = schemaLock + 1

// Fold moves clicks that were stored longer ago than age into the counts of
// their links, and returns how many. No count that can be read changes.
func (s *Store) Fold(ctx context.Context, age time.Duration) (int64, error) {
	var all int64
	for {
		var n int64
		if err := s.queryRow(ctx, fold, []any{int64(foldLock), age.Seconds(), foldBatch}, &n); err != nil {
			return all, fmt.Errorf("fold clicks: %w", err)
		}
		all += n
		if n < foldBatch {
			return all, nil
		}
	}
}
