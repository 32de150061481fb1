package limitertest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

const (
	callers = 50
	each    = 4
)

// Tally counts the answers to a number of requests.
type Tally struct {
	Granted   int
	Denied    int
	Contended int
}

// Sequential sends n requests of one client, one after the other.
func Sequential(t *testing.T, l ratelimiter.Limiter, client string, n int) Tally {
	t.Helper()
	var tally Tally
	for range n {
		d, err := l.Take(t.Context(), client)
		if err := tally.count(d, err); err != nil {
			t.Fatalf("Take(%q): %v", client, err)
		}
	}
	return tally
}

// Burst sends 200 requests of one client, 50 at a time: the burst of the seed.
func Burst(t *testing.T, l ratelimiter.Limiter, client string) Tally {
	t.Helper()
	var (
		mu    sync.Mutex
		tally Tally
		group sync.WaitGroup
		start = make(chan struct{})
	)
	for range callers {
		group.Go(func() {
			<-start
			for range each {
				d, err := l.Take(t.Context(), client)
				mu.Lock()
				if err := tally.count(d, err); err != nil {
					t.Errorf("Take(%q): %v", client, err)
				}
				mu.Unlock()
			}
		})
	}
	close(start)
	group.Wait()
	return tally
}

// RunAtomic examines what only a strategy without a race keeps.
func RunAtomic(t *testing.T, create Factory) {
	t.Helper()
	t.Run("a concurrent burst is never granted more than its capacity", func(t *testing.T) {
		got := Burst(t, create(t, slow).Limiter, "client")
		if got.Granted < 1 || got.Granted > 50 {
			t.Errorf("tally = %+v, want 1 to 50 granted", got)
		}
		if sum := got.Granted + got.Denied + got.Contended; sum != callers*each {
			t.Errorf("tally = %+v: %d answers to %d requests", got, sum, callers*each)
		}
	})
}

// RunHonest tests the property of a strategy that it never denies a client whose
// bucket has tokens.
func RunHonest(t *testing.T, create Factory) {
	t.Helper()
	t.Run("a concurrent burst is denied nothing before its capacity is granted", func(t *testing.T) {
		got := Burst(t, create(t, slow).Limiter, "client")
		if got.Granted < 50 && got.Denied > 0 {
			t.Errorf("tally = %+v: denied while the bucket had tokens; a contended request must say so", got)
		}
	})
}

// count adds one answer, and returns the error that is no answer.
func (t *Tally) count(d ratelimiter.Decision, err error) error {
	switch {
	case errors.Is(err, ratelimiter.ErrContended):
		t.Contended++
	case err != nil:
		return err
	case d.Allowed:
		t.Granted++
	default:
		t.Denied++
	}
	return nil
}

func take(t *testing.T, l ratelimiter.Limiter, client string) ratelimiter.Decision {
	t.Helper()
	d, err := l.Take(t.Context(), client)
	if err != nil {
		t.Fatalf("Take(%q): %v", client, err)
	}
	return d
}

func endedCtx(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
