package kafka

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/kafkatest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func ignore(shortener.Event, int) {}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func TestRefused(t *testing.T) {
	producer := func(c ProducerConfig) error { _, err := NewProducer(c); return err }
	consumer := func(c ConsumerConfig) error { _, err := NewConsumer(nil, c); return err }
	complete := Config{Brokers: []string{"127.0.0.1:1"}, Topic: "clicks", Log: quiet()}
	misspelt := complete
	misspelt.Brokers = []string{"127.0.0.1:port"}
	tests := map[string]struct {
		err  error
		want []string
	}{
		"producer without anything": {
			err:  producer(ProducerConfig{}),
			want: []string{"no brokers of Kafka", "topic of Kafka is empty", "set Log", "Count is required"},
		},
		"producer with impossible bounds": {
			err:  producer(ProducerConfig{Config: complete, Count: ignore, Buffer: -1, Wait: -1}),
			want: []string{"buffer of clicks is -1", "wait for a click to be queued is -1ns"},
		},
		"producer with a misspelt broker": {
			err:  producer(ProducerConfig{Config: misspelt, Count: ignore}),
			want: []string{"configure producer of Kafka", "127.0.0.1:port"},
		},
		"consumer without anything": {
			err:  consumer(ConsumerConfig{}),
			want: []string{"no brokers of Kafka", "topic of Kafka is empty", "set Log", "consumer group is empty", "Count is required"},
		},
		"consumer with a misspelt broker": {
			err:  consumer(ConsumerConfig{Config: misspelt, Group: "clicks", Count: ignore}),
			want: []string{"configure consumer of Kafka", "127.0.0.1:port"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.err == nil {
				t.Fatal("accepted")
			}
			for _, want := range tt.want {
				if !strings.Contains(tt.err.Error(), want) {
					t.Errorf("error %q does not say %q", tt.err, want)
				}
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	p := newProducer(t, ProducerConfig{Config: configure(t, kafkatest.Shared(t)), Count: ignore})
	if p.config.Buffer != defaultBuffer || p.config.Wait != defaultWait {
		t.Errorf("producer is %+v", p.config)
	}
	must.Report(t, "a broker that answers", p.Ping(t.Context()))
	must.Report(t, "Close", p.Close(t.Context()))
	if err := p.Ping(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "ping Kafka: ") {
		t.Errorf("ping after close: %v", err)
	}
}

// A consumer that is stopped before there is a broker ends.
func TestConsumerStopsBeforeStart(t *testing.T) {
	config := Config{Brokers: []string{"127.0.0.1:1"}, Topic: "clicks", Log: quiet()}
	c := newConsumer(t, nil, ConsumerConfig{Config: config, Group: "clicks", Count: ignore})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Report(t, "ended with", c.Run(ctx))
	if lag, err := c.Lag(t.Context()); err == nil {
		t.Errorf("lag of a closed consumer is %d", lag)
	}
}
