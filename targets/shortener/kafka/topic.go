package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/retry"
)

const (
	// partitions is how many consumers may share the topic.
	partitions = 6
	// defaultReplication leaves the number of copies to the broker.
	defaultReplication = -1

	stepTimeout = 10 * time.Second
	dialTimeout = 2 * time.Second
)

// Config says how Kafka is reached; the producer's and the consumer's begin
// with it.
type Config struct {
	// Brokers are some of the cluster's brokers, each host:port.
	Brokers []string
	Topic   string
	Log     *slog.Logger
}

func (c Config) validate() error {
	var errs []error
	if len(c.Brokers) == 0 {
		errs = append(errs, errors.New("no brokers of Kafka: give host:port of one or more"))
	}
	if c.Topic == "" {
		errs = append(errs, errors.New("topic of Kafka is empty: give its name"))
	}
	if c.Log == nil {
		errs = append(errs, errors.New("client of Kafka has no log: set Log"))
	}
	return errors.Join(errs...)
}

func (c Config) options() []kgo.Opt {
	return []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...),
		kgo.ClientID("shortener"),
		kgo.DialTimeout(dialTimeout),
		// How soon a broker that is back, or a topic that is new, is seen.
		kgo.MetadataMinAge(250 * time.Millisecond),
		kgo.RetryBackoffFn(func(int) time.Duration { return 250 * time.Millisecond }),
	}
}

// ensureTopic creates the topic unless it is there. It tries until it succeeds
// or ctx ends: brokers may be started after us.
func (c Config) ensureTopic(ctx context.Context, client *kgo.Client) error {
	admin := kadm.NewClient(client)
	err := retry.Until(c.Log.With("topic", c.Topic), "create topic")(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, stepTimeout)
		defer cancel()
		_, err := admin.CreateTopic(ctx, partitions, defaultReplication, nil, c.Topic)
		if errors.Is(err, kerr.TopicAlreadyExists) {
			err = nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create topic %s: %w", c.Topic, err)
	}
	return nil
}
