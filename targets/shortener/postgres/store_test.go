package postgres

import (
	"os"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/pgbouncertest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }

// open returns the prepared store of a new database.
func open(t *testing.T, addr string, change func(*Options)) *Store {
	t.Helper()
	o := Options{
		Addr: addr, Database: postgrestest.Shared(t).Database(t), User: postgrestest.User,
		Connections: Pool, PoolSize: 8, Now: time.Now,
	}
	if change != nil {
		change(&o)
	}
	s := openAs(t, o)
	must.Succeed(t, s.Prepare(t.Context()))
	return s
}

func openAs(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	must.Succeed(t, err)
	must.Close(t, s)
	return s
}

func TestConformance(t *testing.T) {
	direct := func(t *testing.T) string { return postgrestest.Shared(t).Addr() }
	for name, tt := range map[string]struct {
		addr   func(*testing.T) string
		shards int
		change func(*Options)
	}{
		"unlimited":            {direct, 1, func(o *Options) { o.Connections = Unlimited }},
		"pool":                 {direct, 1, func(o *Options) { o.LinkIndex = true }},
		"a pool of one":        {direct, 1, func(o *Options) { o.PoolSize = 1 }},
		"pgbouncer":            {bounced, 1, func(o *Options) { o.Connections = PgBouncer }},
		"three shards":         {direct, 3, func(*Options) {}},
		"three behind bouncer": {bounced, 3, func(o *Options) { o.Connections = PgBouncer }},
	} {
		t.Run(name, func(t *testing.T) {
			// The databases of a variant are emptied for each rule, which is
			// quicker than new ones.
			var clock *storetest.Clock
			var stores []shortener.Store
			addr := tt.addr(t)
			for range tt.shards {
				stores = append(stores, open(t, addr, func(o *Options) {
					o.Now = func() time.Time { return clock.Now() }
					tt.change(o)
				}))
			}
			shards, err := shortener.NewShards(stores...)
			must.Succeed(t, err)
			storetest.Run(t, func(t *testing.T, c *storetest.Clock) shortener.Store {
				clock = c
				for _, s := range stores {
					ask(t, s.(*Store), `TRUNCATE links, clicks`)
				}
				return shards
			})
		})
	}
}

// bounced is the address of a PgBouncer with fewer server connections than the
// suite has callers.
func bounced(t *testing.T) string { return pgbouncertest.Start(t, postgrestest.Shared(t), 3) }
