package postgres

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func containsAny(s string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}

// seeded are the first n links of a load test.
func seeded(n int) []shortener.Link {
	seeding := shortener.Seeding{Rows: n, Seed: 1, CodeLength: 6, TTL: time.Hour, Now: storetest.Start}
	links := make([]shortener.Link, n)
	for i := range links {
		links[i] = seeding.Link(i)
	}
	return links
}

func TestLinksAreLoadedOnce(t *testing.T) {
	for name, addr := range map[string]func(*testing.T) string{
		"direct": func(t *testing.T) string { return postgrestest.Shared(t).Addr() }, "pgbouncer": bounced,
	} {
		t.Run(name, func(t *testing.T) {
			clock := storetest.NewClock()
			s := open(t, addr(t), func(o *Options) {
				o.Now = clock.Now
				if name == "pgbouncer" {
					o.Connections = PgBouncer
				}
			})
			links := seeded(1000)
			mine := links[500]
			mine.URL = "https://example.com/mine"
			must.Succeed(t, s.Create(t.Context(), mine))
			for _, want := range []int{999, 0} { // a second run adds nothing
				if added, err := s.Load(t.Context(), links); err != nil || added != want {
					t.Fatalf("Load() = %d, %v; want %d", added, err, want)
				}
			}
			links[500] = mine // the existing link stays
			for _, i := range []int{0, 499, 500, 999} {
				got, err := s.Find(t.Context(), links[i].Code)
				must.Succeed(t, err)
				same.As(t, fmt.Sprintf("link %d", i), links[i], got)
			}
			if n, _, err := s.Totals(t.Context()); err != nil || n != 1000 {
				t.Errorf("Totals() = %d links, %v; want 1000", n, err)
			}
		})
	}
}

// A batch with a link that cannot be stored adds none of its links.
func TestLoadIsOneTransaction(t *testing.T) {
	s := open(t, postgrestest.Shared(t).Addr(), nil)
	links := seeded(10)
	links[9].URL = "\x00" // Postgres has no such text
	if added, err := s.Load(t.Context(), links); err == nil || added != 0 {
		t.Errorf("Load() = %d, %v; want an error", added, err)
	}
	if n, _, err := s.Totals(t.Context()); err != nil || n != 0 {
		t.Errorf("Totals() = %d links, %v; want 0", n, err)
	}
}
