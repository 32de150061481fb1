package await

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// Patience is for how long a test waits for what happens within seconds on a machine that does
// nothing else.
const Patience = 2 * time.Minute

// The pause between two tries doubles from the first to the longest: what happens at once is
// seen at once, and what takes long costs the code under test no processor.
const (
	firstPause   = time.Millisecond
	longestPause = 100 * time.Millisecond
)

// errNotYet is what True has to say of a condition that does not hold.
var errNotYet = errors.New("it is not so")

// Until calls try until it returns nil. It ends the test with the last error if that takes longer than
// Patience.
func Until(t testing.TB, what string, try func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	if err := Try(ctx, func(context.Context) error { return try() }); err != nil {
		t.Fatalf("waited %s until %s: %v", Patience, what, err)
	}
}

// True calls holds until it returns true. It ends the test if that takes longer than Patience.
func True(t testing.TB, what string, holds func() bool) {
	t.Helper()
	Until(t, what, func() error {
		if !holds() {
			return errNotYet
		}
		return nil
	})
}

// Receive is the next value of a channel. It ends the test if none comes within Patience, or the
// channel is closed.
func Receive[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	limit := time.NewTimer(Patience)
	defer limit.Stop()
	select {
	case v, open := <-from:
		if !open {
			t.Fatalf("the channel was closed before %s", what)
		}
		return v
	case <-limit.C:
		t.Fatalf("waited %s until %s", Patience, what)
	}
	panic("unreachable")
}

// Try calls try until it returns nil or ctx ends, and returns the last error of try, with the
// cause of the end.
func Try(ctx context.Context, try func(context.Context) error) error {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := try(ctx)
		if err == nil {
			return nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w (%w)", err, context.Cause(ctx))
		}
	}
}
