package postgres

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// asShard opens a database as one of so many shards.
func asShard(t *testing.T, database string, shard, shards int) *Store {
	t.Helper()
	return openAs(t, Options{
		Addr: postgrestest.Shared(t).Addr(), Database: database, User: postgrestest.User,
		Connections: Pool, PoolSize: 2, Shard: shard, Shards: shards, Now: time.Now,
	})
}

func TestDatabaseOpensAsTheShardThatItWasMadeAs(t *testing.T) {
	database := postgrestest.Shared(t).Database(t)
	if err := asShard(t, database, 1, 2).Confirm(t.Context()); !errors.Is(err, ErrUnrecorded) {
		t.Errorf("Confirm() of a new database = %v, want %v", err, ErrUnrecorded)
	}
	must.Succeed(t, asShard(t, database, 1, 2).Prepare(t.Context()))
	for name, tt := range map[string]struct {
		shard, shards int
		want          string
	}{
		"the same":          {1, 2, ""},
		"another number":    {1, 3, "prepare schema: database is another shard: it was made as shard1 of 2, and is configured as shard1 of 3"},
		"another place":     {0, 2, "prepare schema: database is another shard: it was made as shard1 of 2, and is configured as shard0 of 2"},
		"the only one":      {0, 1, "prepare schema: database is another shard: it was made as shard1 of 2, and is configured as shard0 of 1"},
		"no number is one":  {0, 0, "prepare schema: database is another shard: it was made as shard1 of 2, and is configured as shard0 of 1"},
		"the same, at last": {1, 2, ""},
	} {
		s := asShard(t, database, tt.shard, tt.shards)
		err := s.Prepare(t.Context())
		if (err == nil) != (tt.want == "") || err != nil && (err.Error() != tt.want || !errors.Is(err, ErrOtherShard)) {
			t.Errorf("%s: Prepare() = %v, want %s", name, err, tt.want)
		}
		if _, err := s.Find(t.Context(), "code"); errors.Is(err, errNotPrepared) != (tt.want != "") {
			t.Errorf("%s: Find() = %v", name, err)
		}
	}
}

// Replicas that were given different numbers of shards agree on one of them.
func TestConcurrentReplicasRecordOneShard(t *testing.T) {
	database := postgrestest.Shared(t).Database(t)
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		won   = map[int]int{}
	)
	for i := range 12 {
		shards := 1 + i%shortener.MaxShards
		s := asShard(t, database, 0, shards)
		group.Go(func() {
			err := s.Prepare(t.Context())
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won[shards]++
			} else if !errors.Is(err, ErrOtherShard) {
				t.Errorf("Prepare() = %v", err)
			}
		})
	}
	group.Wait()
	if len(won) != 1 {
		t.Errorf("replicas that opened the database, by their number of shards: %v; want one number", won)
	}
	for _, n := range won {
		same.As(t, "replicas with the number that was recorded", 4, n)
	}
}

// A database that was filled before there was a record is taken for what it is
// configured as, unless its links say otherwise.
func TestFilledDatabaseWithoutRecord(t *testing.T) {
	for name, tt := range map[string]struct {
		filled, configured int // numbers of shards, of which the database is the first
		refused            bool
	}{
		"of the same number":                    {2, 2, false},
		"of one, configured as one":             {1, 1, false},
		"of one, configured as two":             {1, 2, true},
		"of two, configured as three":           {2, 3, true},
		"of three, configured as two, not seen": {3, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			database := postgrestest.Shared(t).Database(t)
			old := asShard(t, database, 0, tt.filled)
			must.Succeed(t, old.Prepare(t.Context()))
			ask(t, old, `DROP TABLE shard`)
			ring := shortener.NewRing([]string{"shard0", "shard1", "shard2"}[:tt.filled]...)
			for i := range 100 {
				l := shortener.Link{Code: fmt.Sprintf("code%d", i), URL: "https://example.com/", CreatedAt: storetest.Start, ExpiresAt: time.Now().Add(time.Hour)}
				if ring.Owner(l.Code) == 0 {
					must.Succeed(t, old.Create(t.Context(), l))
				}
			}
			for range 2 {
				if err := asShard(t, database, 0, tt.configured).Prepare(t.Context()); errors.Is(err, ErrOtherShard) != tt.refused || err != nil && !tt.refused {
					t.Errorf("Prepare() = %v; refused must be %v", err, tt.refused)
				}
			}
		})
	}
}
