package clickstest

import (
	"context"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// waitTimeout bounds every wait of the suite. It is long because it delays only the
// report of a failure.
const waitTimeout = 2 * time.Minute

// Subject is one queue, with a broker of its own or a topic of its own in a
// broker that is shared.
type Subject struct {
	// Producer returns what redirects tell of clicks. It keeps buffer clicks
	// in memory, and its redirects wait for the broker as long as they can.
	Producer func(t *testing.T, buffer int, count shortener.Count) Producer
	// Rescued returns one whose redirects wait so long for the broker, and whose
	// clicks are rescued then.
	Rescued func(t *testing.T, wait time.Duration, buffer int, rescue shortener.ClickStore, count shortener.Count) Producer
	// Consumer returns one more consumer of the queue.
	Consumer func(t *testing.T, store shortener.ClickStore, count shortener.Count) Consumer
	// Poison puts something into the queue that is no click.
	Poison func(t *testing.T)
	// Crash takes the broker away, Restore brings it back with its data.
	Crash, Restore func(t *testing.T)
}

// Producer is the side of the queue where redirects are.
type Producer interface {
	shortener.Clicks
	Close(ctx context.Context) error
}

// Consumer is the other side.
type Consumer interface {
	Run(ctx context.Context) error
	Ping(ctx context.Context) error
	Lag(ctx context.Context) (int64, error)
}

// events sums the calls of shortener.Count.
type events struct {
	mu     sync.Mutex
	counts map[shortener.Event]int
}

func (e *events) count(event shortener.Event, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.counts == nil {
		e.counts = map[shortener.Event]int{}
	}
	if n != 0 {
		e.counts[event] += n
	}
}

func (e *events) all() map[shortener.Event]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.counts)
}

// start runs a consumer until stop is called, or the test ends. Stop returns
// when it has ended.
func start(t *testing.T, c Consumer) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := c.Run(ctx); err != nil {
			t.Errorf("consumer ended with %v", err)
		}
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	return stop
}

// eventually asks again and again until the answer is yes.
func eventually(t *testing.T, what string, ask func(ctx context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !ask(ctx) {
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("%s: not within %v", what, waitTimeout)
		}
	}
}

// clicked tells the producer of clicks from several redirects at once, and
// returns them by their ids.
func clicked(t *testing.T, p Producer, clicks []shortener.Click) {
	t.Helper()
	const redirects = 16
	todo := make(chan shortener.Click)
	var wg sync.WaitGroup
	for range redirects {
		wg.Go(func() {
			for c := range todo {
				if err := p.Clicked(t.Context(), c); err != nil {
					t.Errorf("a redirect failed: %v", err)
				}
			}
		})
	}
	for _, c := range clicks {
		todo <- c
	}
	close(todo)
	wg.Wait()
}

// makeClicks returns n clicks on a few codes.
func makeClicks(n int) []shortener.Click {
	codes := []string{"abc", "DEF", "123456"}
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC)
	clicks := make([]shortener.Click, n)
	for i := range clicks {
		clicks[i] = shortener.NewClick(codes[i%len(codes)], at.Add(time.Duration(i)*time.Millisecond))
	}
	return clicks
}

func closeProducer(t *testing.T, p Producer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	if err := p.Close(ctx); err != nil {
		t.Errorf("close producer: %v", err)
	}
}

// StoreFunc is a store of clicks that is one function.
type StoreFunc func(context.Context, []shortener.Click) (int, error)

// AddClicks calls the function.
func (f StoreFunc) AddClicks(ctx context.Context, clicks []shortener.Click) (int, error) {
	return f(ctx, clicks)
}
