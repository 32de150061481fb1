package redisconn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// held answers each batch when the test releases it.
type held struct {
	release chan struct{}
	mu      sync.Mutex
	batches [][]string
}

func newHeld() *held { return &held{release: make(chan struct{})} }

func (h *held) send(calls []*Call[string, string]) {
	var batch []string
	for _, c := range calls {
		batch = append(batch, c.Question)
		c.Answer = "answer to " + c.Question
	}
	h.mu.Lock()
	h.batches = append(h.batches, slices.Sorted(slices.Values(batch)))
	h.mu.Unlock()
	<-h.release
}

// occupy makes every sender busy, and returns the batches that they have.
func (h *held) occupy(t *testing.T, b *Batcher[string, string]) (batches [][]string) {
	t.Helper()
	for i := range maxSenders {
		question := fmt.Sprintf("first-%d", i)
		go ask(t, b, question)
		synctest.Wait() // it is in flight, so that the next needs another sender
		batches = append(batches, []string{question})
	}
	return batches
}

func ask(t *testing.T, b *Batcher[string, string], question string) {
	got, err := b.Ask(t.Context(), question)
	if err != nil || got != "answer to "+question {
		t.Errorf("%s: %q, %v", question, got, err)
	}
}

func checkIdle(t *testing.T, b *Batcher[string, string]) {
	t.Helper()
	if b.senders != 0 || b.waiting != nil {
		t.Errorf("%d senders and %d callers are left", b.senders, len(b.waiting))
	}
}

// Questions that are asked while all senders are busy go together, those before
// at once; and each caller is given its own answer.
func TestCallsShareBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		b := NewBatcher(h.send)
		want := h.occupy(t, b)
		var together []string
		for i := range 20 {
			question := fmt.Sprintf("together-%02d", i)
			go ask(t, b, question)
			together = append(together, question)
		}
		synctest.Wait()
		same.As(t, "batches while the senders are busy", want, h.batches)
		close(h.release)
		synctest.Wait()
		same.As(t, "batches", append(want, together), h.batches)
		checkIdle(t, b)
	})
}

func TestBatchSizeIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		b := NewBatcher(h.send)
		h.occupy(t, b)
		for i := range 2*maxTogether + 1 {
			go ask(t, b, fmt.Sprint(i))
		}
		synctest.Wait()
		close(h.release)
		synctest.Wait()
		var got []int
		for _, batch := range h.batches {
			got = append(got, len(batch))
		}
		slices.Sort(got)
		same.As(t, "sizes", []int{1, 1, 1, maxTogether, maxTogether}, got)
		checkIdle(t, b)
	})
}

// What happens to one call happens to no other.
func TestEachCallHasItsOwnError(t *testing.T) {
	broken := errors.New("broken")
	b := NewBatcher(func(calls []*Call[int, int]) {
		for _, c := range calls {
			if c.Answer = c.Question; c.Question%2 == 1 {
				c.Err = broken
			}
		}
	})
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			answer, err := b.Ask(t.Context(), i)
			if answer != i || (err != nil) != (i%2 == 1) {
				t.Errorf("%d: %d, %v", i, answer, err)
			}
		})
	}
	group.Wait()
}

// A canceled call returns at once, also in flight; a call that is canceled before
// that is not sent.
func TestCanceledCallIsNotSent(t *testing.T) {
	tests := map[string]struct {
		// busy is whether the senders are, so that the question has to wait.
		busy bool
		want int
	}{
		"before its question is sent": {busy: true, want: maxSenders},
		"after it":                    {want: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHeld()
				b := NewBatcher(h.send)
				if tt.busy {
					h.occupy(t, b)
				}
				ctx, leave := context.WithCancel(t.Context())
				left := make(chan error)
				go func() {
					_, err := b.Ask(ctx, "mine")
					left <- err
				}()
				synctest.Wait()
				leave()
				if err := <-left; !errors.Is(err, context.Canceled) {
					t.Errorf("error is %v, want that of the context", err)
				}
				close(h.release)
				synctest.Wait()
				same.As(t, "batches", tt.want, len(h.batches))
				checkIdle(t, b)
			})
		})
	}
}

func TestCanceledContextSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		close(h.release)
		b := NewBatcher(h.send)
		ctx, leave := context.WithCancel(t.Context())
		leave()
		for range 100 {
			if _, err := b.Ask(ctx, "mine"); !errors.Is(err, context.Canceled) {
				t.Errorf("error is %v, want that of the context", err)
			}
		}
		synctest.Wait()
		if len(h.batches) != 0 {
			t.Errorf("sent %v", h.batches)
		}
		checkIdle(t, b)
	})
}

// An answer that is there is given, though the caller's time is up as well. Were
// the choice left to chance, a hundred tries would show it.
func TestResultWinsOverCancellation(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		c := &Call[string, string]{Answer: "granted", ctx: over, done: make(chan struct{})}
		close(c.done)
		if got, err := c.wait(); got != "granted" || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
	}
}
