package clickstest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// While there is no broker clicks wait for one, and each that may be rescued is
// stored before its redirect is answered. It comes again later, and counts once; so
// does one that could not be stored either.
func testBrokerLate(t *testing.T, subject Subject) {
	store, clicks := newStore(), makeClicks(1300)
	late, inVain, rescued := clicks[:100], clicks[100:200], clicks[200:300]
	var sent [3]events
	var stored events
	subject.Crash(t)
	stop := start(t, subject.Consumer(t, store, stored.count))
	producers := []Producer{
		subject.Producer(t, plenty, sent[0].count),
		subject.Rescued(t, time.Millisecond, plenty, store, sent[1].count),
		subject.Rescued(t, time.Millisecond, plenty, store, sent[2].count),
	}
	clicked(t, producers[0], late)
	store.decide(func(int) fate { return fate{err: errFate} })
	clicked(t, producers[1], inVain)
	store.check(t, nil)
	store.decide(nil)
	clicked(t, producers[2], rescued)
	checkOverflowing(t, subject, store, clicks[300:])
	store.check(t, clicks[200:])

	subject.Restore(t)
	store.await(t, len(clicks))
	eventually(t, "what was rescued is delivered", func(context.Context) bool {
		return stored.all()[shortener.ClickDuplicate] >= len(rescued)
	})
	stop()
	var got []map[shortener.Event]int
	for i, p := range producers {
		closeProducer(t, p)
		got = append(got, sent[i].all())
	}
	store.check(t, clicks)
	want := []map[shortener.Event]int{
		{shortener.ClickQueued: len(late)},
		{shortener.ClickQueued: len(inVain)},
		{shortener.ClickQueued: len(rescued), shortener.ClickStored: len(rescued)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events of the producers (-want +got):\n%s", diff)
	}
	if n := stored.all()[shortener.ClickStored]; n != len(late)+len(inVain) {
		t.Errorf("%d clicks were counted by the consumer, want %d", n, len(late)+len(inVain))
	}
}

// checkOverflowing checks that nothing is lost with a buffer that is too small, nor
// with a producer that ends before it could send.
func checkOverflowing(t *testing.T, subject Subject, store shortener.ClickStore, clicks []shortener.Click) {
	t.Helper()
	const buffer = 10
	var sent events
	producer := subject.Rescued(t, time.Millisecond, buffer, store, sent.count)
	clicked(t, producer, clicks)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := producer.Close(over); err != nil {
		t.Errorf("close = %v, want nil: what is left in the buffer is stored", err)
	}
	got := sent.all()
	if n := got[shortener.ClickQueued]; n < buffer || n == len(clicks) {
		t.Errorf("%d clicks of %d were queued with a buffer of %d", n, len(clicks), buffer)
	}
	delete(got, shortener.ClickQueued)
	if diff := cmp.Diff(map[shortener.Event]int{shortener.ClickStored: len(clicks)}, got); diff != "" {
		t.Errorf("events of a producer that is too small (-want +got):\n%s", diff)
	}
}
