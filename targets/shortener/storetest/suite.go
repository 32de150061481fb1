package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// Start is the initial time of a factory's clock, in the resolution that a store
// keeps.
var Start = time.Date(2026, time.November, 20, 12, 0, 0, 123456000, time.UTC)

// Clock is the time of a subject.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that stands at Start.
func NewClock() *Clock { return &Clock{now: Start} }

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Pass lets time pass.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Factory returns an empty store whose links expire by the clock.
type Factory func(t *testing.T, clock *Clock) shortener.Store

// subject is a store under examination.
type subject struct {
	shortener.Store
	*Clock
}

// Run examines a store.
func Run(t *testing.T, create Factory) {
	t.Helper()
	for name, rule := range map[string]func(*testing.T, subject){
		"a link is found as it was created":              foundAsCreated,
		"an unknown code is not found":                   unknown,
		"codes differ by case":                           caseMatters,
		"a taken code is refused":                        taken,
		"of concurrent creations one gets the code":      onlyOneGetsIt,
		"an expired link is not found":                   expired,
		"an expired code is given again, without clicks": givenAgain,
		"a repeated click is counted once":               countedOnce,
		"clicks are counted exactly under concurrency":   concurrentClicks,
		"a click on no link is dropped":                  clickOnNothing,
		"a late click is not of the next link":           lateClick,
		"no clicks are no work":                          noClicks,
		"an empty store counts nothing":                  empty,
		"it answers":                                     answers,
		"a context that has ended creates nothing":       endedContext,
	} {
		t.Run(name, func(t *testing.T) {
			clock := NewClock()
			rule(t, subject{Store: create(t, clock), Clock: clock})
		})
	}
}

func (s subject) link(code string) shortener.Link {
	now := s.Now()
	return shortener.Link{Code: code, URL: "https://example.com/" + code, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
}

func (s subject) create(t *testing.T, code string) shortener.Link {
	t.Helper()
	l := s.link(code)
	if err := s.Create(t.Context(), l); err != nil {
		t.Fatalf("Create(%s): %v", code, err)
	}
	return l
}

func (s subject) add(t *testing.T, want int, clicks ...shortener.Click) {
	t.Helper()
	if added, err := s.AddClicks(t.Context(), clicks); err != nil || added != want {
		t.Fatalf("AddClicks() = %d, %v; want %d", added, err, want)
	}
}

func (s subject) wantClicks(t *testing.T, code string, want int64) {
	t.Helper()
	if _, got, err := s.Details(t.Context(), code); err != nil || got != want {
		t.Errorf("Details(%s) = %d clicks, %v; want %d", code, got, err, want)
	}
}

func (s subject) wantTotals(t *testing.T, links, clicks int64) {
	t.Helper()
	l, c, err := s.Totals(t.Context())
	if err != nil || l != links || c != clicks {
		t.Errorf("Totals() = %d links, %d clicks, %v; want %d, %d", l, c, err, links, clicks)
	}
}

// codes are many enough that each of three shards has some.
func codes(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("code%02d", i)
	}
	return all
}

func foundAsCreated(t *testing.T, s subject) {
	for _, code := range codes(20) {
		want := s.create(t, code)
		got, err := s.Find(t.Context(), code)
		if err != nil {
			t.Fatalf("Find(%s): %v", code, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("found (-want +got):\n%s", diff)
		}
		detailed, clicks, err := s.Details(t.Context(), code)
		if err != nil || clicks != 0 {
			t.Errorf("Details(%s) = %d clicks, %v; want 0", code, clicks, err)
		}
		if diff := cmp.Diff(want, detailed); diff != "" {
			t.Errorf("details (-want +got):\n%s", diff)
		}
	}
	s.wantTotals(t, 20, 0)
}

func unknown(t *testing.T, s subject) {
	s.create(t, "known")
	if _, err := s.Find(t.Context(), "unknown"); !errors.Is(err, shortener.ErrNotFound) {
		t.Errorf("Find() = %v, want ErrNotFound", err)
	}
	if _, _, err := s.Details(t.Context(), "unknown"); !errors.Is(err, shortener.ErrNotFound) {
		t.Errorf("Details() = %v, want ErrNotFound", err)
	}
}

func caseMatters(t *testing.T, s subject) {
	s.create(t, "code")
	s.create(t, "CODE")
	if l, err := s.Find(t.Context(), "CODE"); err != nil || l.URL != "https://example.com/CODE" {
		t.Errorf("Find(CODE) = %v, %v", l, err)
	}
}

func taken(t *testing.T, s subject) {
	want := s.create(t, "code")
	other := s.link("code")
	other.URL = "https://example.com/other"
	if err := s.Create(t.Context(), other); !errors.Is(err, shortener.ErrTaken) {
		t.Errorf("Create() = %v, want ErrTaken", err)
	}
	got, err := s.Find(t.Context(), "code")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the first link (-want +got):\n%s", diff)
	}
	s.wantTotals(t, 1, 0)
}

func onlyOneGetsIt(t *testing.T, s subject) {
	var (
		group   sync.WaitGroup
		mu      sync.Mutex
		created int
	)
	for range 20 {
		group.Go(func() {
			err := s.Create(t.Context(), s.link("code"))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				created++
			} else if !errors.Is(err, shortener.ErrTaken) {
				t.Errorf("Create() = %v, want ErrTaken", err)
			}
		})
	}
	group.Wait()
	if created != 1 {
		t.Errorf("%d of 20 creations got the code, want 1", created)
	}
	s.wantTotals(t, 1, 0)
}

func expired(t *testing.T, s subject) {
	s.create(t, "code")
	s.Pass(time.Hour - time.Microsecond)
	if _, err := s.Find(t.Context(), "code"); err != nil {
		t.Errorf("Find() just before it expires = %v", err)
	}
	s.Pass(time.Microsecond)
	if _, err := s.Find(t.Context(), "code"); !errors.Is(err, shortener.ErrNotFound) {
		t.Errorf("Find() when it expires = %v, want ErrNotFound", err)
	}
	if _, _, err := s.Details(t.Context(), "code"); !errors.Is(err, shortener.ErrNotFound) {
		t.Errorf("Details() when it expires = %v, want ErrNotFound", err)
	}
}

func givenAgain(t *testing.T, s subject) {
	s.create(t, "code")
	s.add(t, 1, shortener.NewClick("code", s.Now()))
	s.Pass(time.Hour)
	want := s.link("code")
	want.URL = "https://example.com/next"
	if err := s.Create(t.Context(), want); err != nil {
		t.Fatalf("Create() of an expired code = %v", err)
	}
	got, err := s.Find(t.Context(), "code")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	s.wantClicks(t, "code", 0)
	s.add(t, 1, shortener.NewClick("code", s.Now()))
	s.wantClicks(t, "code", 1)
	s.wantTotals(t, 1, 2)
}

func endedContext(t *testing.T, s subject) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Create(ctx, s.link("code")); err == nil {
		t.Error("Create() did not fail")
	}
	s.wantTotals(t, 0, 0)
}
