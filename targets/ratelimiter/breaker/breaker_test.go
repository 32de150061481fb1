package breaker

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var errDown = errors.New("no store")

// store returns the error that a test sets, and counts its calls.
type store struct {
	asked int
	err   error
}

func (s *store) answer() error {
	s.asked++
	return s.err
}

func newBreaker(t *testing.T) (breaker *Breaker, changes *[]bool) {
	t.Helper()
	changes = &[]bool{}
	breaker, err := New(func(asking bool) { *changes = append(*changes, asking) })
	must.Succeed(t, err)
	return breaker, changes
}

// fail asks n questions and returns how many of them reached the store.
func fail(t *testing.T, breaker *Breaker, s *store, n int) int {
	t.Helper()
	before := s.asked
	for range n {
		if err := breaker.Ask(s.answer); err == nil {
			t.Fatal("no error of a store that fails")
		}
	}
	return s.asked - before
}

func TestClosedBreakerReturnsStoreResults(t *testing.T) {
	s := &store{}
	breaker, changes := newBreaker(t)
	for _, s.err = range []error{nil, errDown} {
		if err := breaker.Ask(s.answer); !errors.Is(err, s.err) {
			t.Errorf("error = %v, want %v", err, s.err)
		}
	}
	if s.asked != 2 || len(*changes) != 0 {
		t.Errorf("asked %d times, changes %v; want 2 times and no change", s.asked, *changes)
	}
}

func TestOpenBreakerProbesOncePerPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{err: errDown}
		breaker, changes := newBreaker(t)
		same.As(t, "questions", tolerated, fail(t, breaker, s, 1000))
		if err := breaker.Ask(s.answer); !errors.Is(err, ratelimiter.ErrNotAsked) {
			t.Errorf("error = %v, want ErrNotAsked", err)
		}
		for range 3 {
			<-time.After(Pause + 1)
			same.As(t, "questions after a pause", 1, fail(t, breaker, s, 1000))
		}
		same.As(t, "changes", []bool{false}, *changes)

		s.err = nil
		<-time.After(Pause + 1)
		for range 10 {
			must.Report(t, "after the store came back", breaker.Ask(s.answer))
		}
		same.As(t, "changes", []bool{false, true}, *changes)
	})
}

func TestBreakerCountsConsecutiveFailures(t *testing.T) {
	s := &store{}
	breaker, _ := newBreaker(t)
	for range 3 {
		s.err = errDown
		same.As(t, "questions", tolerated-1, fail(t, breaker, s, tolerated-1))
		s.err = nil
		must.Report(t, "the store answers, and yet", breaker.Ask(s.answer))
	}
}

// A store that is busy must not be taken for one that is gone.
func TestContentionDoesNotOpenBreaker(t *testing.T) {
	s := &store{err: fmt.Errorf("take after 10 retries: %w", ratelimiter.ErrContended)}
	breaker, changes := newBreaker(t)
	same.As(t, "questions of 100", 100, fail(t, breaker, s, 100))
	if err := breaker.Ask(s.answer); !errors.Is(err, ratelimiter.ErrContended) {
		t.Errorf("error = %v, want ErrContended", err)
	}
	if len(*changes) != 0 {
		t.Errorf("changes = %v, want none", *changes)
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(nil); err == nil {
		t.Error("accepted a breaker without changed")
	}
}
