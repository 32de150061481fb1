package loadtest

import (
	"context"
	"fmt"
	"sync"
)

// places bounds how many calls run at once, in all and of one namespace.
type places struct {
	all chan struct{}
	of  int

	mu         sync.Mutex
	namespaces map[string]*namespacePlaces
}

type namespacePlaces struct {
	taken chan struct{}
	// users have a place or wait for one.
	users int
}

func newPlaces(all, ofNamespace int) *places {
	return &places{all: make(chan struct{}, all), of: ofNamespace, namespaces: map[string]*namespacePlaces{}}
}

// acquire waits for a place until ctx ends.
func (p *places) acquire(ctx context.Context, namespace string) (release func(), err error) {
	n := p.enter(namespace)
	if err := take(ctx, n.taken); err != nil {
		p.leave(namespace)
		return nil, err
	}
	if err := take(ctx, p.all); err != nil {
		<-n.taken
		p.leave(namespace)
		return nil, err
	}
	return func() {
		<-p.all
		<-n.taken
		p.leave(namespace)
	}, nil
}

func (p *places) enter(namespace string) *namespacePlaces {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, ok := p.namespaces[namespace]
	if !ok {
		n = &namespacePlaces{taken: make(chan struct{}, p.of)}
		p.namespaces[namespace] = n
	}
	n.users++
	return n
}

func (p *places) leave(namespace string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.namespaces[namespace]
	if n.users--; n.users == 0 {
		delete(p.namespaces, namespace)
	}
}

func take(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for other reviews of tokens: %w", ctx.Err())
	}
}
