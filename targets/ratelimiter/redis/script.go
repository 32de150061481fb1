package redis

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

//go:embed bucket.lua
var bucketSource string

// bucketScript is sent by its hash, and in full to a server that does not know
// it yet.
var bucketScript = redis.NewScript(bucketSource)

// script decides inside Redis, where nothing comes between the read and the
// write: one round trip, no retry.
type script struct {
	client  *redis.Client
	buckets buckets
	// now is the replica's clock; nil to count by the server's.
	now func() time.Time
}

var _ ratelimiter.Limiter = (*script)(nil)

func (s *script) Take(ctx context.Context, client string) (ratelimiter.Decision, error) {
	contract := s.buckets.contract
	reply, err := bucketScript.Run(ctx, s.client, []string{key(client)},
		contract.Capacity, contract.RefillPerSecond, contract.Lifetime().Milliseconds(), s.instant()).Slice()
	if err != nil {
		return ratelimiter.Decision{}, fmt.Errorf("run bucket script: %w", err)
	}
	return decode(contract, reply)
}

// instant is the script's last argument.
func (s *script) instant() string {
	if s.now == nil {
		return ""
	}
	return strconv.FormatInt(s.now().UnixMicro(), 10)
}

func decode(contract ratelimiter.Contract, reply []any) (ratelimiter.Decision, error) {
	if len(reply) != 2 {
		return ratelimiter.Decision{}, fmt.Errorf("bucket script replied with %d values, want 2", len(reply))
	}
	allowed, ok1 := reply[0].(int64)
	left, ok2 := reply[1].(string)
	if !ok1 || !ok2 {
		return ratelimiter.Decision{}, fmt.Errorf("bucket script replied with %T and %T, want a number and a text", reply[0], reply[1])
	}
	tokens, err := strconv.ParseFloat(left, 64)
	if err != nil {
		return ratelimiter.Decision{}, fmt.Errorf("parse tokens left: %w", err)
	}
	return contract.Decide(allowed == 1, tokens), nil
}
