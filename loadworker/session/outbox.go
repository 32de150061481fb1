package session

import (
	"context"
	"slices"
	"sync"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// outbox is the queue of a stream's outgoing messages. A message replaces one of
// the same key that is still queued, in its place: a coordinator that reads slowly
// costs no memory and gets the latest.
type outbox struct {
	wake chan struct{} // holds a token when there may be a message

	mu       sync.Mutex
	keys     []string
	messages map[string]*workerv1.SessionRequest
}

func newOutbox() *outbox {
	return &outbox{wake: make(chan struct{}, 1), messages: map[string]*workerv1.SessionRequest{}}
}

func (o *outbox) put(key string, m *workerv1.SessionRequest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.messages[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.messages[key] = m
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// next waits for a message and removes it; it returns nil when ctx ends.
func (o *outbox) next(ctx context.Context) *workerv1.SessionRequest {
	for {
		if m := o.take(); m != nil {
			return m
		}
		select {
		case <-o.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

func (o *outbox) take() *workerv1.SessionRequest {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.keys) == 0 {
		return nil
	}
	key := o.keys[0]
	o.keys = slices.Delete(o.keys, 0, 1)
	m := o.messages[key]
	delete(o.messages, key)
	return m
}
