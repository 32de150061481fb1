package collection

import (
	"context"
	"time"
)

// retry is the pause after a failure, which does not go away by itself sooner.
const retry = time.Second

// Repeat does one pass after the other until the context ends, and says what
// went wrong with one: what failed is simply done again.
func Repeat(ctx context.Context, pass func(context.Context) error, say func(format string, args ...any)) {
	for ctx.Err() == nil {
		err := pass(ctx)
		if err == nil || ctx.Err() != nil {
			continue
		}
		say("%v", err)
		Pause(ctx, retry)
	}
}

// Pause waits that long, or until the context ends.
func Pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
