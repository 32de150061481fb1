package fairlimit

import (
	"context"
	"fmt"
	"sync"
)

// Limit bounds how many are taken at once, in all and by one namespace.
type Limit struct {
	all chan struct{}
	of  int

	mu         sync.Mutex
	namespaces map[string]*namespaceLimit
}

type namespaceLimit struct {
	taken chan struct{}
	// users have a place or wait for one.
	users int
}

// New returns so many places, of which one namespace has at most ofNamespace.
func New(all, ofNamespace int) *Limit {
	return &Limit{all: make(chan struct{}, all), of: ofNamespace, namespaces: map[string]*namespaceLimit{}}
}

// Acquire waits for a place until ctx ends. Those of a namespace that has all of its
// places are not in the way of others.
func (p *Limit) Acquire(ctx context.Context, namespace string) (release func(), err error) {
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
func (p *Limit) Counts() (taken, namespaces int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all), len(p.namespaces)
}

func (p *Limit) enter(namespace string) *namespaceLimit {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, ok := p.namespaces[namespace]
	if !ok {
		n = &namespaceLimit{taken: make(chan struct{}, p.of)}
		p.namespaces[namespace] = n
	}
	n.users++
	return n
}

func (p *Limit) leave(namespace string) {
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
