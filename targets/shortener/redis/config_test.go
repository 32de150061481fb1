package redis

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// storeFunc receives clicks, all of which it stores as new.
type storeFunc func([]shortener.Click)

func (f storeFunc) AddClicks(_ context.Context, clicks []shortener.Click) (int, error) {
	f(clicks)
	return len(clicks), nil
}

func withCancel(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return ctx, cancel
}

func TestRefused(t *testing.T) {
	count := func(shortener.Event, int) {}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	client := newUnreachable(t)
	cache := func(c CacheConfig) error { _, err := NewCache(client, newLinks(), c); return err }
	queue := func(c QueueConfig) error { _, err := NewQueue(client, c); return err }
	consumer := func(c ConsumerConfig) error { _, err := NewConsumer(client, storeFunc(nil), c); return err }
	open := func(o Options) error { _, err := Open(o); return err }
	tests := map[string]struct {
		err  error
		want []string
	}{
		"options": {
			err:  open(Options{DB: -1}),
			want: []string{"redis address is empty", "redis database is -1", "redis pool size is 0"},
		},
		"cache without anything": {
			err:  cache(CacheConfig{}),
			want: []string{"cache TTL is 0s: use 1ms or more", "Count and Log are required"},
		},
		"cache with impossible times": {
			err:  cache(CacheConfig{TTL: time.Hour, NegativeTTL: time.Microsecond, Timeout: -1, Pause: -1, Count: count, Log: log}),
			want: []string{"negative cache TTL is 1µs", "timeout of the cache is -1ns", "pause of the cache is -1ns"},
		},
		"queue": {
			err:  queue(QueueConfig{Buffer: -1, Wait: -1}),
			want: []string{"buffer of clicks is -1", "wait for a click to be queued is -1ns", "Count and Log are required"},
		},
		"consumer": {
			err:  consumer(ConsumerConfig{ClaimAfter: -1, ForgetAfter: -1}),
			want: []string{"has no name", "claims after -1ns", "forgets after -1ns", "Count and Log are required"},
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
	client := newUnreachable(t)
	count, log := func(shortener.Event, int) {}, slog.New(slog.NewTextHandler(io.Discard, nil))
	cache, err := NewCache(client, newLinks(), CacheConfig{TTL: time.Hour, Count: count, Log: log})
	if err != nil || cache.config.Timeout != 500*time.Millisecond || cache.config.Pause != 30*time.Second || cache.config.Now == nil {
		t.Errorf("cache is %+v, %v", cache.config, err)
	}
	must.Report(t, "Close", cache.Close())
	queue, err := NewQueue(client, QueueConfig{Count: count, Log: log})
	if err != nil || cap(queue.buffer) != defaultBuffer || queue.config.Wait != defaultWait {
		t.Errorf("queue is %+v, %v", queue.config, err)
	}
	must.Report(t, "Close", queue.Close(t.Context()))
	consumer, err := NewConsumer(client, storeFunc(nil), ConsumerConfig{Name: "a", Count: count, Log: log})
	if err != nil || consumer.config.ClaimAfter != 30*time.Second || consumer.config.ForgetAfter != 10*time.Minute {
		t.Errorf("consumer is %+v, %v", consumer.config, err)
	}
}

func TestPing(t *testing.T) {
	must.Report(t, "a server that answers", open(t, redistest.Start(t)).Ping(t.Context()))
	err := newUnreachable(t).Ping(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "ping redis: ") {
		t.Errorf("no server: %v", err)
	}
}
