package replay

import (
	"context"
	"sync"
	"sync/atomic"
)

const (
	// aheadRequests is how many requests are read ahead of the step: a third of a second
	// at 100,000 a second.
	aheadRequests = 1 << 15
	// aheadBytes bounds what they take.
	aheadBytes = 8 << 20
	// Memory is what a log takes at most while it is read: what is kept to be sorted, and what is
	// read ahead, twice, since what is freed stays until it is collected.
	Memory = 2 * (orderBytes + aheadBytes + (orderRequests+aheadRequests)*pointerBytes)
	// pointerBytes is what a place in the queues takes.
	pointerBytes = 8
)

// Stream are the requests of a step, read ahead of it. Several goroutines may take them.
type Stream struct {
	ready  chan *Request
	held   atomic.Int64  // bytes of what is ready
	room   chan struct{} // there is room for more
	begun  chan struct{} // closed when the first is ready, or there is none
	once   sync.Once
	cancel context.CancelFunc
	done   chan struct{} // the reader has ended
	err    error         // why it did, if not at the end of the window
}

// start starts the reader.
func (l *Log) start() *Stream {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Stream{ready: make(chan *Request, aheadRequests), room: make(chan struct{}, 1), begun: make(chan struct{}), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer close(s.ready)
		defer s.begin()
		_, s.err = l.pass(ctx, l.config.Worker, l.config.Workers, nil, func(r *Request) error { return s.put(ctx, r) })
	}()
	return s
}

// put waits until there is room for a request.
func (s *Stream) put(ctx context.Context, r *Request) error {
	for s.held.Load() > aheadBytes {
		select {
		case <-s.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.held.Add(r.size())
	select {
	case s.ready <- r:
		s.begin()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Stream) begin() { s.once.Do(func() { close(s.begun) }) }

// Take takes the next request, if it is read; nil: it is not yet or, with ended, there is none.
func (s *Stream) Take() (r *Request, ended bool) {
	select {
	case r, ok := <-s.ready:
		if !ok {
			return nil, true
		}
		if s.held.Add(-r.size()) <= aheadBytes {
			select {
			case s.room <- struct{}{}:
			default:
			}
		}
		return r, false
	default:
		return nil, false
	}
}

// Close ends the reader, and returns why it had ended before the end of the window; nil: it had not.
func (s *Stream) Close() error {
	select {
	case <-s.done:
		return s.err
	default:
	}
	s.cancel()
	<-s.done
	return nil
}

// Prime has the log read ahead for the next step.
func (l *Log) Prime() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.primed == nil && !l.closed {
		l.primed = l.start()
	}
}

// Await has the log read ahead for the next step, and waits until its first request is there, or ctx
// ends: a window may begin behind gigabytes.
func (l *Log) Await(ctx context.Context) {
	l.Prime()
	l.mu.Lock()
	s := l.primed
	l.mu.Unlock()
	if s == nil {
		return
	}
	select {
	case <-s.begun:
	case <-ctx.Done():
	}
}

// Stream returns the requests for a step, which closes them.
func (l *Log) Stream() *Stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.primed
	if l.primed = nil; s == nil {
		s = l.start()
	}
	return s
}

// Close ends what is read ahead for a step that does not come.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed = true; l.primed != nil {
		_ = l.primed.Close()
		l.primed = nil
	}
}
