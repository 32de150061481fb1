package redis

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redisconn"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

//go:embed bucket.lua
var bucketSource string

// bucketScript is sent by its hash, and in full to a server that does not have
// it yet.
var bucketScript = redis.NewScript(bucketSource)

// script decides inside Redis, where nothing comes between the read and the
// write: one round trip, no retry. Requests that come together share the round
// trip, though not the decision: each is a run of the script.
type script struct {
	client   *redis.Client
	contract ratelimiter.Contract
	// now is the replica's clock; nil to count by the server's.
	now   func() time.Time
	guard Guard
	runs  *redisconn.Batcher[question, []any]
}

// question is the input of the script for one request.
type question struct{ key, instant string }

// run is one run of the script.
type run = redisconn.Call[question, []any]

var _ ratelimiter.Limiter = (*script)(nil)

func newScript(client *redis.Client, contract ratelimiter.Contract, now func() time.Time, guard Guard) *script {
	s := &script{client: client, contract: contract, now: now, guard: guard}
	s.runs = redisconn.NewBatcher(s.runAll)
	return s
}

func (s *script) Take(ctx context.Context, client string) (ratelimiter.Decision, error) {
	reply, err := s.runs.Ask(ctx, question{key(client), s.instant()})
	if err != nil {
		return ratelimiter.Decision{}, fmt.Errorf("run bucket script: %w", err)
	}
	return decode(s.contract, reply)
}

// instant is the script's last argument.
func (s *script) instant() string {
	if s.now == nil {
		return ""
	}
	return strconv.FormatInt(s.now().UnixMicro(), 10)
}

// runAll sends the script in full only for the runs that failed with an unknown
// hash: they have taken nothing yet.
func (s *script) runAll(runs []*run) {
	if unknown := s.roundTrip(runs, bucketScript.EvalSha); len(unknown) > 0 {
		s.roundTrip(unknown, bucketScript.Eval)
	}
}

// roundTrip puts all runs to the guard as one question. A call that it refuses has
// asked nothing.
func (s *script) roundTrip(runs []*run, send sender) (unknown []*run) {
	err := s.guard(func() error {
		unknown = s.pipeline(runs, send)
		return failure(runs, unknown)
	})
	if errors.Is(err, ratelimiter.ErrNotAsked) {
		for _, r := range runs {
			r.Err = err
		}
	}
	return unknown
}

// failure is the error of a round trip without any answer. A single answer shows
// that Redis is up, even if the other runs failed.
func failure(runs, unknown []*run) error {
	if len(unknown) > 0 || slices.ContainsFunc(runs, func(r *run) bool { return r.Err == nil }) {
		return nil
	}
	return runs[0].Err
}

type sender func(ctx context.Context, c redis.Scripter, keys []string, args ...any) *redis.Cmd

// pipeline sends all runs at once, and returns those whose script is unknown. Its
// timeout is its own, not a caller's, whose deadline may be near when the others'
// are not; a connection that has to be made first is within it.
func (s *script) pipeline(runs []*run, send sender) (unknown []*run) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	pipe := s.client.Pipeline()
	lifetime := s.contract.Lifetime().Milliseconds()
	sent := make([]*redis.Cmd, len(runs))
	for i, r := range runs {
		sent[i] = send(ctx, pipe, []string{r.Question.key}, s.contract.Capacity, s.contract.RefillPerSecond, lifetime, r.Question.instant)
	}
	_, err := pipe.Exec(ctx)
	for i, r := range runs {
		// A reply counts, whatever the command's error says: to those that have
		// none of their own the driver gives that of the pipeline, which is the
		// first one's or that of a connection which ended later. To return it would
		// fail requests that were granted, or run their script again. A reply of
		// which a part is missing is nil.
		if reply, _ := sent[i].Val().([]any); reply != nil {
			r.Answer, r.Err = reply, nil
			continue
		}
		// To a command for which there was no connection the driver may give no
		// error at all, and so the pipeline's is its own.
		if r.Err = cmp.Or(sent[i].Err(), err, errNoReply); redis.HasErrorPrefix(r.Err, "NOSCRIPT") {
			unknown = append(unknown, r)
		}
	}
	return unknown
}

// errNoReply is of a run about which the driver said nothing: it is no answer.
var errNoReply = errors.New("no reply from redis")

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
