package coordinator

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
)

// checkInterval is how often the identities of all sessions are checked again. It is
// cheap, since the authenticator has all that it needs in memory.
const checkInterval = 15 * time.Second

// checkUntil checks the sessions again and again until ctx ends.
func (c *Coordinator) checkUntil(ctx context.Context) {
	for {
		due := make(chan struct{})
		cancel := c.after(checkInterval, func() { close(due) })
		select {
		case <-due:
			c.checkSessions(ctx)
		case <-ctx.Done():
			cancel()
			return
		}
	}
}

// checkSessions ends the sessions of pods that are workers no more. What cannot be
// checked now is checked the next time.
func (c *Coordinator) checkSessions(ctx context.Context) {
	for _, s := range c.sessions() {
		if err := c.auth.Check(ctx, s.identity); errors.Is(err, ErrUnauthenticated) {
			s.end(c.reject(rejectGone, codes.Unauthenticated, "check worker: %v", err))
		}
	}
}

// sessions are those of all workers that are connected.
func (c *Coordinator) sessions() (all []*session) {
	c.locked(func() {
		for _, r := range c.runs {
			for _, w := range r.workers {
				if w.session != nil {
					all = append(all, w.session)
				}
			}
		}
	})
	return all
}
