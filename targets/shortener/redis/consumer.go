package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/retry"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

const (
	defaultClaimAfter = 30 * time.Second
	// defaultForgetAfter is many times ClaimAfter, so that what a dead consumer
	// left has been taken over, and one that lives has been heard of.
	defaultForgetAfter = 10 * time.Minute
	// readBlock is how long a read waits for a click. It bounds how long Run
	// goes on after its context has ended.
	readBlock = time.Second
	// stepTimeout bounds each other command, and storing a batch.
	stepTimeout = 10 * time.Second
)

// ConsumerConfig has the name and the callbacks of a consumer.
type ConsumerConfig struct {
	// Name tells this consumer from all others that ever read at the same time;
	// the name of the replica will do.
	Name string
	// ClaimAfter is for how long a click must have been read, and not been
	// acknowledged, for another consumer to take it over; 0 is 30 s. One that
	// is merely slow loses nothing by it, its clicks are stored once.
	ClaimAfter time.Duration
	// ForgetAfter is for how long a consumer must not have been heard of, with
	// nothing read that waits, for its name to be struck off the group; 0 is 10
	// minutes.
	ForgetAfter time.Duration
	Count       shortener.Count
	Log         *slog.Logger
}

func (c ConsumerConfig) validate() error {
	var errs []error
	if c.Name == "" {
		errs = append(errs, errors.New("consumer of clicks has no name: set Name"))
	}
	if c.ClaimAfter < 0 {
		errs = append(errs, fmt.Errorf("consumer of clicks claims after %v: use a positive time", c.ClaimAfter))
	}
	if c.ForgetAfter < 0 {
		errs = append(errs, fmt.Errorf("consumer of clicks forgets after %v: use a positive time", c.ForgetAfter))
	}
	if c.Count == nil || c.Log == nil {
		errs = append(errs, errors.New("consumer of clicks: Count and Log are required"))
	}
	return errors.Join(errs...)
}

// Consumer moves clicks from Redis to a store.
type Consumer struct {
	config ConsumerConfig
	redis  *redis.Client
	store  shortener.ClickStore
}

// NewConsumer returns a consumer; Run does the work.
func NewConsumer(client *Client, store shortener.ClickStore, config ConsumerConfig) (*Consumer, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	if config.ClaimAfter == 0 {
		config.ClaimAfter = defaultClaimAfter
	}
	if config.ForgetAfter == 0 {
		config.ForgetAfter = defaultForgetAfter
	}
	return &Consumer{config: config, redis: client.redis, store: store}, nil
}

// Run stores clicks until ctx ends. A batch that was read by then is stored
// and acknowledged if the store and Redis allow; else another consumer does.
func (c *Consumer) Run(ctx context.Context) error {
	_ = retry.Until(c.config.Log, "consume clicks from redis")(ctx, c.consume) // only because ctx ended
	c.leave(context.WithoutCancel(ctx))
	return nil
}

// Ping reports whether Redis answers.
func (c *Consumer) Ping(ctx context.Context) error {
	if err := c.redis.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("ping redis: %w", err)
	}
	return nil
}

// Lag is how many clicks are not stored yet: an entry is deleted with its
// acknowledgement.
func (c *Consumer) Lag(ctx context.Context) (int64, error) {
	n, err := c.redis.XLen(ctx, Stream).Result()
	if err != nil {
		return 0, fmt.Errorf("count clicks in redis: %w", err)
	}
	return n, nil
}

// consume works until ctx ends or something fails.
func (c *Consumer) consume(ctx context.Context) error {
	if err := c.join(ctx); err != nil {
		return err
	}
	// Abandoned clicks are claimed at once, and then periodically.
	claim := time.NewTimer(0)
	defer claim.Stop()
	for ctx.Err() == nil {
		step := c.fresh
		select {
		case <-claim.C:
			step = c.tidy
			claim.Reset(c.config.ClaimAfter)
		default:
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// join makes the group, which is there from the second time on. It begins with
// the stream's first entry: clicks that came before the group count as well.
func (c *Consumer) join(ctx context.Context) error {
	err := c.redis.XGroupCreateMkStream(ctx, Stream, Group, "0").Err()
	if err != nil && !strings.HasPrefix(err.Error(), "BUSYGROUP") {
		return fmt.Errorf("create consumer group: %w", err)
	}
	return nil
}

// fresh stores clicks that no consumer has read, and waits a while for the first.
func (c *Consumer) fresh(ctx context.Context) error {
	streams, err := c.redis.XReadGroup(ctx, &redis.XReadGroupArgs{
		Group: Group, Consumer: c.config.Name, Streams: []string{Stream, ">"},
		Count: batchSize, Block: readBlock,
	}).Result()
	if errors.Is(err, redis.Nil) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read clicks: %w", err)
	}
	return c.keep(ctx, streams[0].Messages)
}

// tidy takes over what dead consumers left, and then forgets them.
func (c *Consumer) tidy(ctx context.Context) error {
	if err := c.abandoned(ctx); err != nil {
		return err
	}
	return c.forget(ctx)
}

// abandoned claims all clicks that were read and not acknowledged, also by this
// consumer before a failure.
func (c *Consumer) abandoned(ctx context.Context) error {
	const begin = "0-0"
	for cursor := begin; ; {
		entries, next, err := c.redis.XAutoClaim(ctx, &redis.XAutoClaimArgs{
			Stream: Stream, Group: Group, Consumer: c.config.Name,
			MinIdle: c.config.ClaimAfter, Start: cursor, Count: batchSize,
		}).Result()
		if err != nil {
			return fmt.Errorf("claim clicks: %w", err)
		}
		if err := c.keep(ctx, entries); err != nil || next == begin {
			return err
		}
		cursor = next
	}
}

// keep stores the clicks of entries and then acknowledges them. If it dies between
// the two, the consumer that claims the entries stores them again, and the store
// counts them once.
func (c *Consumer) keep(ctx context.Context, entries []redis.XMessage) error {
	if len(entries) == 0 {
		return nil
	}
	if clicks := c.readable(entries); len(clicks) > 0 {
		if err := c.add(ctx, clicks); err != nil {
			return err
		}
	}
	return c.acknowledge(ctx, entries)
}

// readable decodes entries. An invalid entry would be delivered again without end,
// so that it is counted, logged, and acknowledged with the others.
func (c *Consumer) readable(entries []redis.XMessage) []shortener.Click {
	clicks := make([]shortener.Click, 0, len(entries))
	for _, entry := range entries {
		click, err := decodeClick(entry)
		if err != nil {
			c.config.Count(shortener.ClickRejected, 1)
			c.config.Log.Error("reject click", "error", err)
			continue
		}
		clicks = append(clicks, click)
	}
	return clicks
}

func (c *Consumer) add(ctx context.Context, clicks []shortener.Click) error {
	return shortener.Deliver(ctx, c.store, clicks, c.config.Count, retry.Until(c.config.Log, "store clicks"))
}

func (c *Consumer) acknowledge(ctx context.Context, entries []redis.XMessage) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTimeout)
	defer cancel()
	ids := make([]string, len(entries))
	for i, entry := range entries {
		ids[i] = entry.ID
	}
	_, err := c.redis.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.XAck(ctx, Stream, Group, ids...)
		p.XDel(ctx, Stream, ids...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("acknowledge clicks: %w", err)
	}
	return nil
}
