package kafka

import (
	"crypto/rand"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/kafkatest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/clickstest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestMain(m *testing.M) { os.Exit(kafkatest.Main(m)) }

// configure returns the configuration of a topic of the test's own.
func configure(t testing.TB, broker *kafkatest.Broker) Config {
	return Config{
		Brokers: []string{broker.Addr()}, Topic: "clicks-" + rand.Text(),
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
}

func TestClicks(t *testing.T) {
	clickstest.Run(t, func(t *testing.T) clickstest.Subject {
		broker := kafkatest.Shared(t)
		config := configure(t, broker)
		return clickstest.Subject{
			// Redirects wait an hour for the broker.
			Producer: func(t *testing.T, buffer int, count shortener.Count) clickstest.Producer {
				return newProducer(t, ProducerConfig{Config: config, Buffer: buffer, Wait: time.Hour, Count: count})
			},
			Rescued: func(t *testing.T, wait time.Duration, buffer int, rescue shortener.ClickStore, count shortener.Count) clickstest.Producer {
				return newProducer(t, ProducerConfig{Config: config, Buffer: buffer, Wait: wait, Rescue: rescue, Count: count})
			},
			Consumer: func(t *testing.T, store shortener.ClickStore, count shortener.Count) clickstest.Consumer {
				return newConsumer(t, store, ConsumerConfig{Config: config, Group: config.Topic, Count: count})
			},
			Poison: func(t *testing.T) {
				client, err := kgo.NewClient(kgo.SeedBrokers(broker.Addr()))
				must.Succeed(t, err)
				defer client.Close()
				err = client.ProduceSync(t.Context(), &kgo.Record{Topic: config.Topic, Value: []byte(`{"what":"no click"}`)}).FirstErr()
				must.Succeed(t, err)
			},
			Crash:   func(t *testing.T) { broker.Crash(t) },
			Restore: func(t *testing.T) { broker.Start(t) },
		}
	})
}

func newProducer(t testing.TB, config ProducerConfig) *Producer {
	t.Helper()
	producer, err := NewProducer(config)
	must.Succeed(t, err)
	return producer
}

func newConsumer(t testing.TB, store shortener.ClickStore, config ConsumerConfig) *Consumer {
	t.Helper()
	consumer, err := NewConsumer(store, config)
	must.Succeed(t, err)
	return consumer
}
