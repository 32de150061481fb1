package clickstest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// The producers of this file wait for the broker as long as they can, which a
// redirect must not do when there is none: a test that ends at all has shown
// that.

func testBrokerAway(t *testing.T, subject Subject) {
	store, clicks := newStore(), makeClicks(600)
	var sent, stored events
	producer := subject.Producer(t, plenty, sent.count)
	stop := start(t, subject.Consumer(t, store, stored.count))
	clicked(t, producer, clicks[:200])
	store.await(t, 200)
	subject.Crash(t)
	clicked(t, producer, clicks[200:400])
	subject.Restore(t)
	clicked(t, producer, clicks[400:])
	store.await(t, len(clicks))
	stop()
	closeProducer(t, producer)
	store.check(t, clicks)
	want := map[shortener.Event]int{shortener.ClickQueued: len(clicks)}
	if diff := cmp.Diff(want, sent.all()); diff != "" {
		t.Errorf("events of the producer (-want +got):\n%s", diff)
	}
}

// What does not fit is lost and said to be; what fits is not.
func testOverflow(t *testing.T, subject Subject) {
	const clickCount, buffer = 2000, 100
	store, clicks := newStore(), makeClicks(clickCount)
	var sent, stored events
	subject.Crash(t)
	producer := subject.Producer(t, buffer, sent.count)
	clicked(t, producer, clicks)
	subject.Restore(t)
	n := sent.all()
	if n[shortener.ClickQueued]+n[shortener.ClickLost] != clickCount {
		t.Errorf("%d clicks were queued and %d lost, of %d", n[shortener.ClickQueued], n[shortener.ClickLost], clickCount)
	}
	if n[shortener.ClickQueued] < buffer || n[shortener.ClickLost] == 0 {
		t.Errorf("%d clicks were queued and %d lost with a buffer of %d", n[shortener.ClickQueued], n[shortener.ClickLost], buffer)
	}
	stop := start(t, subject.Consumer(t, store, stored.count))
	closeProducer(t, producer)
	store.await(t, n[shortener.ClickQueued])
	stop()
	if got := stored.all()[shortener.ClickStored]; got != n[shortener.ClickQueued] {
		t.Errorf("%d clicks were stored, want the %d that were queued", got, n[shortener.ClickQueued])
	}
}

// Redirects whose clients left do not wait for the broker, so that clicks are
// buffered when the producer is closed. They are not rescued: no reply confirmed
// them.
func testCloseSends(t *testing.T, subject Subject) {
	store, rescue, clicks := newStore(), newStore(), makeClicks(500)
	var sent, stored events
	producer := subject.Rescued(t, time.Hour, plenty, rescue, sent.count)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range clicks {
		if err := producer.Clicked(gone, c); err != nil {
			t.Errorf("a redirect failed: %v", err)
		}
	}
	closeProducer(t, producer)
	stop := start(t, subject.Consumer(t, store, stored.count))
	store.await(t, len(clicks))
	stop()
	store.check(t, clicks)
	rescue.check(t, nil)
}

func testCloseGivesUp(t *testing.T, subject Subject) {
	clicks := makeClicks(300)
	var sent events
	subject.Crash(t)
	producer := subject.Producer(t, plenty, sent.count)
	clicked(t, producer, clicks)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := producer.Close(over); err == nil {
		t.Error("clicks were lost in silence")
	}
	want := map[shortener.Event]int{shortener.ClickQueued: len(clicks), shortener.ClickLost: len(clicks)}
	if diff := cmp.Diff(want, sent.all()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	subject.Restore(t)
}
