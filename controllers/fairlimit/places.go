package fairlimit

import (
	"context"
	"fmt"
	"sync"
)

// Places bounds how many are taken at once, in all and by one namespace.
type Places struct {
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

// New returns so many places, of which one namespace has at most ofNamespace.
func New(all, ofNamespace int) *Places {
	return &Places{all: make(chan struct{}, all), of: ofNamespace, namespaces: map[string]*namespacePlaces{}}
}

// Acquire waits for a place until ctx ends. Those of a namespace that has all of its
// places are not in the way of others.
func (p *Places) Acquire(ctx context.Context, namespace string) (release func(), err error) {
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

// Counts are how many are taken, and how many namespaces have one or wait for one.
func (p *Places) Counts() (taken, namespaces int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all), len(p.namespaces)
}

func (p *Places) enter(namespace string) *namespacePlaces {
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

func (p *Places) leave(namespace string) {
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
		return fmt.Errorf("wait for a place: %w", ctx.Err())
	}
}
