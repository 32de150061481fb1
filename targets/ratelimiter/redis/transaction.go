package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

// transaction decides outside Redis and writes only if the bucket is still as
// it was read (WATCH, MULTI, EXEC); else it begins again. Each refused write
// means that another replica's write succeeded, so that the service as a whole
// moves on, but one request may lose every time: after maxRetries it fails with
// ErrContended or, as the seed did, denies.
type transaction struct {
	client     *redis.Client
	buckets    buckets
	maxRetries int
	// deniesContended has the flaw of the seed: a request that lost every time is
	// denied, as if its bucket were empty.
	deniesContended bool
	// afterRead, which only tests set, runs between the read and the write.
	afterRead func()
}

var _ ratelimiter.Limiter = (*transaction)(nil)

func (x *transaction) Take(ctx context.Context, client string) (ratelimiter.Decision, error) {
	for range 1 + x.maxRetries {
		decision, err := x.try(ctx, client)
		if !errors.Is(err, redis.TxFailedErr) {
			return decision, err
		}
	}
	if x.deniesContended {
		return x.buckets.contract.Decide(false, 0), nil
	}
	return ratelimiter.Decision{}, fmt.Errorf("take after %d retries: %w", x.maxRetries, ratelimiter.ErrContended)
}

func (x *transaction) try(ctx context.Context, client string) (decision ratelimiter.Decision, err error) {
	err = x.client.Watch(ctx, func(tx *redis.Tx) error {
		bucket, now, err := x.read(ctx, tx, client)
		if err != nil {
			return err
		}
		if x.afterRead != nil {
			x.afterRead()
		}
		if bucket, decision = x.buckets.contract.Take(bucket, now); !decision.Allowed {
			return nil
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			return errors.Join(x.buckets.write(ctx, p, client, bucket), x.buckets.expire(ctx, p, client))
		})
		return err
	}, key(client))
	if err != nil {
		return ratelimiter.Decision{}, fmt.Errorf("change bucket: %w", err)
	}
	return decision, nil
}

// read asks for the time after the bucket, in one round trip. The order
// matters: a denial is not guarded by EXEC, and it is right because whatever
// another replica did meanwhile took tokens, and time was counted up to the end.
func (x *transaction) read(ctx context.Context, tx *redis.Tx, client string) (ratelimiter.Bucket, time.Time, error) {
	var fields *redis.SliceCmd
	var clock *redis.TimeCmd
	_, err := tx.Pipelined(ctx, func(p redis.Pipeliner) error {
		fields = p.HMGet(ctx, key(client), fieldTokens, fieldLast)
		clock = p.Time(ctx)
		return nil
	})
	if err != nil {
		return ratelimiter.Bucket{}, time.Time{}, fmt.Errorf("read bucket: %w", err)
	}
	bucket, err := x.buckets.parse(fields.Val(), clock.Val())
	return bucket, clock.Val(), err
}
