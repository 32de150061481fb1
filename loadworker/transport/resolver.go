package transport

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Lookup resolves a host name.
type Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

// SystemLookup asks the system's resolver.
func SystemLookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

const (
	// answerLife is how long an answer is used: long enough that 10,000 users
	// ask once, short enough to follow a Service that changes.
	answerLife = 5 * time.Second
	// failureLife is the same for a failed lookup.
	failureLife = 500 * time.Millisecond
	// lookupTimeout bounds one lookup, which no caller's own context does: all
	// callers share it.
	lookupTimeout = 5 * time.Second
)

// resolver caches the answers for one host. Callers that come while a lookup is
// under way wait for it.
type resolver struct {
	host   string
	lookup Lookup
	now    func() time.Time

	mu      sync.Mutex
	pending chan struct{} // closed when the lookup is done; nil: none
	answer  answer
}

type answer struct {
	addrs []netip.Addr
	err   error
	until time.Time
}

func (r *resolver) resolve(ctx context.Context) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(r.host); err == nil {
		return []netip.Addr{a}, nil
	}
	for {
		a, pending := r.cached()
		if pending == nil {
			return a.addrs, a.err
		}
		select {
		case <-pending:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// cached returns a fresh answer, or a channel that is closed when there is one.
func (r *resolver) cached() (answer, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending == nil && r.now().Before(r.answer.until) {
		return r.answer, nil
	}
	if r.pending == nil {
		r.pending = make(chan struct{})
		go r.refresh()
	}
	return answer{}, r.pending
}

func (r *resolver) refresh() {
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	addrs, err := r.lookup(ctx, r.host)
	if err == nil && len(addrs) == 0 {
		err = &net.DNSError{Err: "no address", Name: r.host, IsNotFound: true}
	}
	life := answerLife
	if err != nil {
		life = failureLife
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer{addrs: addrs, err: err, until: r.now().Add(life)}
	close(r.pending)
	r.pending = nil
}
