package memory

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// Store keeps links and clicks in memory.
type Store struct {
	now func() time.Time

	mu    sync.Mutex
	links map[string]*entry
	// clicks are the ids that were counted.
	clicks map[string]bool
	// failure is what every method returns while it is not nil.
	failure error
}

type entry struct {
	link   shortener.Link
	clicks int64
}

var _ shortener.Store = (*Store)(nil)

// New returns an empty store.
func New(now func() time.Time) *Store {
	return &Store{now: now, links: map[string]*entry{}, clicks: map[string]bool{}}
}

// SetFailure makes every method fail with err, until it is called with nil.
func (m *Store) SetFailure(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failure = err
}

// Create adds a link.
func (m *Store) Create(ctx context.Context, l shortener.Link) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := cmp.Or(m.failure, ctx.Err()); err != nil {
		return err
	}
	if e, ok := m.links[l.Code]; ok && !e.link.Expired(l.CreatedAt) {
		return shortener.ErrTaken
	}
	m.links[l.Code] = &entry{link: l}
	return nil
}

// Find returns the link of a code.
func (m *Store) Find(ctx context.Context, code string) (shortener.Link, error) {
	l, _, err := m.Details(ctx, code)
	return l, err
}

// Details returns the link of a code and how often it was clicked.
func (m *Store) Details(_ context.Context, code string) (shortener.Link, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failure != nil {
		return shortener.Link{}, 0, m.failure
	}
	e, ok := m.links[code]
	if !ok || e.link.Expired(m.now()) {
		return shortener.Link{}, 0, shortener.ErrNotFound
	}
	return e.link, e.clicks, nil
}

// Totals counts links and clicks.
func (m *Store) Totals(context.Context) (links, clicks int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failure != nil {
		return 0, 0, m.failure
	}
	return int64(len(m.links)), int64(len(m.clicks)), nil
}

// AddClicks stores the clicks that were not stored before.
func (m *Store) AddClicks(_ context.Context, clicks []shortener.Click) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failure != nil {
		return 0, m.failure
	}
	added := 0
	for _, c := range clicks {
		if e, ok := m.links[c.Code]; ok && !m.clicks[c.ID] && !e.link.CreatedAt.After(c.At.Add(shortener.ClockError)) {
			m.clicks[c.ID] = true
			e.clicks++
			added++
		}
	}
	return added, nil
}

// Ping answers.
func (m *Store) Ping(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failure
}
