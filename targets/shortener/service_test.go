package shortener_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/memory"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// counter counts events of one goroutine.
type counter map[shortener.Event]int

func (c counter) count(e shortener.Event, n int) {
	if n != 0 {
		c[e] += n
	}
}

// recorder is a cache that finds nothing by itself, and a counter of clicks.
type recorder struct {
	shortener.Finder
	put     []shortener.Link
	doubted []string
	clicked []string
	err     error
}

func (r *recorder) Put(_ context.Context, l shortener.Link) error {
	r.put = append(r.put, l)
	return r.err
}

func (r *recorder) Doubt(_ context.Context, code string) error {
	r.doubted = append(r.doubted, code)
	return r.err
}

func (r *recorder) Clicked(_ context.Context, c shortener.Click) error {
	r.clicked = append(r.clicked, c.Code)
	return r.err
}

type fixture struct {
	*shortener.Service
	store  *memory.Store
	clock  *storetest.Clock
	counts counter
}

func newService(t *testing.T, change func(*shortener.Config)) fixture {
	t.Helper()
	clock := storetest.NewClock()
	f := fixture{store: memory.New(clock.Now), clock: clock, counts: counter{}}
	c := shortener.Config{
		Store: f.store, CodeLength: 6, TTL: time.Hour,
		Now: clock.Now, Count: f.counts.count, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if change != nil {
		change(&c)
	}
	service, err := shortener.New(c)
	must.Succeed(t, err)
	f.Service = service
	return f
}

// draws returns the codes one after the other, and then always the last.
func draws(codes ...string) func(int) string {
	return func(int) string {
		code := codes[0]
		if len(codes) > 1 {
			codes = codes[1:]
		}
		return code
	}
}

func TestALinkLeadsWhereItsURLSays(t *testing.T) {
	f := newService(t, nil)
	got, err := f.Shorten(t.Context(), "example.com/a", nil)
	must.Succeed(t, err)
	want := shortener.Link{Code: got.Code, URL: "https://example.com/a", CreatedAt: storetest.Start, ExpiresAt: storetest.Start.Add(time.Hour)}
	same.As(t, "link", want, got)
	if len(got.Code) != 6 {
		t.Errorf("code = %q, want 6 characters", got.Code)
	}
	found, err := f.Find(t.Context(), got.Code)
	must.Succeed(t, err)
	same.As(t, "found", want, found)
}

func TestShortenWithAlias(t *testing.T) {
	f := newService(t, nil)
	alias := "mine"
	if l, err := f.Shorten(t.Context(), "example.com", &alias); err != nil || l.Code != alias {
		t.Errorf("Shorten() = %q, %v; want %q", l.Code, err, alias)
	}
	if _, err := f.Shorten(t.Context(), "example.org", &alias); !errors.Is(err, shortener.ErrTaken) {
		t.Errorf("Shorten() of an alias that is taken = %v, want ErrTaken", err)
	}
	for _, alias := range []string{"", "a-b", "urls"} {
		if _, err := f.Shorten(t.Context(), "example.com", &alias); !errors.Is(err, shortener.ErrAlias) {
			t.Errorf("Shorten() with alias %q = %v, want ErrAlias", alias, err)
		}
	}
	if _, err := f.Shorten(t.Context(), "ftp://example.com", nil); !errors.Is(err, shortener.ErrURLFormat) {
		t.Errorf("Shorten() of ftp = %v, want ErrURLFormat", err)
	}
	// An alias that is taken is no collision of random codes.
	same.As(t, "counted", counter{shortener.LinkCreated: 1}, f.counts)
}

func TestTakenCodesAreDrawnAgain(t *testing.T) {
	f := newService(t, func(c *shortener.Config) { c.RandomCode = draws("a", "a", "a", "b", "b") })
	for _, want := range []string{"a", "b"} {
		if l, err := f.Shorten(t.Context(), "example.com", nil); err != nil || l.Code != want {
			t.Fatalf("Shorten() = %q, %v; want %q", l.Code, err, want)
		}
	}
	if _, err := f.Shorten(t.Context(), "example.com", nil); !errors.Is(err, shortener.ErrNoFreeCode) {
		t.Errorf("Shorten() without a free code = %v, want ErrNoFreeCode", err)
	}
	same.As(t, "counted", counter{shortener.LinkCreated: 2, shortener.Collision: 2 + 10}, f.counts)
}

// A store that fails is asked once, and its error is not a collision.
func TestShortenFailsWithTheStore(t *testing.T) {
	f := newService(t, nil)
	gone := errors.New("gone")
	f.store.SetFailure(gone)
	if _, err := f.Shorten(t.Context(), "example.com", nil); !errors.Is(err, gone) {
		t.Errorf("Shorten() = %v, want %v", err, gone)
	}
	same.As(t, "counted", counter{}, f.counts)
}

func TestServiceUsesCache(t *testing.T) {
	cache := &recorder{Finder: memory.New(storetest.NewClock().Now)}
	f := newService(t, func(c *shortener.Config) { c.Cache = cache })
	l, err := f.Shorten(t.Context(), "example.com", nil)
	must.Succeed(t, err)
	same.As(t, "put", []shortener.Link{l}, cache.put)
	if _, err := f.Find(t.Context(), l.Code); !errors.Is(err, shortener.ErrNotFound) {
		t.Errorf("Find() = %v: it did not ask the cache, which has nothing", err)
	}
	if _, clicks, err := f.Details(t.Context(), l.Code); err != nil || clicks != 0 {
		t.Errorf("Details() = %d, %v: it did not ask the store", clicks, err)
	}
	cache.err = errors.New("gone")
	if _, err := f.Shorten(t.Context(), "example.com", nil); err != nil {
		t.Errorf("Shorten() with a cache that fails = %v", err)
	}
	for failure, want := range map[error][]string{shortener.ErrOutcomeUnknown: {"mine"}, errors.New("refused"): nil} {
		f.store.SetFailure(failure)
		cache.doubted = nil
		mine := "mine"
		if _, err := f.Shorten(t.Context(), "example.com", &mine); !errors.Is(err, failure) {
			t.Errorf("Shorten() = %v, want %v", err, failure)
		}
		same.As(t, fmt.Sprintf("codes that may be links after %q", failure), want, cache.doubted)
	}
}

func TestVisitsOfLinksAreClicks(t *testing.T) {
	clicks := &recorder{}
	f := newService(t, func(c *shortener.Config) { c.Clicks = clicks })
	l, err := f.Shorten(t.Context(), "example.com", nil)
	must.Succeed(t, err)
	if got, err := f.Visit(t.Context(), l.Code); err != nil || got != l {
		t.Errorf("Visit() = %v, %v; want %v", got, err, l)
	}
	if _, err := f.Find(t.Context(), l.Code); err != nil {
		t.Error(err)
	}
	for _, code := range []string{"nothing", "urls", "a-b", ""} {
		if _, err := f.Visit(t.Context(), code); !errors.Is(err, shortener.ErrNotFound) {
			t.Errorf("Visit(%q) = %v, want ErrNotFound", code, err)
		}
	}
	same.As(t, "clicked", []string{l.Code}, clicks.clicked)
	clicks.err = errors.New("gone")
	if _, err := f.Visit(t.Context(), l.Code); !errors.Is(err, clicks.err) {
		t.Errorf("Visit() of which the click is not counted = %v, want %v", err, clicks.err)
	}
}

// An invalid code is not looked up.
func TestInvalidCodeSkipsStore(t *testing.T) {
	f := newService(t, nil)
	f.store.SetFailure(errors.New("asked"))
	if _, err := f.Find(t.Context(), "urls"); !errors.Is(err, shortener.ErrNotFound) {
		t.Errorf("Find() = %v, want ErrNotFound", err)
	}
	if _, _, err := f.Details(t.Context(), "a-b"); !errors.Is(err, shortener.ErrNotFound) {
		t.Errorf("Details() = %v, want ErrNotFound", err)
	}
}

func TestNewRefuses(t *testing.T) {
	tests := map[string]struct {
		config shortener.Config
		want   string
	}{
		"nothing": {shortener.Config{CodeLength: 6, TTL: 1}, "shortener is incomplete: set Store, Now, Count and Logger"},
		"no code": {shortener.Config{CodeLength: 0, TTL: 1}, "code length is 0: use 1 to 30"},
		"no life": {shortener.Config{CodeLength: 31, TTL: -time.Second}, "code length is 31: use 1 to 30\nlifetime of links is -1s: use more than 0s"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if name != "nothing" {
				clock := storetest.NewClock()
				tt.config.Store, tt.config.Now = memory.New(clock.Now), clock.Now
				tt.config.Count, tt.config.Logger = counter{}.count, slog.Default()
			}
			_, err := shortener.New(tt.config)
			same.As(t, "error", tt.want, fmt.Sprint(err))
		})
	}
}

func TestNewRefusesIncompleteConfig(t *testing.T) {
	clock := storetest.NewClock()
	config := shortener.Config{
		Store: memory.New(clock.Now), Now: clock.Now, Count: counter{}.count, Logger: slog.Default(), CodeLength: 6, TTL: 1,
	}
	accept := func(c shortener.Config) error { _, err := shortener.New(c); return err }
	servetest.Required(t, config, accept, "Store", "Now", "Count", "Logger")
}
