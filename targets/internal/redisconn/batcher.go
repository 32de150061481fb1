package redisconn

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

const (
	// maxTogether bounds a batch, which delays all other commands.
	maxTogether = 256
	// maxSenders bounds the batches in flight. One would let a slow reply hold up
	// all calls; more than a few would make batches small.
	maxSenders = 2
)

// Call is one question, and what came of it: an answer, or an error.
type Call[Q, A any] struct {
	Question Q
	Answer   A
	Err      error

	ctx  context.Context
	done chan struct{}
}

// Batcher sends the calls that arrive during a round trip together, in the next
// one. A single call is sent at once:
//
//	Ask ─┐
//	Ask ─┼─► waiting ──≤ 256──► 2 senders ──► Redis
//	Ask ─┘
//
// A call returns when its own context ends. If that is before it was sent, it never
// is.
type Batcher[Q, A any] struct {
	send func([]*Call[Q, A])

	mu      sync.Mutex
	waiting []*Call[Q, A]
	senders int
}

// NewBatcher returns an empty batcher. Send gives each call its answer or its
// error. It must return in bounded time, which is why no sender has to be stopped.
func NewBatcher[Q, A any](send func([]*Call[Q, A])) *Batcher[Q, A] {
	return &Batcher[Q, A]{send: send}
}

// Ask returns what came of a question.
func (b *Batcher[Q, A]) Ask(ctx context.Context, question Q) (A, error) {
	c := &Call[Q, A]{Question: question, ctx: ctx, done: make(chan struct{})}
	b.add(c)
	return c.wait()
}

// wait prefers an answer that is there to a context that has ended: something may
// have been done for it.
func (c *Call[Q, A]) wait() (answer A, err error) {
	select {
	case <-c.done:
		return c.Answer, c.Err
	case <-c.ctx.Done():
	}
	select {
	case <-c.done:
		return c.Answer, c.Err
	default:
		return answer, c.ctx.Err()
	}
}

// add starts a sender unless there are enough. A sender ends when no call is
// waiting.
func (b *Batcher[Q, A]) add(c *Call[Q, A]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, c)
	if b.senders < maxSenders {
		b.senders++
		go b.sendAll()
	}
}

func (b *Batcher[Q, A]) sendAll() {
	for {
		// Callers that are ready to run come first, and with them their questions.
		// Without this line nearly every question goes alone.
		runtime.Gosched()
		batch := b.take()
		if len(batch) == 0 {
			return
		}
		b.send(batch)
		for _, c := range batch {
			close(c.done)
		}
	}
}

// take returns the next batch, without canceled calls. With no call waiting it
// unregisters the sender, under the same lock, so that no caller relies on it any
// more.
func (b *Batcher[Q, A]) take() []*Call[Q, A] {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = slices.DeleteFunc(b.waiting, func(c *Call[Q, A]) bool { return c.ctx.Err() != nil })
	if len(b.waiting) == 0 {
		b.waiting = nil // keeps no answered call alive
		b.senders--
		return nil
	}
	n := min(len(b.waiting), maxTogether)
	batch := b.waiting[:n:n]
	b.waiting = b.waiting[n:]
	return batch
}
