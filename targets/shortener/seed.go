package shortener

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

const (
	// MaxSeedRows is the largest number of links that are seeded at once.
	MaxSeedRows = 900_000
	// seedBatch is how many links are loaded in one transaction: enough that
	// its cost does not show, and few enough that progress does.
	seedBatch = 20_000
)

// Loader adds many links at once, and returns how many; those whose code is
// taken are left out.
type Loader interface {
	Load(ctx context.Context, links []Link) (added int, err error)
}

// Seeding says which links a load test finds.
//
// They are a function of the numbers Seed and i alone, so that the test can
// name them by itself: with n = i + (Seed-1)*MaxSeedRows, the code is n in
// base62 (digits 0-9, A-Z, a-z), padded with 0 in front, and its URL is
// https://example.com/seed/<n>. Different seeds give different links. Where
// one of them would have a page of the service for its code, there are no such
// links: see Validate.
type Seeding struct {
	Rows int
	Seed int
	// CodeLength is the length of the codes.
	CodeLength int
	// TTL is how long the links live from Now on.
	TTL time.Duration
	Now time.Time
}

// Validate reports every way in which there are no such links.
func (s Seeding) Validate() error {
	var errs []error
	if s.Rows < 1 || s.Rows > MaxSeedRows {
		errs = append(errs, fmt.Errorf("rows to seed are %d: use 1 to %d", s.Rows, MaxSeedRows))
	}
	if s.Seed < 1 || s.Seed > math.MaxInt32 {
		errs = append(errs, fmt.Errorf("seed is %d: use 1 to %d", s.Seed, math.MaxInt32))
	}
	errs = append(errs, ValidateCodeLength(s.CodeLength), ValidateTTL(s.TTL))
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if last := s.number(s.Rows - 1); math.Pow(float64(len(alphabet)), float64(s.CodeLength)) <= float64(last) {
		return fmt.Errorf("codes of %d characters are too few for %d rows of seed %d: use a larger code length", s.CodeLength, s.Rows, s.Seed)
	}
	return s.validateCodes()
}

// validateCodes reports a link that could not be reached. To leave it out, or to
// give it another code, would cost the rule by which a load test names links.
func (s Seeding) validateCodes() error {
	for _, word := range reserved {
		if i := numberOf(word) - s.number(0); len(word) == s.CodeLength && i >= 0 && i < s.Rows {
			return fmt.Errorf("link %d of seed %d would have the code %s, which is a page of the service: use another seed, another code length, or %d rows at most", i, s.Seed, word, i)
		}
	}
	return nil
}

func (s Seeding) number(i int) int { return i + (s.Seed-1)*MaxSeedRows }

// Link is the i-th link, from 0 on.
func (s Seeding) Link(i int) Link {
	n := s.number(i)
	return Link{
		Code: codeOf(n, s.CodeLength), URL: fmt.Sprintf("https://example.com/seed/%d", n),
		CreatedAt: s.Now, ExpiresAt: s.Now.Add(s.TTL),
	}
}

// Load gives each shard its links, and reports after each batch how many links
// are done and how many of them were added.
func (s Seeding) Load(ctx context.Context, shards []Loader, progress func(done, added int)) error {
	if err := s.Validate(); err != nil {
		return err
	}
	var names []string
	for i := range shards {
		names = append(names, ShardName(i))
	}
	ring := NewRing(names...)
	added := 0
	for done := 0; done < s.Rows; {
		parts := make([][]Link, len(shards))
		end := min(s.Rows, done+seedBatch)
		for ; done < end; done++ {
			link := s.Link(done)
			owner := ring.Owner(link.Code)
			parts[owner] = append(parts[owner], link)
		}
		n, err := loadParts(ctx, shards, parts)
		added += n
		if err != nil {
			return fmt.Errorf("seed links up to the %dth: %w", end, err)
		}
		progress(done, added)
	}
	return nil
}

func loadParts(ctx context.Context, shards []Loader, parts [][]Link) (int, error) {
	added, errs := make([]int, len(shards)), make([]error, len(shards))
	var group sync.WaitGroup
	for i := range shards {
		if len(parts[i]) > 0 {
			group.Go(func() { added[i], errs[i] = shards[i].Load(ctx, parts[i]) })
		}
	}
	group.Wait()
	sum := 0
	for _, n := range added {
		sum += n
	}
	return sum, errors.Join(errs...)
}
