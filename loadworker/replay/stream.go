package replay

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	// aheadRequests is how many requests are read ahead of the step: a third of a second
	// at 100,000 a second.
	aheadRequests = 1 << 15
	// aheadBytes bounds what they take.
	aheadBytes = 8 << 20
	// batchRequests is how many requests go through the channel at once, which costs about as much as
	// to parse one of them; batchBytes is how much, if they are large.
	batchRequests = 256
	batchBytes    = 64 << 10
	// spentBatches is how many lists of batches wait to be used again: the reader fills one for each that is taken.
	spentBatches = 4
	// yieldEvery is after how many requests the reader lets others run, which takes it some 20 us to
	// read: on a worker of one processor, what is due would wait for it for up to 10 ms otherwise.
	yieldEvery = 16
	// Memory is what a log takes at most while it is read: what is kept to be sorted, and what is
	// read ahead, twice, since what is freed stays until it is collected, and what is due in each second: of all workers, of
	// this one, and of what it has sent.
	Memory = 2*(orderBytes+aheadBytes+(orderRequests+aheadRequests)*pointerBytes) + 3*secondsBytes
	// pointerBytes is what a place in the queues takes.
	pointerBytes = 8
)

// Stream are the requests of a step, read ahead of it. Several goroutines may take them.
type Stream struct {
	ready  chan batch
	spent  chan []Request // the lists of batches that were taken, for those to come
	held   atomic.Int64   // bytes of what is ready
	room   chan struct{}  // there is room for more
	begun  chan struct{}  // closed when the first is ready, or there is none
	once   sync.Once
	cancel context.CancelFunc
	done   chan struct{} // the reader has ended
	err    error         // why it did, if not at the end of the window
	next   batch         // of the reader, not ready yet

	mu    sync.Mutex
	list  []Request // of the batch that was received last
	taken int       // how many of them were
}

// batch are requests that follow one another.
type batch struct {
	list  []Request
	bytes int64
}

// start starts the reader.
func (l *Log) start() *Stream {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Stream{ready: make(chan batch, aheadRequests/batchRequests), spent: make(chan []Request, spentBatches), room: make(chan struct{}, 1), begun: make(chan struct{}), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer close(s.ready)
		defer s.begin()
		rate := surveyedRate{survey: l.survey.seconds}
		queue := order{most: l.survey.behind, emit: func(r *Request) error {
			if err := rate.check(r); err != nil {
				return err
			}
			return s.put(ctx, r)
		}}
		_, s.err = l.pass(ctx, reading{worker: l.config.Worker, workers: l.config.Workers, queue: &queue})
		if err := s.flush(ctx); s.err == nil {
			s.err = err
		}
	}()
	return s
}

// put adds a request to the next batch.
func (s *Stream) put(ctx context.Context, r *Request) error {
	s.next.list = append(s.next.list, *r)
	s.next.bytes += r.size()
	if len(s.next.list)%yieldEvery == 0 {
		runtime.Gosched()
	}
	if len(s.next.list) < batchRequests && s.next.bytes < batchBytes {
		return nil
	}
	return s.flush(ctx)
}

// flush waits until there is room for the next batch.
func (s *Stream) flush(ctx context.Context) error {
	b := s.next
	if len(b.list) == 0 {
		return nil
	}
	select {
	case s.next.list = <-s.spent:
	default:
		s.next.list = make([]Request, 0, len(b.list))
	}
	s.next.bytes = 0
	for s.held.Load() > aheadBytes {
		select {
		case <-s.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.held.Add(b.bytes)
	select {
	case s.ready <- b:
		s.begin()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Stream) begin() { s.once.Do(func() { close(s.begun) }) }

// Take copies the next request, if it is read; ok is false if it is not yet or, with ended, there is none.
func (s *Stream) Take(r *Request) (ok, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken == len(s.list) {
		if ended = s.receive(); s.taken == len(s.list) {
			return false, ended
		}
	}
	*r = s.list[s.taken]
	s.taken++
	return true, false
}

// reuse gives the list of the batch that was taken to the reader: most of what it would allocate else, and the
// worker would collect while it sends.
func (s *Stream) reuse() {
	clear(s.list) // so that nothing holds the paths in memory
	select {
	case s.spent <- s.list[:0]:
	default:
	}
	s.list, s.taken = nil, 0
}

// receive receives a batch, if one is ready.
func (s *Stream) receive() (ended bool) {
	select {
	case b, ok := <-s.ready:
		if !ok {
			return true
		}
		if s.list != nil {
			s.reuse()
		}
		s.list = b.list
		if s.held.Add(-b.bytes) <= aheadBytes {
			select {
			case s.room <- struct{}{}:
			default:
			}
		}
	default:
	}
	return false
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
