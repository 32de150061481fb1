package throttle

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// DefaultClients is the default number of remembered clients. A client costs about
// 300 bytes, so that a full table holds 20 MB.
const DefaultClients = 65_536

// Config is what each client is promised.
type Config struct {
	// PerSecond is how many requests a client regains in a second.
	PerSecond float64
	// Burst is how many requests a client that was idle may send at once.
	Burst int
	// Clients bounds how many clients are remembered; 0 is DefaultClients.
	Clients int
	// Now is the clock, which must not run backwards; nil is time.Now.
	Now func() time.Time
}

// Throttle holds the bucket of each client.
type Throttle struct {
	limit rate.Limit
	burst int
	now   func() time.Time

	mu sync.Mutex
	// buckets are those of the clients that asked last, by their names.
	buckets *simplelru.LRU[string, *rate.Limiter]
}

// New returns a throttle that has seen no client yet.
func New(c Config) (*Throttle, error) {
	var errs []error
	// Written so that NaN, for which every comparison is false, is refused too.
	if !(c.PerSecond > 0) || math.IsInf(c.PerSecond, 1) {
		errs = append(errs, fmt.Errorf("rate limit is %v requests per second: use a number above 0", c.PerSecond))
	}
	if c.Burst < 1 {
		errs = append(errs, fmt.Errorf("burst of the rate limit is %d: use 1 or more", c.Burst))
	}
	if c.Clients < 0 {
		errs = append(errs, fmt.Errorf("rate limit keeps %d clients: use 1 or more, or 0 for %d", c.Clients, DefaultClients))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if c.Clients == 0 {
		c.Clients = DefaultClients
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	buckets, err := simplelru.NewLRU[string, *rate.Limiter](c.Clients, nil)
	if err != nil {
		return nil, fmt.Errorf("rate limit: %w", err)
	}
	return &Throttle{limit: rate.Limit(c.PerSecond), burst: c.Burst, now: c.Now, buckets: buckets}, nil
}

// Allow takes a token of the client's bucket. If there is none it reports how
// long the client has to wait for one, provided that it does not ask before.
func (t *Throttle) Allow(client string) (ok bool, retryAfter time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// Read under the lock: a bucket that is read at an earlier instant after a
	// later one would refill for the same time twice.
	now := t.now()
	bucket := t.bucket(client)
	if bucket.AllowN(now, 1) {
		return true, 0
	}
	missing := 1 - bucket.TokensAt(now)
	return false, wait(missing, t.limit)
}

// bucket returns the client's bucket, a full one if it is not remembered.
func (t *Throttle) bucket(client string) *rate.Limiter {
	if bucket, ok := t.buckets.Get(client); ok {
		return bucket
	}
	bucket := rate.NewLimiter(t.limit, t.burst)
	t.buckets.Add(client, bucket)
	return bucket
}

// wait is how long a bucket takes to regain tokens, rounded up so that the
// token is there when it has passed.
func wait(tokens float64, limit rate.Limit) time.Duration {
	nanos := math.Ceil(tokens / float64(limit) * float64(time.Second))
	if nanos >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(nanos)
}
