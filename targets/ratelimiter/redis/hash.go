package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

// hash is the read-compute-write of the seed, with its race. Three round trips
// and nothing that holds them together:
//
//	replica A   HMGET (1 token)            HSET (0 tokens): granted
//	replica B           HMGET (1 token)            HSET (0 tokens): granted
type hash struct {
	client  *redis.Client
	buckets buckets
	now     func() time.Time
	// afterRead, which only tests set, runs inside the race's window.
	afterRead func()
}

var _ ratelimiter.Limiter = (*hash)(nil)

func (h *hash) Take(ctx context.Context, client string) (ratelimiter.Decision, error) {
	fields, err := h.client.HMGet(ctx, key(client), fieldTokens, fieldLast).Result()
	if err != nil {
		return ratelimiter.Decision{}, fmt.Errorf("read bucket: %w", err)
	}
	if h.afterRead != nil {
		h.afterRead()
	}
	now := h.now()
	bucket, err := h.buckets.parse(fields, now)
	if err != nil {
		return ratelimiter.Decision{}, err
	}
	bucket, decision := h.buckets.contract.Take(bucket, now)
	if !decision.Allowed {
		return decision, nil
	}
	if err := h.buckets.write(ctx, h.client, client, bucket); err != nil {
		return ratelimiter.Decision{}, err
	}
	if err := h.buckets.expire(ctx, h.client, client); err != nil {
		return ratelimiter.Decision{}, err
	}
	return decision, nil
}
