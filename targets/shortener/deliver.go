package shortener

import (
	"context"
	"time"
)

// attemptTimeout bounds an attempt to store a batch.
const attemptTimeout = 10 * time.Second

// Until makes attempts until one succeeds or ctx ends, with whose error it fails then.
type Until func(ctx context.Context, attempt func(context.Context) error) error

// Deliver stores clicks that a queue has delivered, and fails only if ctx ends before.
// An attempt that has begun is not broken off. One that fails may have stored some,
// where another shard is down; they are counted at once, since the next attempt does
// not find them new.
func Deliver(ctx context.Context, store ClickStore, clicks []Click, count Count, until Until) error {
	added := 0
	err := until(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTimeout)
		defer cancel()
		n, err := store.AddClicks(ctx, clicks)
		added += n
		count(ClickStored, n)
		return err
	})
	if err == nil {
		count(ClickDuplicate, len(clicks)-added)
	}
	return err
}
