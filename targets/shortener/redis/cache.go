package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
	"golang.org/x/sync/singleflight"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

const (
	linkPrefix = "url:"

	// defaultTimeout is for a cache that is quicker than the store, or none.
	defaultTimeout = 500 * time.Millisecond
	// askTimeout bounds a question to the store, which goes on when the caller
	// that asked first has left, for the sake of the others.
	askTimeout = 10 * time.Second

	failuresToOpen   = 5
	successesToClose = 2
	defaultPause     = 30 * time.Second
)

// CacheConfig has the lifetimes and the callbacks of a cache.
type CacheConfig struct {
	// TTL is how long a link is remembered, and NegativeTTL a code that has
	// none; 0 is not to keep such codes.
	TTL, NegativeTTL time.Duration
	// Timeout bounds each command; 0 is 500 ms.
	Timeout time.Duration
	// Pause is the time for which the breaker stays open; 0 is 30 s.
	Pause time.Duration
	// Now is the clock; nil is time.Now.
	Now   func() time.Time
	Count shortener.Count
	Log   *slog.Logger
}

func (c CacheConfig) validate() error {
	var errs []error
	if c.TTL < time.Millisecond {
		errs = append(errs, fmt.Errorf("cache TTL is %v: use 1ms or more", c.TTL))
	}
	if c.NegativeTTL != 0 && c.NegativeTTL < time.Millisecond {
		errs = append(errs, fmt.Errorf("negative cache TTL is %v: use 1ms or more, or 0 to cache no such codes", c.NegativeTTL))
	}
	if c.Timeout < 0 {
		errs = append(errs, fmt.Errorf("timeout of the cache is %v: use a positive time", c.Timeout))
	}
	if c.Pause < 0 {
		errs = append(errs, fmt.Errorf("pause of the cache is %v: use a positive time", c.Pause))
	}
	if c.Count == nil || c.Log == nil {
		errs = append(errs, errors.New("cache: Count and Log are required"))
	}
	return errors.Join(errs...)
}

// Cache keeps in Redis what a finder answered.
type Cache struct {
	config  CacheConfig
	client  *Client
	redis   *redis.Client
	finder  shortener.Finder
	breaker *gobreaker.CircuitBreaker[[]any]
	lookups lookups
	flights singleflight.Group
	// mget is the client's, unless a test is in its place.
	mget func(ctx context.Context, keys ...string) *redis.SliceCmd
	// hidden has an element when a negative entry may hide a link, until repair
	// has taken it.
	hidden    chan struct{}
	repairing sync.WaitGroup
	stop      context.CancelFunc
}

var _ shortener.Cache = (*Cache)(nil)

// NewCache returns a cache in front of finder, which is to be closed.
func NewCache(client *Client, finder shortener.Finder, config CacheConfig) (*Cache, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	if config.Timeout == 0 {
		config.Timeout = defaultTimeout
	}
	if config.Pause == 0 {
		config.Pause = defaultPause
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	c := &Cache{
		config: config, client: client, redis: client.redis, finder: finder, mget: client.redis.MGet,
		hidden: make(chan struct{}, 1),
	}
	c.breaker = gobreaker.NewCircuitBreaker[[]any](gobreaker.Settings{
		MaxRequests: successesToClose,
		Timeout:     config.Pause,
		ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= failuresToOpen },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			config.Log.Warn("circuit breaker of the cache", "from", from.String(), "to", to.String())
		},
	})
	c.lookups = newLookups(c.fetch)
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.repairing.Go(func() { c.repair(ctx) })
	return c, nil
}

// Close ends what goes on beside the calls. The client stays open.
func (c *Cache) Close() error {
	c.stop()
	c.repairing.Wait()
	return nil
}

// Find returns the link of a code, from Redis if it is there.
func (c *Cache) Find(ctx context.Context, code string) (shortener.Link, error) {
	entry, found, generation, err := c.lookups.get(ctx, linkPrefix+code)
	switch {
	case ctx.Err() != nil && !found:
		return shortener.Link{}, ctx.Err() // the caller is gone: no need to ask the store
	case err != nil:
		c.config.Count(shortener.CacheFailure, 1)
		return c.ask(ctx, code, nil)
	case found && entry == negative+generation:
		c.config.Count(shortener.CacheNegativeHit, 1)
		return shortener.Link{}, shortener.ErrNotFound
	case found:
		// A link that has expired may have been replaced.
		if link, ok := decodeEntry(code, entry); ok && !link.Expired(c.config.Now()) {
			c.config.Count(shortener.CacheHit, 1)
			return link, nil
		}
	}
	c.config.Count(shortener.CacheMiss, 1)
	return c.ask(ctx, code, func(link shortener.Link, err error) { c.keep(code, generation, link, err) })
}

// ask asks the finder, once for all concurrent callers, and gives the answer to keep,
// if there is one. The context of one caller does not end the question of
// the others.
func (c *Cache) ask(ctx context.Context, code string, keep func(shortener.Link, error)) (shortener.Link, error) {
	flight := c.flights.DoChan(code, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		link, err := c.finder.Find(ctx, code)
		if keep != nil {
			keep(link, err)
		}
		return link, err
	})
	return landed(ctx, flight)
}

// landed waits for the answer of a flight. One that is there when the caller's
// time is up is still given: of two that are ready select takes either.
func landed(ctx context.Context, flight <-chan singleflight.Result) (shortener.Link, error) {
	var answer singleflight.Result
	select {
	case answer = <-flight:
	case <-ctx.Done():
		select {
		case answer = <-flight:
		default:
			return shortener.Link{}, ctx.Err()
		}
	}
	return answer.Val.(shortener.Link), answer.Err
}

// keep stores what the finder answered. That it could not be stored is
// seen in the breaker, and costs no more than the next question.
func (c *Cache) keep(code, generation string, link shortener.Link, err error) {
	switch {
	case err == nil:
		_ = c.set(link)
	case errors.Is(err, shortener.ErrNotFound) && c.config.NegativeTTL > 0:
		_ = c.keepNegative(code, generation)
	}
}

// Put stores a new link, in the place of whatever was known of its code. Where that
// fails, negative entries are void as soon as Redis answers.
func (c *Cache) Put(_ context.Context, link shortener.Link) error {
	// Later calls must not share an earlier lookup.
	c.flights.Forget(link.Code)
	return c.orHide(c.set(link))
}

func (c *Cache) set(link shortener.Link) error {
	ttl := min(c.config.TTL, link.ExpiresAt.Sub(c.config.Now())).Truncate(time.Millisecond)
	if ttl <= 0 {
		return nil
	}
	return c.guard(func(ctx context.Context) error {
		return c.redis.Set(ctx, linkPrefix+link.Code, encodeEntry(link), ttl).Err()
	})
}

func (c *Cache) fetch(keys []string) (values []any, err error) {
	return c.breaker.Execute(func() ([]any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), c.config.Timeout)
		defer cancel()
		return c.mget(ctx, keys...).Result()
	})
}

func (c *Cache) guard(command func(context.Context) error) error {
	_, err := c.breaker.Execute(func() ([]any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), c.config.Timeout)
		defer cancel()
		return nil, command(ctx)
	})
	return err
}
