package throttle

import (
	"container/list"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// DefaultClients is how many clients are remembered unless told otherwise. A
// client costs about 300 bytes, so that a full table holds 20 MB.
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
	limit   rate.Limit
	burst   int
	clients int
	now     func() time.Time

	mu sync.Mutex
	// recent has the *entry of the client that asked last at its front, and
	// byName its element by the client's name.
	recent *list.List
	byName map[string]*list.Element
}

type entry struct {
	client string
	bucket *rate.Limiter
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
		errs = append(errs, fmt.Errorf("rate limit remembers %d clients: use 1 or more, or 0 for %d", c.Clients, DefaultClients))
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
	return &Throttle{
		limit: rate.Limit(c.PerSecond), burst: c.Burst, clients: c.Clients, now: c.Now,
		recent: list.New(), byName: map[string]*list.Element{},
	}, nil
}

// Allow takes a token of the client's bucket. If there is none it reports how
// long the client has to wait for one, provided that it does not ask before.
func (t *Throttle) Allow(client string) (ok bool, retryAfter time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// Read under the lock: a bucket that is told of an earlier instant after a
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
	if element, ok := t.byName[client]; ok {
		t.recent.MoveToFront(element)
		return element.Value.(*entry).bucket
	}
	if t.recent.Len() == t.clients {
		oldest := t.recent.Remove(t.recent.Back()).(*entry)
		delete(t.byName, oldest.client)
	}
	e := &entry{client: client, bucket: rate.NewLimiter(t.limit, t.burst)}
	t.byName[client] = t.recent.PushFront(e)
	return e.bucket
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
