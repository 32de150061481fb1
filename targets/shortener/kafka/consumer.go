package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/retry"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

const (
	// batchSize is how many clicks are stored in one transaction.
	batchSize = 100
	// sessionTimeout is the time after which the group removes a dead consumer and
	// reassigns its partitions. The default minimum of Kafka is 6 s.
	sessionTimeout = 10 * time.Second
)

// ConsumerConfig has the group and the callbacks of a consumer.
type ConsumerConfig struct {
	Config
	// Group is the name of the consumers that share the partitions.
	Group string
	Count shortener.Count
}

func (c ConsumerConfig) validate() error {
	errs := []error{c.Config.validate()}
	if c.Group == "" {
		errs = append(errs, errors.New("consumer group is empty: give its name"))
	}
	if c.Count == nil {
		errs = append(errs, errors.New("consumer of clicks: Count is required"))
	}
	return errors.Join(errs...)
}

// Consumer moves clicks from the topic to a store.
type Consumer struct {
	config ConsumerConfig
	client *kgo.Client
	store  shortener.ClickStore
}

// NewConsumer returns a consumer; Run does the work. It needs no broker yet.
func NewConsumer(store shortener.ClickStore, config ConsumerConfig) (*Consumer, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(append(config.options(),
		kgo.ConsumerGroup(config.Group),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SessionTimeout(sessionTimeout),
		kgo.HeartbeatInterval(sessionTimeout/5),
		kgo.DisableAutoCommit(),
		// The consumer keeps its partitions from a poll until its clicks are
		// committed, so that no rebalance makes another store them again.
		kgo.BlockRebalanceOnPoll(),
	)...)
	if err != nil {
		return nil, fmt.Errorf("configure consumer of Kafka at %v: %w", config.Brokers, err)
	}
	return &Consumer{config: config, client: client, store: store}, nil
}

// Run stores clicks until ctx ends, then leaves the group and closes the
// consumer. A batch that was read by then is stored and committed if the store
// and a broker allow; else another consumer does.
func (c *Consumer) Run(ctx context.Context) error {
	defer c.client.CloseAllowingRebalance()
	// A topic that is not there when it is asked for is asked for again only
	// minutes later.
	if err := c.config.ensureTopic(ctx, c.client); err != nil {
		return nil // only because ctx ended
	}
	c.client.AddConsumeTopics(c.config.Topic)
	for ctx.Err() == nil {
		c.step(ctx)
	}
	return nil
}

// Ping reports whether a broker answers.
func (c *Consumer) Ping(ctx context.Context) error { return ping(ctx, c.client) }

// Lag is how many clicks of the topic the group has not committed yet.
func (c *Consumer) Lag(ctx context.Context) (int64, error) {
	groups, err := kadm.NewClient(c.client).Lag(ctx, c.config.Group)
	if err != nil {
		return 0, fmt.Errorf("ask for the lag of group %s: %w", c.config.Group, err)
	}
	group := groups[c.config.Group]
	if err := group.Error(); err != nil {
		return 0, fmt.Errorf("ask for the lag of group %s: %w", c.config.Group, err)
	}
	return group.Lag.Total(), nil
}

// step reads a batch, stores it, and commits its offsets.
func (c *Consumer) step(ctx context.Context) {
	defer c.client.AllowRebalance()
	fetches := c.client.PollRecords(ctx, batchSize)
	// The client goes on after errors by itself.
	fetches.EachError(func(topic string, partition int32, err error) {
		if ctx.Err() == nil {
			c.config.Log.Warn("read clicks", "topic", topic, "partition", partition, "error", err)
		}
	})
	records := fetches.Records()
	if len(records) == 0 {
		return
	}
	if clicks := c.readable(records); len(clicks) > 0 {
		if err := c.add(ctx, clicks); err != nil {
			c.config.Log.Warn("leave clicks to another consumer", "error", err, "clicks", len(clicks))
			return
		}
	}
	c.commit(ctx, records)
}

// readable decodes records. An invalid record would be delivered again without end,
// so that it is counted, logged, and committed with the others.
func (c *Consumer) readable(records []*kgo.Record) []shortener.Click {
	clicks := make([]shortener.Click, 0, len(records))
	for _, r := range records {
		click, err := decode(r.Value)
		if err != nil {
			c.config.Count(shortener.ClickRejected, 1)
			c.config.Log.Error("reject click", "partition", r.Partition, "offset", r.Offset, "error", err)
			continue
		}
		clicks = append(clicks, click)
	}
	return clicks
}

func (c *Consumer) add(ctx context.Context, clicks []shortener.Click) error {
	return shortener.Deliver(ctx, c.store, clicks, c.config.Count, retry.Until(c.config.Log, "store clicks"))
}

// commit says how far the group has come. If that is not heard, the next commit
// says it, or the clicks are read again and found to be stored.
func (c *Consumer) commit(ctx context.Context, records []*kgo.Record) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTimeout)
	defer cancel()
	if err := c.client.CommitRecords(ctx, records...); err != nil {
		c.config.Log.Warn("commit offsets", "error", err)
	}
}
