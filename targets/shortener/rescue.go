package shortener

import (
	"context"
	"time"
)

// rescueTimeout bounds the wait of a redirect for the store after the queue timed
// out: the store has just found its link, or could have.
const rescueTimeout = time.Second

// Rescue stores a click that its queue may not keep, and reports whether it is
// stored: clicks in memory end with the process. A rescued click that is also
// delivered counts once, by its id. Without a store nothing is rescued.
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
