package redis

import (
	"cmp"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/clickstest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func open(t testing.TB, addr string) *Client {
	t.Helper()
	client, err := Open(Options{Addr: addr, PoolSize: 20})
	must.Succeed(t, err)
	must.Close(t, client)
	return client
}

func TestClicks(t *testing.T) {
	clickstest.Run(t, func(t *testing.T) clickstest.Subject {
		server := redistest.New(t)
		consumers := 0
		return clickstest.Subject{
			Producer: func(t *testing.T, buffer int, count shortener.Count) clickstest.Producer {
				return newQueue(t, open(t, server.Addr()), QueueConfig{Buffer: buffer, Wait: time.Hour, Count: count})
			},
			Rescued: func(t *testing.T, wait time.Duration, buffer int, rescue shortener.ClickStore, count shortener.Count) clickstest.Producer {
				return newQueue(t, open(t, server.Addr()), QueueConfig{Buffer: buffer, Wait: wait, Rescue: rescue, Count: count})
			},
			Consumer: func(t *testing.T, store shortener.ClickStore, count shortener.Count) clickstest.Consumer {
				consumers++
				return newConsumer(t, open(t, server.Addr()), store, ConsumerConfig{
					Name: fmt.Sprintf("consumer-%d", consumers), Count: count,
				})
			},
			Poison: func(t *testing.T) {
				err := open(t, server.Addr()).redis.XAdd(t.Context(), &redis.XAddArgs{
					Stream: Stream, Values: []string{"what", "no click"},
				}).Err()
				must.Succeed(t, err)
			},
			Crash:   func(t *testing.T) { server.Crash(t) },
			Restore: func(t *testing.T) { server.Start(t) },
		}
	})
}

func newQueue(t testing.TB, client *Client, config QueueConfig) *Queue {
	t.Helper()
	config.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	queue, err := NewQueue(client, config)
	must.Succeed(t, err)
	return queue
}

// newConsumer returns a consumer that takes over at once what another left, and
// strikes its name off. So it does with one that is still at it, as well, which
// must do no harm.
func newConsumer(t testing.TB, client *Client, store shortener.ClickStore, config ConsumerConfig) *Consumer {
	t.Helper()
	config.ClaimAfter, config.ForgetAfter = time.Millisecond, cmp.Or(config.ForgetAfter, time.Millisecond)
	config.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	consumer, err := NewConsumer(client, store, config)
	must.Succeed(t, err)
	return consumer
}
