package shortener_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/memory"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var errGone = errors.New("gone")

// three is a store of three, and what it is made of. Of the codes below,
// abc123 and 000000 are on shard 2, zzzzzz on shard 1, a on shard 0.
func three(t *testing.T) (*shortener.Shards, [3]*memory.Store) {
	t.Helper()
	var stores [3]*memory.Store
	for i := range stores {
		stores[i] = memory.New(storetest.NewClock().Now)
	}
	shards, err := shortener.NewShards(stores[0], stores[1], stores[2])
	must.Succeed(t, err)
	for _, code := range []string{on0, "zzzzzz", "abc123", "000000"} {
		l := shortener.Link{Code: code, CreatedAt: storetest.Start, ExpiresAt: storetest.Start.Add(time.Hour)}
		must.Succeed(t, shards.Create(t.Context(), l))
	}
	return shards, stores
}

// on0 is a code on shard 0.
var on0 = func() string {
	ring := shortener.NewRing("shard0", "shard1", "shard2")
	for i := 0; ; i++ {
		if code := fmt.Sprintf("code%d", i); ring.Owner(code) == 0 {
			return code
		}
	}
}()

func TestLinksAreSharded(t *testing.T) {
	_, stores := three(t)
	var got []int64
	for _, store := range stores {
		links, _, err := store.Totals(t.Context())
		must.Succeed(t, err)
		got = append(got, links)
	}
	same.As(t, "links", []int64{1, 1, 2}, got)
}

func TestFailedShardFailsOnlyItsLinks(t *testing.T) {
	shards, stores := three(t)
	stores[2].SetFailure(errGone)
	for code, want := range map[string]error{on0: nil, "zzzzzz": nil, "abc123": errGone} {
		if _, err := shards.Find(t.Context(), code); !errors.Is(err, want) {
			t.Errorf("Find(%s) = %v, want %v", code, err, want)
		}
		if _, _, err := shards.Details(t.Context(), code); !errors.Is(err, want) {
			t.Errorf("Details(%s) = %v, want %v", code, err, want)
		}
	}
	if links, clicks, err := shards.Totals(t.Context()); !errors.Is(err, errGone) || links != 0 || clicks != 0 {
		t.Errorf("Totals() = %d, %d, %v; want no sum of a part, and %v", links, clicks, err, errGone)
	}
}

// Clicks that failed with one shard are given again as a whole, and each
// counts once.
func TestRetriedClicksCountOnce(t *testing.T) {
	shards, stores := three(t)
	var clicks []shortener.Click
	for _, code := range []string{on0, "zzzzzz", "abc123", "000000"} {
		clicks = append(clicks, shortener.NewClick(code, storetest.Start))
	}
	stores[2].SetFailure(errGone)
	added, err := shards.AddClicks(t.Context(), clicks)
	if !errors.Is(err, errGone) || added != 2 {
		t.Errorf("AddClicks() = %d, %v; want 2, %v", added, err, errGone)
	}
	if want := "shard2: gone"; fmt.Sprint(err) != want {
		t.Errorf("error = %v, want %s", err, want)
	}
	stores[2].SetFailure(nil)
	if added, err := shards.AddClicks(t.Context(), clicks); err != nil || added != 2 {
		t.Errorf("AddClicks() again = %d, %v; want 2", added, err)
	}
	if links, total, err := shards.Totals(t.Context()); err != nil || links != 4 || total != 4 {
		t.Errorf("Totals() = %d, %d, %v; want 4, 4", links, total, err)
	}
}

func TestPingOfShards(t *testing.T) {
	tests := map[string]struct {
		down []int
		want string
		// degraded are the names of the shards that are down while others answer.
		degraded []string
	}{
		"all answer":  {want: "<nil>"},
		"one is down": {down: []int{1}, want: "shard1 unreachable: shard1: gone", degraded: []string{"shard1"}},
		"one answers": {down: []int{0, 2}, want: "shard0, shard2 unreachable: shard0: gone\nshard2: gone", degraded: []string{"shard0", "shard2"}},
		"none":        {down: []int{0, 1, 2}, want: "shard0: gone\nshard1: gone\nshard2: gone"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			shards, stores := three(t)
			for _, i := range tt.down {
				stores[i].SetFailure(errGone)
			}
			err := shards.Ping(t.Context())
			wantPing(t, err, tt.want, tt.degraded)
		})
	}
}

func TestNewShardsRefuses(t *testing.T) {
	store := memory.New(storetest.NewClock().Now)
	for want, stores := range map[string][]shortener.Store{
		"0 shards: use 1 to 3": {},
		"4 shards: use 1 to 3": {store, store, store, store},
	} {
		if _, err := shortener.NewShards(stores...); fmt.Sprint(err) != want {
			t.Errorf("NewShards() = %v, want %s", err, want)
		}
	}
}
