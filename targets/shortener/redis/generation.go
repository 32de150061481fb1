package redis

import (
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/retry"
)

// generationKey has the generation of the negative entries: a random text, or
// nothing. An entry of another generation counts for nothing. A reader takes the
// generation before it asks the store, so that what it stores afterwards, however
// late, is void if the generation has changed since.
const generationKey = "url-generation"

//go:embed negative.lua
var negativeSource string

var negativeScript = redis.NewScript(negativeSource)

// ForgetNegative makes every negative entry void, those among them that readers
// have yet to store. It is for links that came into the store by another way
// than Put.
func (c *Client) ForgetNegative(ctx context.Context) error {
	if err := c.redis.Set(ctx, generationKey, rand.Text()[:8], 0).Err(); err != nil {
		return fmt.Errorf("forget negative entries of the cache: %w", err)
	}
	return nil
}

// repair makes negative entries void after a link could not be put, as soon as Redis
// answers, until the cache is closed.
func (c *Cache) repair(ctx context.Context) {
	until := retry.Until(c.config.Log, "forget what hides new links")
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.hidden:
		}
		_ = until(ctx, func(ctx context.Context) error { // fails only because ctx ended
			ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
			defer cancel()
			return c.client.ForgetNegative(ctx)
		})
	}
}

// hide says that a negative entry may hide a link. One more that waits to be said
// says it for all.
func (c *Cache) hide() {
	select {
	case c.hidden <- struct{}{}:
	default:
	}
}

// keepNegative stores that a code had no link in a generation.
func (c *Cache) keepNegative(code, generation string) error {
	return c.guard(func(ctx context.Context) error {
		return negativeScript.Run(ctx, c.redis, []string{linkPrefix + code}, negative+generation, c.config.NegativeTTL.Milliseconds()).Err()
	})
}

// Doubt says that the store may have a link of this code, now or soon: it was asked
// to create one, and did not answer. That the code has none is not remembered for
// as long as it would be.
func (c *Cache) Doubt(_ context.Context, code string) error {
	c.flights.Forget(code)
	if c.config.NegativeTTL == 0 {
		return nil
	}
	return c.orHide(c.guard(func(ctx context.Context) error {
		return c.redis.Set(ctx, linkPrefix+code, doubtful, c.config.NegativeTTL.Truncate(time.Millisecond)).Err()
	}))
}

// orHide passes the error of a write that was to replace a negative entry.
func (c *Cache) orHide(err error) error {
	if err != nil {
		c.hide()
		return fmt.Errorf("store new link in the cache: %w", err)
	}
	return nil
}
