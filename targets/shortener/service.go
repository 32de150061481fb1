package shortener

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// maxTries bounds how often a random code is drawn for one link. With a tenth
// of all codes taken, one link in 10^10 is refused; with nine tenths, one in
// three, and then it is time for longer codes.
const maxTries = 10

var (
	// ErrAlias says that an alias cannot be a code.
	ErrAlias = fmt.Errorf("alias is not 1 to %d letters and digits, or is a page of the service", MaxCodeLength)
	// ErrNoFreeCode says that every random code that was tried was taken.
	ErrNoFreeCode = fmt.Errorf("no free code found in %d tries", maxTries)
)

// Config is what the service is made of.
type Config struct {
	Store Store
	// Cache stands in front of the store; nil is none.
	Cache Cache
	// Clicks counts each visit; nil counts none.
	Clicks Clicks
	// Aids are asked by Ping; nil is none.
	Aids Aids
	// CodeLength is the length of random codes.
	CodeLength int
	// TTL is how long a link lives.
	TTL time.Duration
	// RandomCode draws a code of a length; nil is the function of that name.
	RandomCode func(length int) string
	Now        func() time.Time
	Count      Count
	Logger     *slog.Logger
}

func (c Config) validate() error {
	var errs []error
	if c.Store == nil || c.Now == nil || c.Count == nil || c.Logger == nil {
		errs = append(errs, errors.New("shortener is incomplete: set Store, Now, Count and Logger"))
	}
	errs = append(errs, ValidateCodeLength(c.CodeLength), ValidateTTL(c.TTL))
	return errors.Join(errs...)
}

// ValidateCodeLength reports a length that random codes cannot have.
func ValidateCodeLength(n int) error {
	if n < 1 || n > MaxCodeLength {
		return fmt.Errorf("code length is %d: use 1 to %d", n, MaxCodeLength)
	}
	return nil
}

// ValidateTTL reports a lifetime that links cannot have.
func ValidateTTL(d time.Duration) error {
	if d <= 0 {
		return fmt.Errorf("lifetime of links is %v: use more than 0s", d)
	}
	return nil
}

// Service shortens URLs and leads to them.
type Service struct {
	Config
	finder Finder
}

// New returns the service of a valid configuration.
func New(c Config) (*Service, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if c.RandomCode == nil {
		c.RandomCode = RandomCode
	}
	s := &Service{Config: c, finder: c.Store}
	if c.Cache != nil {
		s.finder = c.Cache
	}
	return s, nil
}

// Shorten creates a link to the URL, with the alias as its code if one is
// given. It fails with an error of ParseURL, ErrAlias, ErrTaken of an alias,
// ErrNoFreeCode, or when the store does.
func (s *Service) Shorten(ctx context.Context, rawURL string, alias *string) (Link, error) {
	target, err := ParseURL(rawURL)
	if err != nil {
		return Link{}, err
	}
	if alias != nil && !IsCode(*alias) {
		return Link{}, ErrAlias
	}
	now := s.Now().UTC().Truncate(time.Microsecond) // what a store keeps
	link := Link{URL: target, CreatedAt: now, ExpiresAt: now.Add(s.TTL)}
	if alias != nil {
		link.Code = *alias
		err = s.Store.Create(ctx, link)
	} else {
		link.Code, err = s.createRandom(ctx, link)
	}
	if err != nil {
		if s.Cache != nil && errors.Is(err, ErrOutcomeUnknown) {
			s.cached(s.Cache.Doubt(ctx, link.Code))
		}
		return Link{}, fmt.Errorf("create link: %w", err)
	}
	s.Count(LinkCreated, 1)
	if s.Cache != nil {
		s.cached(s.Cache.Put(ctx, link))
	}
	return link, nil
}

// createRandom tries codes until one is free, and returns it.
func (s *Service) createRandom(ctx context.Context, link Link) (string, error) {
	for range maxTries {
		link.Code = s.RandomCode(s.CodeLength)
		err := s.Store.Create(ctx, link)
		if !errors.Is(err, ErrTaken) {
			return link.Code, err
		}
		s.Count(Collision, 1)
	}
	return "", ErrNoFreeCode
}

// cached is the end of an update of the cache. The link exists whether or not the
// cache has it, so a cache that fails fails no creation.
func (s *Service) cached(err error) {
	if err != nil {
		s.Logger.Warn("cache not updated with new link", "error", err)
	}
}

// Find returns the link of a code.
func (s *Service) Find(ctx context.Context, code string) (Link, error) {
	if !IsCode(code) {
		return Link{}, ErrNotFound
	}
	return s.finder.Find(ctx, code)
}

// Visit returns the link of a code, and counts one click on it.
func (s *Service) Visit(ctx context.Context, code string) (Link, error) {
	link, err := s.Find(ctx, code)
	if err != nil || s.Clicks == nil {
		return link, err
	}
	if err := s.Clicks.Clicked(ctx, NewClick(code, s.Now())); err != nil {
		return Link{}, fmt.Errorf("count click: %w", err)
	}
	return link, nil
}

// Details returns the link of a code and how often it was clicked. It asks the
// store, never the cache, since clicks are counted there.
func (s *Service) Details(ctx context.Context, code string) (Link, int64, error) {
	if !IsCode(code) {
		return Link{}, 0, ErrNotFound
	}
	return s.Store.Details(ctx, code)
}

// Totals counts all links and all clicks.
func (s *Service) Totals(ctx context.Context) (links, clicks int64, err error) {
	return s.Store.Totals(ctx)
}
