package redis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

// buckets reads and writes the stored form of a bucket, for the strategies
// that compute outside Redis.
type buckets struct {
	contract ratelimiter.Contract
}

func key(client string) string { return keyPrefix + client }

// parse returns the bucket in the reply of HMGET tokens last_refill, or a full
// one for a client that is not stored.
func (b buckets) parse(fields []any, now time.Time) (ratelimiter.Bucket, error) {
	tokens, ok1 := fields[0].(string)
	last, ok2 := fields[1].(string)
	if !ok1 || !ok2 {
		return b.contract.Full(now), nil
	}
	held, err := strconv.ParseFloat(tokens, 64)
	if err != nil {
		return ratelimiter.Bucket{}, fmt.Errorf("parse stored tokens: %w", err)
	}
	micros, err := strconv.ParseInt(last, 10, 64)
	if err != nil {
		return ratelimiter.Bucket{}, fmt.Errorf("parse stored time of last refill: %w", err)
	}
	return ratelimiter.Bucket{Tokens: held, Last: time.UnixMicro(micros)}, nil
}

func (b buckets) write(ctx context.Context, c redis.Cmdable, client string, bucket ratelimiter.Bucket) error {
	err := c.HSet(ctx, key(client),
		fieldTokens, strconv.FormatFloat(bucket.Tokens, 'g', -1, 64),
		fieldLast, bucket.Last.UnixMicro()).Err()
	if err != nil {
		return fmt.Errorf("write bucket: %w", err)
	}
	return nil
}

func (b buckets) expire(ctx context.Context, c redis.Cmdable, client string) error {
	if err := c.PExpire(ctx, key(client), b.contract.Lifetime()).Err(); err != nil {
		return fmt.Errorf("expire bucket: %w", err)
	}
	return nil
}
