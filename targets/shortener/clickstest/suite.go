package clickstest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// plenty is a buffer that no test fills by accident.
const plenty = 10_000

// Run runs the suite. Each test gets a subject of its own, with an empty queue.
func Run(t *testing.T, subject func(t *testing.T) Subject) {
	tests := map[string]func(*testing.T, Subject){
		"every click is stored once":                testDelivery,
		"a consumer dies at the worst moments":      testDyingConsumer,
		"consumers share the work and come and go":  testSharing,
		"the store fails for a while":               testFailingStore,
		"one of the shards fails for a while":       testFailingShard,
		"invalid entries are skipped":               testPoison,
		"the broker is away while there are clicks": testBrokerAway,
		"the broker is not there at first":          testBrokerLate,
		"the buffer overflows":                      testOverflow,
		"closing sends buffered clicks":             testCloseSends,
		"closing has a time limit":                  testCloseGivesUp,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, subject(t)) })
	}
}

func testDelivery(t *testing.T, subject Subject) {
	store, rescue, clicks := newStore(), newStore(), makeClicks(1000)
	var sent, stored events
	producer := subject.Rescued(t, time.Hour, plenty, rescue, sent.count)
	consumer := subject.Consumer(t, store, stored.count)
	// Those that are there before the consumer come in batches.
	clicked(t, producer, clicks[:500])
	stop := start(t, consumer)
	clicked(t, producer, clicks[500:])
	store.await(t, len(clicks))
	eventually(t, "lag is 0", func(ctx context.Context) bool {
		lag, err := consumer.Lag(ctx)
		return err == nil && lag == 0
	})
	if err := consumer.Ping(t.Context()); err != nil {
		t.Errorf("ping: %v", err)
	}
	stop()
	closeProducer(t, producer)
	store.check(t, clicks)
	if store.largest < 2 || store.largest > 100 {
		t.Errorf("the largest batch had %d clicks, want 2 to 100", store.largest)
	}
	got := sent.all()
	// A broker that is starved may be given up for a moment.
	if n := got[shortener.ClickStored]; n > len(clicks)/2 {
		t.Errorf("%d of %d clicks were stored by their redirects, while the broker answers", n, len(clicks))
	}
	delete(got, shortener.ClickStored)
	if diff := cmp.Diff(map[shortener.Event]int{shortener.ClickQueued: len(clicks)}, got); diff != "" {
		t.Errorf("events of the producer (-want +got):\n%s", diff)
	}
	if got := stored.all()[shortener.ClickStored]; got != len(clicks) {
		t.Errorf("%d clicks were counted as stored, want %d", got, len(clicks))
	}
}

// Each life of the consumer ends with a batch, the first to the third: before
// the store commits it, or after, when it is stored and not acknowledged. There
// are always more clicks than two batches hold.
func testDyingConsumer(t *testing.T, subject Subject) {
	const lives, each = 6, 250
	store, clicks := newStore(), makeClicks(lives*each)
	var sent, stored events
	producer := subject.Producer(t, plenty, sent.count)
	for life := range lives {
		ctx, die := context.WithCancel(t.Context())
		store.decide(func(batch int) fate {
			if batch < life/2 {
				return fate{commit: true}
			}
			return fate{commit: life%2 == 0, err: errFate, then: die}
		})
		clicked(t, producer, clicks[each*life:each*(life+1)])
		if err := subject.Consumer(t, store, stored.count).Run(ctx); err != nil {
			t.Errorf("consumer ended with %v", err)
		}
		die()
	}
	store.decide(nil)
	stop := start(t, subject.Consumer(t, store, stored.count))
	store.await(t, len(clicks))
	eventually(t, "every click is acknowledged", func(context.Context) bool {
		n := stored.all()
		return n[shortener.ClickStored]+n[shortener.ClickDuplicate] >= len(clicks)
	})
	stop()
	closeProducer(t, producer)
	store.check(t, clicks)
	if stored.all()[shortener.ClickDuplicate] == 0 {
		t.Error("no click came twice, so that nothing was shown")
	}
}

func testSharing(t *testing.T, subject Subject) {
	store, clicks := newStore(), makeClicks(900)
	var sent, stored events
	producer := subject.Producer(t, plenty, sent.count)
	stopFirst := start(t, subject.Consumer(t, store, stored.count))
	clicked(t, producer, clicks[:300])
	stopSecond := start(t, subject.Consumer(t, store, stored.count))
	clicked(t, producer, clicks[300:600])
	stopFirst()
	clicked(t, producer, clicks[600:])
	store.await(t, len(clicks))
	stopSecond()
	closeProducer(t, producer)
	store.check(t, clicks)
	if got := stored.all()[shortener.ClickStored]; got != len(clicks) {
		t.Errorf("%d clicks were counted, want %d", got, len(clicks))
	}
}

func testFailingStore(t *testing.T, subject Subject) {
	store, clicks := newStore(), makeClicks(50)
	var sent, stored events
	// The second failure is a commit whose answer was lost.
	store.decide(func(batch int) fate {
		return fate{commit: batch >= 1, err: map[bool]error{true: errFate}[batch < 3]}
	})
	producer := subject.Producer(t, plenty, sent.count)
	clicked(t, producer, clicks)
	stop := start(t, subject.Consumer(t, store, stored.count))
	eventually(t, "every click is acknowledged", func(context.Context) bool {
		n := stored.all()
		return n[shortener.ClickStored]+n[shortener.ClickDuplicate] >= len(clicks)
	})
	stop()
	closeProducer(t, producer)
	store.check(t, clicks)
}

// A stored click counts once, also if its batch failed.
func testFailingShard(t *testing.T, subject Subject) {
	store, clicks := newStore(), makeClicks(50)
	var sent, stored events
	store.decide(func(batch int) fate {
		if batch == 0 {
			return fate{half: true, err: errFate}
		}
		return fate{commit: true}
	})
	producer := subject.Producer(t, plenty, sent.count)
	clicked(t, producer, clicks)
	stop := start(t, subject.Consumer(t, store, stored.count))
	store.await(t, len(clicks))
	stop()
	closeProducer(t, producer)
	store.check(t, clicks)
	if got := stored.all()[shortener.ClickStored]; got != len(clicks) {
		t.Errorf("%d clicks were counted, want %d", got, len(clicks))
	}
}

func testPoison(t *testing.T, subject Subject) {
	store, clicks := newStore(), makeClicks(20)
	var sent, stored events
	producer := subject.Producer(t, plenty, sent.count)
	clicked(t, producer, clicks[:10])
	subject.Poison(t)
	clicked(t, producer, clicks[10:])
	consumer := subject.Consumer(t, store, stored.count)
	stop := start(t, consumer)
	store.await(t, len(clicks))
	eventually(t, "lag is 0", func(ctx context.Context) bool {
		lag, err := consumer.Lag(ctx)
		return err == nil && lag == 0
	})
	stop()
	closeProducer(t, producer)
	store.check(t, clicks)
	// A broker may give out anything twice, and does when it is starved.
	if n := stored.all(); n[shortener.ClickStored] != len(clicks) || n[shortener.ClickRejected] < 1 {
		t.Errorf("%d clicks were stored and %d rejected, want %d and 1", n[shortener.ClickStored], n[shortener.ClickRejected], len(clicks))
	}
}
