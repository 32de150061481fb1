package clickstest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/kafkatest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/clickstest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/kafka"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/postgres"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/redis"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// withPostgres are the tests of a binary that share a Postgres as well.
type withPostgres struct{ *testing.M }

func (w withPostgres) Run() int { return postgrestest.Main(w.M) }

func TestMain(m *testing.M) { os.Exit(kafkatest.Main(withPostgres{m})) }

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// The whole way with nothing simulated but the deaths: redirects, a queue, and
// consumers that die after Postgres committed, at one batch in three.
func TestEndToEnd(t *testing.T) {
	tests := map[string]func(*testing.T) (clickstest.Producer, func(shortener.ClickStore, shortener.Count) clickstest.Consumer){
		"redis": throughRedis,
		"kafka": throughKafka,
	}
	for name, queue := range tests {
		t.Run(name, func(t *testing.T) {
			const clicks = 1200
			store := openPostgres(t)
			codes := []string{"abc", "DEF", "123456"}
			created := time.Now().UTC().Truncate(time.Microsecond)
			for _, code := range codes {
				link := shortener.Link{Code: code, URL: "https://example.com/", CreatedAt: created, ExpiresAt: created.Add(time.Hour)}
				must.Succeed(t, store.Create(t.Context(), link))
			}
			producer, consumer := queue(t)
			visit(t, producer, codes, clicks)
			duplicates := consume(t, store, clicks, consumer)
			if duplicates == 0 {
				t.Error("no click came twice, so that nothing was shown")
			}
			must.Report(t, "Close", producer.Close(t.Context()))
			for _, code := range codes {
				if _, n, err := store.Details(t.Context(), code); err != nil || n != int64(clicks/len(codes)) {
					t.Errorf("%s has %d clicks, %v; want %d", code, n, err, clicks/len(codes))
				}
			}
			links, n, err := store.Totals(t.Context())
			if diff := cmp.Diff([]int64{int64(len(codes)), clicks}, []int64{links, n}); err != nil || diff != "" {
				t.Errorf("links and clicks, %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func visit(t *testing.T, producer clickstest.Producer, codes []string, clicks int) {
	var redirects sync.WaitGroup
	for i := range clicks {
		redirects.Go(func() {
			must.Report(t, "a redirect failed", producer.Clicked(t.Context(), shortener.NewClick(codes[i%len(codes)], time.Now())))
		})
	}
	redirects.Wait()
}

// consume runs consumers, one after the other, until every click is stored, and
// returns how often one was found to be.
func consume(t *testing.T, store shortener.ClickStore, clicks int,
	consumer func(shortener.ClickStore, shortener.Count) clickstest.Consumer) (duplicates int) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	batches, stored := 0, 0
	for ctx.Err() == nil && stored < clicks {
		life, end := context.WithCancel(ctx)
		mortal := clickstest.StoreFunc(func(ctx context.Context, c []shortener.Click) (int, error) {
			added, err := store.AddClicks(ctx, c)
			stored += added
			if stored == clicks {
				end() // gracefully: the clicks that were read are acknowledged
			}
			if batches++; batches%3 == 0 {
				end()
				return 0, errors.Join(err, errors.New("died"))
			}
			return added, err
		})
		count := func(e shortener.Event, n int) {
			if e == shortener.ClickDuplicate {
				duplicates += n
			}
		}
		must.Report(t, "consumer ended with", consumer(mortal, count).Run(life))
		end()
	}
	if stored < clicks {
		t.Fatalf("%d of %d clicks were stored: %v", stored, clicks, ctx.Err())
	}
	return duplicates
}

func openPostgres(t *testing.T) *postgres.Store {
	t.Helper()
	server := postgrestest.Shared(t)
	store, err := postgres.Open(postgres.Options{
		Addr: server.Addr(), Database: server.Database(t), User: postgrestest.User,
		Connections: postgres.Pool, PoolSize: 4, Now: time.Now,
	})
	must.Succeed(t, err)
	must.Close(t, store)
	must.Succeed(t, store.Prepare(t.Context()))
	return store
}

func throughRedis(t *testing.T) (clickstest.Producer, func(shortener.ClickStore, shortener.Count) clickstest.Consumer) {
	client, err := redis.Open(redis.Options{Addr: redistest.Start(t), PoolSize: 10})
	must.Succeed(t, err)
	must.Close(t, client)
	queue, err := redis.NewQueue(client, redis.QueueConfig{Wait: time.Hour, Count: func(shortener.Event, int) {}, Log: quiet})
	must.Succeed(t, err)
	return queue, func(store shortener.ClickStore, count shortener.Count) clickstest.Consumer {
		consumer, err := redis.NewConsumer(client, store, redis.ConsumerConfig{
			Name: "consumer", ClaimAfter: time.Millisecond, Count: count, Log: quiet,
		})
		must.Succeed(t, err)
		return consumer
	}
}

func throughKafka(t *testing.T) (clickstest.Producer, func(shortener.ClickStore, shortener.Count) clickstest.Consumer) {
	config := kafka.Config{Brokers: []string{kafkatest.Shared(t).Addr()}, Topic: "clicks-" + rand.Text(), Log: quiet}
	producer, err := kafka.NewProducer(kafka.ProducerConfig{Config: config, Wait: time.Hour, Count: func(shortener.Event, int) {}})
	must.Succeed(t, err)
	return producer, func(store shortener.ClickStore, count shortener.Count) clickstest.Consumer {
		consumer, err := kafka.NewConsumer(store, kafka.ConsumerConfig{Config: config, Group: config.Topic, Count: count})
		must.Succeed(t, err)
		return consumer
	}
}
