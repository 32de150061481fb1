package coordinator

import (
	"time"

	"golang.org/x/time/rate"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// A session's messages come from a bucket, which a worker of ours never empties: it
// sends a snapshot and a few short messages a second, and after a reconnect some more.
const (
	// tokensPerSecond and maxTokens are the bucket's.
	tokensPerSecond = 20
	maxTokens       = 200
	// snapshotTokens is how many a snapshot takes, any other message taking one: two a
	// second go on for ever, and 20 at once.
	snapshotTokens = 10
)

func newMessageLimit() *rate.Limiter { return rate.NewLimiter(tokensPerSecond, maxTokens) }

// pace waits until the session's bucket has room for a message. The next one is not
// read until then, so that the connection slows its sender down.
func (c *Coordinator) pace(s *session, m *workerv1.SessionRequest) error {
	tokens := 1
	if m.GetSnapshot() != nil {
		tokens = snapshotTokens
	}
	now := c.clock.Now()
	wait := s.messages.ReserveN(now, tokens).DelayFrom(now)
	if wait <= 0 {
		return nil
	}
	c.metrics.paced.Inc()
	return c.wait(s, wait)
}

// wait returns after d, or with the reason when the session is over before.
func (c *Coordinator) wait(s *session, d time.Duration) error {
	due := make(chan struct{})
	cancel := c.after(d, func() { close(due) })
	defer cancel()
	select {
	case <-due:
		return nil
	case <-s.over:
		return s.err
	case <-s.stream.Context().Done():
		return s.stream.Context().Err()
	}
}
