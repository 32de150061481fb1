package shortener

import (
	"context"
	"time"
)

// rescueTimeout bounds the wait of a redirect for the store after the queue timed
// out: the store has just found its link, or could have.
const rescueTimeout = time.Second

// Rescue stores a click that its queue may not keep, and reports whether it is
// stored: what is in memory only ends with the process. If the click is delivered
// after all it is counted once, by its id. No store rescues none.
func Rescue(ctx context.Context, store ClickStore, c Click, count Count) bool {
	if store == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, rescueTimeout)
	defer cancel()
	n, err := store.AddClicks(ctx, []Click{c})
	count(ClickStored, n)
	return err == nil
}
