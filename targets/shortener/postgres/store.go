package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// answerIsFresh is how long an answer says that the server is there; a probe
// asks every few seconds.
const answerIsFresh = 2 * time.Second

var errNotPrepared = errors.New("its schema has not been prepared yet")

// Store keeps links and clicks in one database.
type Store struct {
	options Options
	// db hands out connections, which are then used by pgx directly: the
	// bounds of database/sql are those of the experiments, and it is what they
	// were measured with.
	db       *sql.DB
	prepared atomic.Bool
	// answered is when the server last answered a request, in Unix nanoseconds.
	answered atomic.Int64
}

var _ shortener.Store = (*Store)(nil)

// Open returns the store of a database, which does not have to be there yet.
func Open(o Options) (*Store, error) {
	config, err := o.config()
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDB(*config)
	switch o.Connections {
	case Unlimited: // as database/sql is by itself
	case Pool:
		db.SetMaxOpenConns(o.PoolSize)
		db.SetMaxIdleConns(max(1, o.PoolSize/4))
		db.SetConnMaxLifetime(connLifetime)
		db.SetConnMaxIdleTime(connIdleTime)
	case PgBouncer:
		db.SetMaxIdleConns(o.PoolSize)
		db.SetConnMaxIdleTime(connIdleTime)
	}
	return &Store{options: o, db: db}, nil
}

// Close closes the connections that are idle, and the others when they are no
// longer used.
func (s *Store) Close() error { return s.db.Close() }

// session lends a connection. do must leave no transaction open.
func (s *Store) session(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close() // gives it back
	return conn.Raw(func(driver any) error { return do(driver.(*stdlib.Conn).Conn()) })
}

// query lends a connection for one bounded request.
func (s *Store) query(ctx context.Context, do func(context.Context, *pgx.Conn) error) error {
	if !s.prepared.Load() {
		return errNotPrepared
	}
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	err := s.session(ctx, func(conn *pgx.Conn) error { return do(ctx, conn) })
	switch {
	case err == nil || errors.Is(err, pgx.ErrNoRows):
		s.answered.Store(s.options.Now().UnixNano())
	case isMissing(err):
		s.prepared.Store(false)
	}
	return err
}

// Prepared reports whether the store answers. It ceases to be when the database has
// lost its tables, as one on a volume that ends with its pod does: it is to be
// prepared again then.
func (s *Store) Prepared() bool { return s.prepared.Load() }

// undefinedTable is the SQLSTATE of a statement on a table that is not there.
const undefinedTable = "42P01"

func isMissing(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	return ok && answer.Code == undefinedTable
}

// queryRow reads one row; there being none is ErrNotFound.
func (s *Store) queryRow(ctx context.Context, statement string, args []any, into ...any) error {
	err := s.query(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, statement, args...).Scan(into...)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return shortener.ErrNotFound
	}
	return err
}

// write returns how many rows the statement has changed. If that is lost, so is
// whether it has changed any; a statement that only reads has done nothing then.
func (s *Store) write(ctx context.Context, statement string, args ...any) (int64, error) {
	var n int64
	err := s.query(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, statement, args...)
		n = tag.RowsAffected()
		return outcome(err)
	})
	return n, err
}

// replaceExpired lets a new link take the code of one that has expired, and of no
// other. Its new id has none of the old clicks.
const replaceExpired = `
ON CONFLICT (short_code) DO UPDATE SET id = DEFAULT, clicks = 0,
	url = excluded.url, created_at = excluded.created_at, expires_at = excluded.expires_at
WHERE links.expires_at <= excluded.created_at`

// Create adds a link.
func (s *Store) Create(ctx context.Context, l shortener.Link) error {
	n, err := s.write(ctx, `INSERT INTO links (short_code, url, created_at, expires_at) VALUES ($1, $2, $3, $4)`+replaceExpired,
		l.Code, l.URL, l.CreatedAt, l.ExpiresAt)
	switch {
	case err != nil:
		return fmt.Errorf("insert link: %w", err)
	case n == 0:
		return shortener.ErrTaken
	}
	return nil
}

// Find returns the link of a code.
func (s *Store) Find(ctx context.Context, code string) (shortener.Link, error) {
	l := shortener.Link{Code: code}
	err := s.queryRow(ctx, `SELECT url, created_at, expires_at FROM links WHERE short_code = $1 AND expires_at > $2`,
		[]any{code, s.options.Now()}, &l.URL, &l.CreatedAt, &l.ExpiresAt)
	return found(l, err)
}

// Details returns the link of a code and how often it was clicked.
func (s *Store) Details(ctx context.Context, code string) (shortener.Link, int64, error) {
	l := shortener.Link{Code: code}
	var clicks int64
	err := s.queryRow(ctx, `
SELECT url, created_at, expires_at, clicks + (SELECT count(*) FROM clicks WHERE link_id = links.id)
FROM links WHERE short_code = $1 AND expires_at > $2`,
		[]any{code, s.options.Now()}, &l.URL, &l.CreatedAt, &l.ExpiresAt, &clicks)
	l, err = found(l, err)
	return l, clicks, err
}

// found is the link as it was stored, or none.
func found(l shortener.Link, err error) (shortener.Link, error) {
	if err != nil {
		return shortener.Link{}, fmt.Errorf("select link: %w", err)
	}
	l.CreatedAt, l.ExpiresAt = l.CreatedAt.UTC(), l.ExpiresAt.UTC()
	return l, nil
}

// Totals counts the rows, those of links that have expired among them.
func (s *Store) Totals(ctx context.Context) (links, clicks int64, err error) {
	err = s.queryRow(ctx, `
SELECT count(*), coalesce(sum(clicks), 0)::bigint + (SELECT count(*) FROM clicks) FROM links`, nil, &links, &clicks)
	if err != nil {
		return 0, 0, fmt.Errorf("count links and clicks: %w", err)
	}
	return links, clicks, nil
}

// Ping asks the server for an answer, unless it has just given one. Under full load
// its query would queue behind all others, and a busy replica would look unready.
func (s *Store) Ping(ctx context.Context) error {
	if s.options.Now().Sub(time.Unix(0, s.answered.Load())) < answerIsFresh {
		return nil
	}
	var one int
	return s.queryRow(ctx, `SELECT 1`, nil, &one)
}
