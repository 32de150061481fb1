package redis

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A link that was looked up before it was there is found when it is, on every replica
// and by whatever way it came.
func TestNewLinkIsFoundAfterItWasMissed(t *testing.T) {
	ways := map[string]func(*Cache, shortener.Link) error{
		"put":            func(c *Cache, l shortener.Link) error { return c.Put(t.Context(), l) },
		"seeded":         func(c *Cache, _ shortener.Link) error { return c.client.ForgetNegative(t.Context()) },
		"perhaps stored": func(c *Cache, l shortener.Link) error { return c.Doubt(t.Context(), l.Code) },
	}
	for name, come := range ways {
		t.Run(name, func(t *testing.T) {
			client := open(t, redistest.Start(t))
			finder := newLinks()
			replica, other := newCache(t, client, finder, nil), newCache(t, client, finder, nil)
			want(t, replica, "abc")
			want(t, other, "abc")
			created := link("abc", time.Hour)
			finder.change(func() { finder.all["abc"] = created })
			want(t, other, "abc") // remembered
			must.Succeed(t, come(replica, created))
			want(t, other, "abc", created)
			want(t, replica, "abc", created)
		})
	}
}

// A lookup that found nothing before the link was there stores so only afterwards.
func TestLateNegativeEntryHidesNoLink(t *testing.T) {
	ways := map[string]func(*Cache) error{
		"seeded":         func(c *Cache) error { return c.client.ForgetNegative(t.Context()) },
		"perhaps stored": func(c *Cache) error { return c.Doubt(t.Context(), "abc") },
	}
	for name, come := range ways {
		t.Run(name, func(t *testing.T) {
			client := open(t, redistest.Start(t))
			finder := newLinks()
			finder.held = make(chan struct{})
			cache := newCache(t, client, finder, nil)
			late := make(chan struct{})
			go func() {
				defer close(late)
				want(t, cache, "abc")
			}()
			await.True(t, "the store is asked", func() bool { return finder.asks() == 1 })
			created := link("abc", time.Hour)
			finder.change(func() { finder.all["abc"] = created })
			must.Succeed(t, come(cache))
			close(finder.held)
			<-late
			want(t, newCache(t, client, finder, nil), "abc", created)
		})
	}
}

// Entries of a generation before are replaced, and not asked for without end.
func TestCodesWithoutLinkAreRememberedAgain(t *testing.T) {
	client := open(t, redistest.Start(t))
	finder := newLinks()
	cache := newCache(t, client, finder, nil)
	for range 2 {
		must.Succeed(t, client.ForgetNegative(t.Context()))
		for range 3 {
			want(t, cache, "abc")
		}
	}
	same.As(t, "questions to the store", 2, finder.asks())
}

// A link that was created while Redis did not answer is found when it does again,
// whatever Redis had of its code, and though the breaker is still open.
func TestLinkCreatedDuringAnOutageIsFound(t *testing.T) {
	ways := map[string]func(*Cache, shortener.Link) error{
		"put":            func(c *Cache, l shortener.Link) error { return c.Put(t.Context(), l) },
		"perhaps stored": func(c *Cache, l shortener.Link) error { return c.Doubt(t.Context(), l.Code) },
	}
	for name, come := range ways {
		t.Run(name, func(t *testing.T) {
			server := redistest.New(t)
			client := open(t, server.Addr())
			finder := newLinks()
			replica, other := newCache(t, client, finder, nil), newCache(t, client, finder, nil)
			want(t, other, "abc")
			server.Crash(t)
			created := link("abc", time.Hour)
			finder.change(func() { finder.all["abc"] = created })
			for range 2 * failuresToOpen {
				if err := come(replica, created); err == nil {
					t.Fatal("told to a cache that is away")
				}
			}
			server.Start(t)
			await.True(t, "the other replica finds the link", func() bool {
				got, err := other.Find(t.Context(), "abc")
				return err == nil && got == created
			})
		})
	}
}
