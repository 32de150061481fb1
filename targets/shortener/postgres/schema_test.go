package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// ask returns the only column of what the server answers.
func ask(t *testing.T, s *Store, statement string) []string {
	t.Helper()
	var values []string
	err := s.session(t.Context(), func(conn *pgx.Conn) error {
		rows, err := conn.Query(t.Context(), statement)
		if err != nil {
			return err
		}
		values, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	must.Succeed(t, err)
	return values
}

const indexes = `SELECT indexname::text FROM pg_indexes WHERE tablename = 'links' ORDER BY 1`

// Replicas that start together make one schema between them, directly and
// through a PgBouncer.
func TestConcurrentPrepare(t *testing.T) {
	server := postgrestest.Shared(t)
	for _, connections := range []Connections{Unlimited, PgBouncer} {
		t.Run(string(connections), func(t *testing.T) {
			o := Options{
				Addr: server.Addr(), Database: server.Database(t), User: postgrestest.User,
				Connections: connections, PoolSize: 2, LinkIndex: true, Now: time.Now,
			}
			if connections == PgBouncer {
				o.Addr = bounced(t)
			}
			var group sync.WaitGroup
			for range 8 {
				s := openAs(t, o)
				group.Go(func() {
					must.Report(t, "Prepare()", s.Prepare(t.Context()))
				})
			}
			group.Wait()
			s := openAs(t, o)
			must.Report(t, "Prepare() of what is prepared", s.Prepare(t.Context()))
			if got := ask(t, s, `SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`); cmp.Diff([]string{"clicks", "links", "shard"}, got) != "" {
				t.Errorf("tables = %v", got)
			}
		})
	}
}

// A variant is what it says: the index of another run is dropped.
func TestIndexIsThereWhenItIsAskedFor(t *testing.T) {
	database := postgrestest.Shared(t).Database(t)
	for _, on := range []bool{true, true, false, false, true} {
		s := open(t, postgrestest.Shared(t).Addr(), func(o *Options) { o.Database, o.LinkIndex = database, on })
		same.As(t, "the index is there", on, slices.Contains(ask(t, s, indexes), "links_short_code_expires_at"))
	}
}

func TestUnpreparedStoreReturnsErrors(t *testing.T) {
	server := postgrestest.Shared(t)
	s := openAs(t, Options{
		Addr: server.Addr(), Database: server.Database(t), User: postgrestest.User, Connections: Pool, PoolSize: 1, Now: time.Now,
	})
	if err := s.Ping(t.Context()); !errors.Is(err, errNotPrepared) {
		t.Errorf("Ping() = %v, want %v", err, errNotPrepared)
	}
	if _, err := s.Find(t.Context(), "code"); !errors.Is(err, errNotPrepared) {
		t.Errorf("Find() = %v, want %v", err, errNotPrepared)
	}
}

// Whichever index the planner takes, a link is found by one.
func TestFindUsesIndex(t *testing.T) {
	for _, on := range []bool{false, true} {
		t.Run(fmt.Sprint("link index ", on), func(t *testing.T) {
			s := open(t, postgrestest.Shared(t).Addr(), func(o *Options) { o.LinkIndex = on })
			if _, err := s.Load(t.Context(), seeded(10_000)); err != nil {
				t.Fatal(err)
			}
			must.Succeed(t, s.Analyze(t.Context()))
			plan := ask(t, s, `EXPLAIN SELECT url FROM links WHERE short_code = '00000A' AND expires_at > '`+storetest.Start.Format(time.RFC3339)+`'`)
			if len(plan) == 0 || !containsAny(plan[0], "Index Scan") {
				t.Errorf("plan:\n%v", plan)
			}
		})
	}
}

// A replica that starts finds the schema there, and waits for no write: others would wait
// behind it.
func TestPrepareWaitsForNoWrite(t *testing.T) {
	server := postgrestest.Shared(t)
	database := server.Database(t)
	for _, index := range []bool{true, false} {
		o := Options{
			Addr: server.Addr(), Database: database, User: postgrestest.User,
			Connections: Pool, PoolSize: 2, LinkIndex: index, Now: time.Now,
		}
		s := openAs(t, o)
		must.Succeed(t, s.Prepare(t.Context()))
		must.Succeed(t, s.session(t.Context(), func(conn *pgx.Conn) error {
			tx, err := conn.Begin(t.Context())
			if err != nil {
				return err
			}
			for _, write := range []string{`UPDATE links SET clicks = clicks`, `DELETE FROM clicks`} {
				if _, err := tx.Exec(t.Context(), write); err != nil {
					return err
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			must.Report(t, "Prepare() during a write", openAs(t, o).Prepare(ctx))
			return tx.Rollback(t.Context())
		}))
	}
}
