package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// hold keeps n connections busy at the same time, calls while, and gives them
// back.
func hold(t *testing.T, s *Store, n int, while func()) {
	t.Helper()
	var held, done sync.WaitGroup
	release := make(chan struct{})
	held.Add(n)
	for range n {
		done.Go(func() {
			err := s.session(t.Context(), func(*pgx.Conn) error {
				held.Done()
				<-release
				return nil
			})
			if err != nil {
				t.Errorf("session: %v", err)
				held.Done()
			}
		})
	}
	held.Wait()
	while()
	close(release)
	done.Wait()
}

// Unlimited opens a connection for each request, and keeps two.
func TestUnlimitedHasNoBound(t *testing.T) {
	s := open(t, postgrestest.Shared(t).Addr(), func(o *Options) { o.Connections, o.PoolSize = Unlimited, 1 })
	hold(t, s, 20, func() {
		same.As(t, "connections", 20, s.db.Stats().OpenConnections)
	})
	if got := s.db.Stats().OpenConnections; got > 2 {
		t.Errorf("%d connections are kept, want 2 at most", got)
	}
}

// Pool makes the one too many wait until a connection is given back.
func TestPoolIsBounded(t *testing.T) {
	s := open(t, postgrestest.Shared(t).Addr(), func(o *Options) { o.PoolSize = 4 })
	pinged := make(chan error, 1)
	hold(t, s, 4, func() {
		go func() { pinged <- s.session(t.Context(), func(*pgx.Conn) error { return nil }) }()
		await.True(t, "a request waits", func() bool { return s.db.Stats().WaitCount == 1 })
		same.As(t, "connections", 4, s.db.Stats().OpenConnections)
	})
	must.Report(t, "the request that waited", <-pinged)
	same.As(t, "idle connections", 1, s.db.Stats().Idle)
}

// A PgBouncer with three server connections serves more requests at once than
// that, on connections that are kept.
func TestPgBouncerHasNoBound(t *testing.T) {
	s := open(t, bounced(t), func(o *Options) { o.Connections, o.PoolSize = PgBouncer, 5 })
	hold(t, s, 20, func() {
		same.As(t, "connections", 20, s.db.Stats().OpenConnections)
	})
	same.As(t, "idle connections", 5, s.db.Stats().Idle)
}

// After a crash the store answers as soon as the server does.
func TestStoreRecoversAfterCrash(t *testing.T) {
	server := postgrestest.New(t, "fsync=on", "synchronous_commit=on")
	clock := storetest.NewClock()
	s := openAs(t, Options{
		Addr: server.Addr(), Database: server.Database(t), User: postgrestest.User, Connections: Pool, PoolSize: 8, Now: clock.Now,
	})
	must.Succeed(t, s.Prepare(t.Context()))
	hold(t, s, 8, func() {})
	links := seeded(1)
	if added, err := s.Load(t.Context(), links); err != nil || added != 1 {
		t.Fatalf("Load() = %d, %v", added, err)
	}
	server.Crash(t)
	if err := s.Ping(t.Context()); err == nil {
		t.Error("Ping() of a server that is down does not fail")
	}
	server.Start(t)
	await.True(t, "the server answers", func() bool { return s.Ping(t.Context()) == nil })
	await.True(t, "the link is counted", func() bool {
		n, _, err := s.Totals(t.Context())
		return err == nil && n == 1
	})
}

// A store whose connections are all busy is ready while its last answer is fresh.
func TestPingTrustsRecentAnswer(t *testing.T) {
	clock := storetest.NewClock()
	s := open(t, postgrestest.Shared(t).Addr(), func(o *Options) { o.PoolSize, o.Now = 1, clock.Now })
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := s.Find(ctx, "code"); !errors.Is(err, shortener.ErrNotFound) {
		t.Fatalf("Find() = %v, want ErrNotFound", err)
	}
	cancel() // from here on only what needs no connection succeeds
	clock.Pass(answerIsFresh - 1)
	must.Report(t, "Ping() after an answer that is fresh", s.Ping(ctx))
	clock.Pass(1)
	if err := s.Ping(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Ping() = %v after an answer that is not; want it to ask", err)
	}
	must.Report(t, "Ping()", s.Ping(t.Context()))
	must.Report(t, "Ping() after one that was answered", s.Ping(ctx))
}
