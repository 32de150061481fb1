package coordinator

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
)

// A session that was right when it began may not be so any more.
func TestSessionsOfWorkersThatAreGoneEnd(t *testing.T) {
	simulate(t, func(t *testing.T, r *fixture) {
		r.Direct("a", running("a", 3, 0))
		stays, ends, unknown := r.connect("a", 0, "pod-0"), r.connect("a", 1, "pod-1"), r.connect("a", 2, "pod-2")
		r.gone.Store("uid of pod-1", fmt.Errorf("%w: not found", ErrUnauthenticated))
		r.gone.Store("uid of pod-2", errors.New("the cache is away"))
		synctest.Wait()
		r.fireOf(checkInterval)
		wantEnd(t, ends.end(), codes.Unauthenticated, "check worker: unauthenticated: not found")
		stays.sync()
		unknown.sync()
		synctest.Wait()
		if r.Observe("a").Workers[1].Connected {
			t.Error("the worker that is gone is connected")
		}
	})
}

// A worker that sends without end is read more slowly.
func TestMessagesArePaced(t *testing.T) {
	simulate(t, func(t *testing.T, r *fixture) {
		r.Direct("a", running("a", 1, 0))
		w := r.connect("a", 0, "pod") // by a clock probe, which takes a token
		for range maxTokens - 1 {
			w.sync()
		}
		w.probe(1)
		answered := make(chan error, 1)
		go func() {
			for {
				m, err := w.stream.Recv()
				if err != nil || m.GetClockReply() != nil {
					answered <- err
					return
				}
			}
		}()
		synctest.Wait()
		if len(answered) > 0 {
			t.Fatal("a message beyond the limit is answered at once")
		}
		r.fireOf(time.Second / tokensPerSecond)
		if err := <-answered; err != nil {
			t.Errorf("after its time: %v", err)
		}
	})
}
