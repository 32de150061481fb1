package shortener_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// loader keeps the codes that it was given, and fails at the n-th call.
type loader struct {
	codes   map[string]bool
	calls   int
	failing int
}

func (l *loader) Load(_ context.Context, links []shortener.Link) (int, error) {
	if l.calls++; l.calls == l.failing {
		return 0, errGone
	}
	added := 0
	for _, link := range links {
		if !l.codes[link.Code] {
			l.codes[link.Code] = true
			added++
		}
	}
	return added, nil
}

func seeding(rows int) shortener.Seeding {
	return shortener.Seeding{Rows: rows, Seed: 1, CodeLength: 6, TTL: time.Hour, Now: storetest.Start}
}

func TestSeededLinks(t *testing.T) {
	tests := map[string]struct {
		seed, i, length int
		want            string
	}{
		"the first":       {1, 0, 6, "000000 https://example.com/seed/0"},
		"a digit":         {1, 9, 6, "000009 https://example.com/seed/9"},
		"a capital":       {1, 10, 6, "00000A https://example.com/seed/10"},
		"a small letter":  {1, 36, 6, "00000a https://example.com/seed/36"},
		"the last digit":  {1, 61, 6, "00000z https://example.com/seed/61"},
		"two digits":      {1, 62, 6, "000010 https://example.com/seed/62"},
		"the last of all": {1, 899_999, 6, "003m87 https://example.com/seed/899999"},
		"a short code":    {1, 238_327, 3, "zzz https://example.com/seed/238327"},
		"another seed":    {2, 0, 6, "003m88 https://example.com/seed/900000"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := seeding(1)
			s.Seed, s.CodeLength = tt.seed, tt.length
			l := s.Link(tt.i)
			same.As(t, "link", tt.want, l.Code+" "+l.URL)
			if l.CreatedAt != storetest.Start || l.ExpiresAt != storetest.Start.Add(time.Hour) {
				t.Errorf("link lives from %v to %v", l.CreatedAt, l.ExpiresAt)
			}
		})
	}
}

func TestSeedingGivesEachShardItsLinks(t *testing.T) {
	const rows = 50_001
	loaders := []shortener.Loader{}
	for range 3 {
		loaders = append(loaders, &loader{codes: map[string]bool{}})
	}
	type step struct{ Done, Added int }
	for _, want := range [][]step{
		{{20_000, 20_000}, {40_000, 40_000}, {rows, rows}},
		{{20_000, 0}, {40_000, 0}, {rows, 0}}, // a second run adds nothing
	} {
		var got []step
		err := seeding(rows).Load(t.Context(), loaders, func(done, added int) { got = append(got, step{done, added}) })
		must.Succeed(t, err)
		same.As(t, "progress", want, got)
	}
	ring, all := shortener.NewRing("shard0", "shard1", "shard2"), 0
	for i := range loaders {
		for code := range loaders[i].(*loader).codes {
			if owner := ring.Owner(code); owner != i {
				t.Fatalf("%s is on shard%d, and shard%d owns it", code, i, owner)
			}
			all++
		}
	}
	if all != rows {
		t.Errorf("%d links, want %d", all, rows)
	}
}

func TestSeedingStopsAtAnError(t *testing.T) {
	var last int
	err := seeding(60_000).Load(t.Context(), []shortener.Loader{&loader{codes: map[string]bool{}, failing: 2}},
		func(done, _ int) { last = done })
	if !errors.Is(err, errGone) || last != 20_000 {
		t.Errorf("Load() = %v after %d, want %v after 20000", err, last, errGone)
	}
}

func TestSeedingRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(*shortener.Seeding)
		want   string
	}{
		"no rows":       {func(s *shortener.Seeding) { s.Rows = 0 }, "rows to seed are 0: use 1 to 900000"},
		"too many rows": {func(s *shortener.Seeding) { s.Rows = 900_001 }, "rows to seed are 900001: use 1 to 900000"},
		"no seed":       {func(s *shortener.Seeding) { s.Seed = 0 }, "seed is 0: use 1 to 2147483647"},
		"no code":       {func(s *shortener.Seeding) { s.CodeLength = 0 }, "code length is 0: use 1 to 30"},
		"no life":       {func(s *shortener.Seeding) { s.TTL = 0 }, "lifetime of links is 0s: use more than 0s"},
		"a page as code": {func(s *shortener.Seeding) { s.Rows, s.Seed, s.CodeLength = 53_069, 16, 4 },
			"link 53068 of seed 16 would have the code urls, which is a page of the service: use another seed, another code length, or 53068 rows at most"},
		"short codes": {func(s *shortener.Seeding) { s.Rows, s.CodeLength = 238_329, 3 },
			"codes of 3 characters are too few for 238329 rows of seed 1: use a larger code length"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := seeding(10)
			tt.change(&s)
			err := s.Load(t.Context(), nil, nil)
			same.As(t, "error", tt.want, fmt.Sprint(err))
		})
	}
}

// All accepted links can be reached, also the last one before a page.
func TestSeededCodesAreCodes(t *testing.T) {
	tests := map[string]struct{ seed, rows, length int }{
		"all of 3 characters": {1, 238_328, 3},
		"the most links":      {1, shortener.MaxSeedRows, 6},
		"before a page":       {16, 53_068, 4},
		"after a page":        {17, 1000, 4},
		"a page, padded":      {16, 53_069, 5},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := seeding(tt.rows)
			s.Seed, s.CodeLength = tt.seed, tt.length
			must.Succeed(t, s.Validate())
			for i := range tt.rows {
				if code := s.Link(i).Code; !shortener.IsCode(code) {
					t.Fatalf("link %d has %q, which is no code", i, code)
				}
			}
		})
	}
}
