package breaker

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

var errDown = errors.New("no store")

// store answers as it is told, and counts who asks.
type store struct {
	asked int
	err   error
}

func (s *store) Take(context.Context, string) (ratelimiter.Decision, error) {
	s.asked++
	if s.err != nil {
		return ratelimiter.Decision{}, s.err
	}
	return ratelimiter.Decision{Allowed: true, Remaining: 7}, nil
}

func newBreaker(t *testing.T, s *store) (breaker *Limiter, changes *[]bool) {
	t.Helper()
	changes = &[]bool{}
	breaker, err := New(s, func(asking bool) { *changes = append(*changes, asking) })
	if err != nil {
		t.Fatal(err)
	}
	return breaker, changes
}

// fail sends n requests and returns how many of them asked the store.
func fail(t *testing.T, breaker *Limiter, s *store, n int) int {
	t.Helper()
	before := s.asked
	for range n {
		if got, err := breaker.Take(t.Context(), "client"); err == nil {
			t.Fatalf("decision = %+v, want an error", got)
		}
	}
	return s.asked - before
}

func TestPassesOnWhatTheStoreDecides(t *testing.T) {
	breaker, changes := newBreaker(t, &store{})
	got, err := breaker.Take(t.Context(), "client")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ratelimiter.Decision{Allowed: true, Remaining: 7}, got); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
	if len(*changes) != 0 {
		t.Errorf("changes = %v, want none", *changes)
	}
}

func TestAStoreThatIsDownIsAskedOnceInEachPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{err: errDown}
		breaker, changes := newBreaker(t, s)
		if got := fail(t, breaker, s, 1000); got != tolerated {
			t.Errorf("asked %d times, want %d", got, tolerated)
		}
		if _, err := breaker.Take(t.Context(), "client"); !errors.Is(err, ratelimiter.ErrNotAsked) {
			t.Errorf("error = %v, want ErrNotAsked", err)
		}
		for range 3 {
			<-time.After(Pause + 1)
			if got := fail(t, breaker, s, 1000); got != 1 {
				t.Errorf("asked %d times after a pause, want once", got)
			}
		}
		if diff := cmp.Diff([]bool{false}, *changes); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}

		s.err = nil
		<-time.After(Pause + 1)
		for range 10 {
			if _, err := breaker.Take(t.Context(), "client"); err != nil {
				t.Errorf("after the store came back: %v", err)
			}
		}
		if diff := cmp.Diff([]bool{false, true}, *changes); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	})
}

func TestFailuresThatAreNotInARow(t *testing.T) {
	s := &store{}
	breaker, _ := newBreaker(t, s)
	for range 3 {
		s.err = errDown
		if got := fail(t, breaker, s, tolerated-1); got != tolerated-1 {
			t.Errorf("asked %d times, want each time", got)
		}
		s.err = nil
		if _, err := breaker.Take(t.Context(), "client"); err != nil {
			t.Errorf("the store answers, and yet: %v", err)
		}
	}
}

// A store that is busy must not be taken for one that is gone.
func TestContentionIsAnAnswer(t *testing.T) {
	s := &store{err: fmt.Errorf("take after 10 retries: %w", ratelimiter.ErrContended)}
	breaker, changes := newBreaker(t, s)
	if got := fail(t, breaker, s, 100); got != 100 {
		t.Errorf("asked %d times of 100", got)
	}
	if _, err := breaker.Take(t.Context(), "client"); !errors.Is(err, ratelimiter.ErrContended) {
		t.Errorf("error = %v, want ErrContended", err)
	}
	if len(*changes) != 0 {
		t.Errorf("changes = %v, want none", *changes)
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(nil, func(bool) {}); err == nil {
		t.Error("accepted no limiter")
	}
	if _, err := New(&store{}, nil); err == nil {
		t.Error("accepted nobody to tell")
	}
}
