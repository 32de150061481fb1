package postgres

import (
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// clicked is a store with two links, clicked three times and once.
func clicked(t *testing.T) (*Store, []shortener.Click) {
	t.Helper()
	s := open(t, postgrestest.Shared(t).Addr(), func(o *Options) { o.Now = storetest.NewClock().Now })
	links := seeded(2)
	if _, err := s.Load(t.Context(), links); err != nil {
		t.Fatal(err)
	}
	var clicks []shortener.Click
	for _, l := range []shortener.Link{links[0], links[0], links[0], links[1]} {
		clicks = append(clicks, shortener.NewClick(l.Code, storetest.Start))
	}
	if added, err := s.AddClicks(t.Context(), clicks); err != nil || added != 4 {
		t.Fatalf("AddClicks() = %d, %v; want 4", added, err)
	}
	return s, clicks
}

// wantCounts checks the counts; the second link always has its one click.
func wantCounts(t *testing.T, s *Store, rows string, first, total int64) {
	t.Helper()
	same.As(t, "rows of clicks", []string{rows}, ask(t, s, `SELECT count(*)::text FROM clicks`))
	for code, want := range map[string]int64{"000000": first, "000001": 1} {
		if _, got, err := s.Details(t.Context(), code); err != nil || got != want {
			t.Errorf("Details(%s) = %d clicks, %v; want %d", code, got, err, want)
		}
	}
	if _, got, err := s.Totals(t.Context()); err != nil || got != total {
		t.Errorf("Totals() = %d clicks, %v; want %d", got, err, total)
	}
}

// Folding changes no visible count, and keeps recent clicks as rows.
func TestClicksAreFoldedIntoTheirLinks(t *testing.T) {
	s, clicks := clicked(t)
	if n, err := s.Fold(t.Context(), Retention); err != nil || n != 0 {
		t.Errorf("Fold() of young clicks = %d, %v; want 0", n, err)
	}
	wantCounts(t, s, "4", 3, 4)
	ask(t, s, `UPDATE clicks SET stored_at = stored_at - interval '16 days' WHERE id <> '`+clicks[0].ID+`' RETURNING id::text`)
	if n, err := s.Fold(t.Context(), Retention); err != nil || n != 3 {
		t.Errorf("Fold() = %d, %v; want 3", n, err)
	}
	wantCounts(t, s, "1", 3, 4)
	if added, err := s.AddClicks(t.Context(), clicks[:1]); err != nil || added != 0 {
		t.Errorf("AddClicks() of a click that is remembered = %d, %v; want 0", added, err)
	}
	if n, err := s.Fold(t.Context(), -time.Hour); err != nil || n != 1 {
		t.Errorf("Fold() of the rest = %d, %v; want 1", n, err)
	}
	wantCounts(t, s, "0", 3, 4)
}

// Replicas that fold at once fold each click once.
func TestConcurrentFolds(t *testing.T) {
	s, _ := clicked(t)
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		all   int64
	)
	for range 6 {
		group.Go(func() {
			n, err := s.Fold(t.Context(), -time.Hour)
			if err != nil {
				t.Errorf("Fold() = %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			all += n
		})
	}
	group.Wait()
	if all != 4 {
		t.Errorf("%d clicks were folded, want 4", all)
	}
	wantCounts(t, s, "0", 3, 4)
}

// A link that took an expired one's code starts without its folded clicks.
func TestReusedCodeStartsWithoutFoldedClicks(t *testing.T) {
	s, _ := clicked(t)
	if _, err := s.Fold(t.Context(), -time.Hour); err != nil {
		t.Fatal(err)
	}
	next := seeded(1)[0]
	next.CreatedAt, next.ExpiresAt = next.ExpiresAt, next.ExpiresAt.Add(time.Hour)
	must.Succeed(t, s.Create(t.Context(), next))
	wantCounts(t, s, "0", 0, 1)
}
