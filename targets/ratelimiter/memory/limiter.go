package memory

import (
	"context"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

// Limiter decides by buckets in memory. It keeps the contract, unless it is racy.
type Limiter struct {
	contract ratelimiter.Contract
	now      func() time.Time
	// roundTrip is the time between the read of a bucket and its write; 0: none, both
	// are one step.
	roundTrip time.Duration

	mu      sync.Mutex
	buckets map[string]ratelimiter.Bucket
}

var _ ratelimiter.Limiter = (*Limiter)(nil)

// New returns a limiter that keeps a valid contract.
func New(c ratelimiter.Contract, now func() time.Time) *Limiter {
	return &Limiter{contract: c, now: now, buckets: map[string]ratelimiter.Bucket{}}
}

// NewRacy returns a limiter that reads a bucket and writes it back a round trip later,
// as the hash strategy does: requests at the same time all spend the same token. It is
// here to be caught.
func NewRacy(c ratelimiter.Contract, now func() time.Time, roundTrip time.Duration) *Limiter {
	l := New(c, now)
	l.roundTrip = roundTrip
	return l
}

// Take settles a request against the client's bucket.
func (l *Limiter) Take(ctx context.Context, client string) (ratelimiter.Decision, error) {
	if err := ctx.Err(); err != nil {
		return ratelimiter.Decision{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	left, decision := l.contract.Take(l.read(client))
	if l.roundTrip > 0 {
		l.mu.Unlock()
		time.Sleep(l.roundTrip)
		l.mu.Lock()
	}
	l.buckets[client] = left
	return decision, nil
}

// read is a client's bucket now.
func (l *Limiter) read(client string) (ratelimiter.Bucket, time.Time) {
	now := l.now()
	if b, ok := l.buckets[client]; ok {
		return b, now
	}
	return l.contract.Full(now), now
}
