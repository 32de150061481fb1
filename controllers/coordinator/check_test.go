package coordinator

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
)

// A session that was right when it began may not be so any more.
func TestSessionsOfWorkersThatAreGoneEnd(t *testing.T) {
	r := newFixture(t)
	r.Direct("a", running("a", 3, 0))
	stays, ends, unknown := r.connect("a", 0, "pod-0"), r.connect("a", 1, "pod-1"), r.connect("a", 2, "pod-2")
	r.gone.Store("uid of pod-1", fmt.Errorf("%w: not found", ErrUnauthenticated))
	r.gone.Store("uid of pod-2", errors.New("the cache is away"))
	ended := make(chan error)
	go func() { ended <- ends.end() }()
	deadline := time.After(timeout)
	for over := false; !over; {
		// The timer is set once Serve runs; that cannot be seen from here.
		r.fireOf(checkInterval)
		select {
		case err := <-ended:
			wantEnd(t, err, codes.Unauthenticated, "check worker: unauthenticated: not found")
			over = true
		case <-deadline:
			t.Fatal("the session goes on")
		default:
		}
	}
	stays.sync()
	unknown.sync()
	r.until("disconnected", func(o exchange.Observation) bool { return !o.Workers[1].Connected })
}

// A worker that sends without end is read more slowly.
func TestMessagesArePaced(t *testing.T) {
	r := newFixture(t)
	r.Direct("a", running("a", 1, 0))
	w := r.connect("a", 0, "pod") // by a clock probe, which takes a token
	for range maxTokens - 1 {
		w.sync()
	}
	w.probe(1)
	answered := make(chan error)
	go func() {
		for {
			m, err := w.stream.Recv()
			if err != nil || m.GetClockReply() != nil {
				answered <- err
				return
			}
		}
	}()
	const wait = time.Second / tokensPerSecond
	deadline := time.After(timeout)
	for {
		r.mu.Lock()
		waits := 0
		for _, timer := range r.timers {
			if timer.after <= wait {
				waits++
			}
		}
		r.mu.Unlock()
		if waits == 1 {
			break
		}
		select {
		case <-answered:
			t.Fatal("a message beyond the limit is answered at once")
		case <-deadline:
			t.Fatal("no message waits")
		default:
		}
	}
	r.fireIf(func(d time.Duration) bool { return d <= wait })
	if err := <-answered; err != nil {
		t.Errorf("after its time: %v", err)
	}
}
