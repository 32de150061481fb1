package clickstest

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// store keeps clicks in memory.
type store struct {
	mu     sync.Mutex
	clicks map[string]shortener.Click
	// changed is closed and replaced at each commit.
	changed chan struct{}
	commits int
	// largest is the size of the largest batch.
	largest int
	// fate decides over each batch; nil is to commit all of them.
	fate func(batch int) fate
}

// fate is what becomes of a batch.
type fate struct {
	commit bool
	// half commits the first half, and returns its number with the error, as shards
	// do when one is down.
	half bool
	err  error
	// then runs before the answer, which is how a process dies between the
	// commit and what comes after it.
	then func()
}

var errFate = errors.New("the store does not answer")

var _ shortener.ClickStore = (*store)(nil)

func newStore() *store {
	return &store{clicks: map[string]shortener.Click{}, changed: make(chan struct{})}
}

// AddClicks stores the clicks that it does not have: all, none, or half.
func (s *store) AddClicks(_ context.Context, clicks []shortener.Click) (added int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := fate{commit: true}
	if s.fate != nil {
		f = s.fate(s.commits)
	}
	s.commits++
	s.largest = max(s.largest, len(clicks))
	if f.half {
		clicks = clicks[:(len(clicks)+1)/2]
	}
	if f.commit || f.half {
		before := len(s.clicks)
		for _, c := range clicks {
			s.clicks[c.ID] = c
		}
		added = len(s.clicks) - before
		close(s.changed)
		s.changed = make(chan struct{})
	}
	if f.then != nil {
		f.then()
	}
	if f.err != nil && !f.half {
		return 0, f.err // the caller does not get the number
	}
	return added, f.err
}

// decide sets the results of the next batches, numbered from 0.
func (s *store) decide(f func(batch int) fate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commits, s.fate = 0, f
}

// await returns when n clicks are stored.
func (s *store) await(t *testing.T, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	for {
		s.mu.Lock()
		have, changed := len(s.clicks), s.changed
		s.mu.Unlock()
		if have >= n {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("%d of %d clicks were stored within %v", have, n, waitTimeout)
		}
	}
}

// check compares the stored clicks with the sent ones.
func (s *store) check(t *testing.T, clicks []shortener.Click) {
	t.Helper()
	want := map[string]shortener.Click{}
	for _, c := range clicks {
		want[c.ID] = c
	}
	s.mu.Lock()
	got := maps.Clone(s.clicks)
	s.mu.Unlock()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored clicks (-want +got):\n%s", diff)
	}
}
