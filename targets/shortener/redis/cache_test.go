package redis

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC)

// links is a finder that is asked, and counts how often.
type links struct {
	mu    sync.Mutex
	all   map[string]shortener.Link
	err   error
	asked map[string]int
	// held, if not nil, holds each answer that was found until it is closed.
	held chan struct{}
}

func newLinks(all ...shortener.Link) *links {
	l := &links{all: map[string]shortener.Link{}, asked: map[string]int{}}
	for _, link := range all {
		l.all[link.Code] = link
	}
	return l
}

func (l *links) Find(ctx context.Context, code string) (shortener.Link, error) {
	l.mu.Lock()
	l.asked[code]++
	link, ok := l.all[code]
	err, held := l.err, l.held
	l.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
			return shortener.Link{}, ctx.Err()
		}
	}
	switch {
	case err != nil:
		return shortener.Link{}, err
	case !ok:
		return shortener.Link{}, shortener.ErrNotFound
	}
	return link, nil
}

// change runs f while no call is in progress.
func (l *links) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// asks is how often it was asked, of any code.
func (l *links) asks() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, asked := range l.asked {
		n += asked
	}
	return n
}

// tally counts events.
type tally struct {
	mu sync.Mutex
	n  map[shortener.Event]int
}

func (y *tally) count(e shortener.Event, n int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.n == nil {
		y.n = map[shortener.Event]int{}
	}
	y.n[e] += n
}

func (y *tally) all() map[shortener.Event]int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return maps.Clone(y.n)
}

func newCache(t testing.TB, client *Client, finder shortener.Finder, change func(*CacheConfig)) *Cache {
	t.Helper()
	config := CacheConfig{
		TTL: 24 * time.Hour, NegativeTTL: 5 * time.Minute, Now: func() time.Time { return start },
		Timeout: time.Minute, // a busy machine is no failing Redis
		Count:   func(shortener.Event, int) {}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if change != nil {
		change(&config)
	}
	cache, err := NewCache(client, finder, config)
	must.Succeed(t, err)
	must.Close(t, cache)
	return cache
}

func link(code string, lives time.Duration) shortener.Link {
	return shortener.Link{Code: code, URL: "https://example.com/" + code, CreatedAt: start, ExpiresAt: start.Add(lives)}
}

// want fails the test unless the code leads to the link, or with none given to
// nothing.
func want(t *testing.T, f shortener.Finder, code string, link ...shortener.Link) {
	t.Helper()
	got, err := f.Find(t.Context(), code)
	if len(link) == 0 {
		if !errors.Is(err, shortener.ErrNotFound) {
			t.Errorf("find %s: %+v, %v; want ErrNotFound", code, got, err)
		}
		return
	}
	if err != nil {
		t.Errorf("find %s: %v", code, err)
		return
	}
	same.As(t, "find "+code, link[0], got)
}

func TestFind(t *testing.T) {
	client := open(t, redistest.Start(t))
	known := link("known", time.Hour)
	finder := newLinks(known)
	var y tally
	cache := newCache(t, client, finder, func(c *CacheConfig) { c.Count = y.count })
	for range 3 {
		want(t, cache, "known", known)
		want(t, cache, "unknown")
	}
	// A second replica finds what the first one remembered.
	want(t, newCache(t, client, finder, nil), "known", known)
	same.As(t, "questions", map[string]int{"known": 1, "unknown": 1}, finder.asked)
	events := map[shortener.Event]int{
		shortener.CacheMiss: 2, shortener.CacheHit: 2, shortener.CacheNegativeHit: 2,
	}
	same.As(t, "events", events, y.all())
}

func TestEntriesLiveNoLongerThanTheirLinks(t *testing.T) {
	tests := map[string]struct {
		change func(*CacheConfig)
		code   string
		// Redis counts down from most; 0 is no entry.
		most time.Duration
	}{
		"a link that lives long":        {code: "long", most: 24 * time.Hour},
		"a link that expires before":    {code: "short", most: time.Minute},
		"a link that expires now":       {code: "now"},
		"a code without link":           {code: "none", most: 5 * time.Minute},
		"a code without link, not kept": {code: "none", change: func(c *CacheConfig) { c.NegativeTTL = 0 }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			client := open(t, redistest.Start(t))
			finder := newLinks(link("long", 48*time.Hour), link("short", time.Minute), link("now", time.Microsecond))
			_, _ = newCache(t, client, finder, tt.change).Find(t.Context(), tt.code)
			got, err := client.redis.PTTL(t.Context(), "url:"+tt.code).Result()
			must.Succeed(t, err)
			if tt.most == 0 && got >= 0 || tt.most > 0 && (got > tt.most || got < tt.most/2) {
				t.Errorf("entry lives for %v, want a little less than %v", got, tt.most)
			}
		})
	}
}

// Redis's clock and ours may differ, so that an entry may outlive its link.
func TestExpiredEntryIsAMiss(t *testing.T) {
	now := start
	first, second := link("abc", time.Hour), link("abc", 48*time.Hour)
	second.URL += "/second"
	finder := newLinks(first)
	cache := newCache(t, open(t, redistest.Start(t)), finder, func(c *CacheConfig) { c.Now = func() time.Time { return now } })
	want(t, cache, "abc", first)
	now = start.Add(time.Hour)
	finder.change(func() { finder.all["abc"] = second })
	want(t, cache, "abc", second)
	want(t, cache, "abc", second)
	same.As(t, "questions to the store", 2, finder.asks())
}

func TestUnreadableEntryIsReplaced(t *testing.T) {
	client := open(t, redistest.Start(t))
	must.Succeed(t, client.redis.Set(t.Context(), "url:abc", "{}", 0).Err())
	finder := newLinks(link("abc", time.Hour))
	cache := newCache(t, client, finder, nil)
	want(t, cache, "abc", finder.all["abc"])
	want(t, cache, "abc", finder.all["abc"])
	same.As(t, "questions to the store", 1, finder.asks())
}

// The store says that there is no link, a link is created and put, and only
// then does the first answer arrive.
func TestLateNegativeEntryKeepsNewLink(t *testing.T) {
	client := open(t, redistest.Start(t))
	created := link("abc", time.Hour)
	finder := newLinks()
	finder.held = make(chan struct{})
	cache := newCache(t, client, finder, nil)
	late := make(chan error)
	go func() {
		_, err := cache.Find(t.Context(), "abc")
		late <- err
	}()
	await.True(t, "the store is asked", func() bool { return finder.asks() == 1 })
	must.Succeed(t, cache.Put(t.Context(), created))
	close(finder.held)
	if err := <-late; !errors.Is(err, shortener.ErrNotFound) {
		t.Errorf("the late answer is %v, want ErrNotFound", err)
	}
	want(t, cache, "abc", created)
	want(t, newCache(t, client, finder, nil), "abc", created)
}

func TestStoreFails(t *testing.T) {
	broken := errors.New("broken")
	finder := newLinks(link("abc", time.Hour))
	finder.err = broken
	cache := newCache(t, open(t, redistest.Start(t)), finder, nil)
	if _, err := cache.Find(t.Context(), "abc"); !errors.Is(err, broken) {
		t.Errorf("error is %v, want that of the store", err)
	}
	finder.change(func() { finder.err = nil })
	want(t, cache, "abc", finder.all["abc"]) // a failure is not remembered
}
