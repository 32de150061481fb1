package shortener_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/retry"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var errDown = errors.New("down")

// attempts is a store whose attempts end as they say, one after the other.
type attempts []func(ctx context.Context) (stored int, err error)

func (a *attempts) AddClicks(ctx context.Context, _ []shortener.Click) (int, error) {
	next := (*a)[0]
	*a = (*a)[1:]
	return next(ctx)
}

func ends(stored int, err error) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return stored, err }
}

// deliver delivers five clicks to the store, and returns the counts.
func deliver(ctx context.Context, store attempts) (map[shortener.Event]int, error) {
	counts := map[shortener.Event]int{}
	err := shortener.Deliver(ctx, &store, make([]shortener.Click, 5), func(e shortener.Event, n int) { counts[e] += n },
		retry.Until(slog.New(slog.DiscardHandler), "deliver"))
	return counts, err
}

func TestClicksAreCountedOnceWhateverFails(t *testing.T) {
	tests := map[string]struct {
		attempts           attempts
		stored, duplicates int
	}{
		"all are new":                       {attempts{ends(5, nil)}, 5, 0},
		"some were stored before":           {attempts{ends(3, nil)}, 3, 2},
		"after a failure":                   {attempts{ends(0, errDown), ends(5, nil)}, 5, 0},
		"some by an attempt that failed":    {attempts{ends(2, errDown), ends(3, nil)}, 5, 0},
		"some of them, some known, at last": {attempts{ends(2, errDown), ends(0, errDown), ends(1, nil)}, 3, 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				counts, err := deliver(t.Context(), tc.attempts)
				must.Succeed(t, err)
				want := map[shortener.Event]int{shortener.ClickStored: tc.stored, shortener.ClickDuplicate: tc.duplicates}
				same.As(t, "counts", want, counts)
			})
		})
	}
}

// The end of a consumer ends its tries, but not the one that has begun: what that
// stores is counted.
func TestDeliverGivesUpBetweenAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		counts, err := deliver(ctx, attempts{
			ends(0, errDown),
			func(attempt context.Context) (int, error) {
				end()
				if attempt.Err() != nil {
					t.Errorf("the attempt ended with its consumer: %v", attempt.Err())
				}
				return 4, errDown
			},
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Deliver = %v, want that its context ended", err)
		}
		same.As(t, "counts", map[shortener.Event]int{shortener.ClickStored: 4}, counts)
	})
}

// A store that hangs is given up, and asked again.
func TestAttemptsToDeliverAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := deliver(t.Context(), attempts{
			func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() },
			ends(5, nil),
		})
		must.Succeed(t, err)
		if took := time.Since(began); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("the second attempt came after %v, want 10s and a pause", took)
		}
	})
}
