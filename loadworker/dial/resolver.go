package dial

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
)

// Lookup resolves a host name.
type Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

// SystemLookup resolves a host name by the system's resolver.
func SystemLookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return lookUp(ctx, (&net.Dialer{}).DialContext, &net.Resolver{}, host)
}

// lookUp resolves a host name, and asks name servers over connections of dial. That no descriptor was left for one is
// the error then: the resolver makes a text of it.
func lookUp(ctx context.Context, dial func(ctx context.Context, network, address string) (net.Conn, error), r *net.Resolver, host string) ([]netip.Addr, error) {
	var lacking atomic.Pointer[error] // questions for both kinds of addresses are asked at once
	r.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if failure.IsDescriptors(err) {
			lacking.Store(&err)
		}
		return conn, err
	}
	addrs, err := r.LookupNetIP(ctx, "ip", host)
	if why := lacking.Load(); err != nil && why != nil {
		err = *why
	}
	return addrs, err
}

const (
	// answerLife is how long an answer is used: long enough that 10,000 users
	// cause one lookup, short enough to follow a Service that changes.
	answerLife = 5 * time.Second
	// failureLife is the same for a failed lookup.
	failureLife = 500 * time.Millisecond
	// lookupTimeout bounds one lookup. The contexts of callers do not, because all
	// callers share the lookup.
	lookupTimeout = 5 * time.Second
)

// resolver caches the addresses of one host. Callers that come while a lookup is
// under way share its answer.
type resolver struct {
	host   string
	lookup Lookup
	now    func() time.Time

	flight singleflight.Group
	cached atomic.Pointer[answer] // the last; nil: none yet
}

// answer is the result of a lookup.
type answer struct {
	addrs []netip.Addr
	err   error
	until time.Time
}

// resolve returns the addresses of the host.
func (r *resolver) resolve(ctx context.Context) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(r.host); err == nil {
		return []netip.Addr{a}, nil
	}
	if a := r.fresh(); a != nil {
		return a.addrs, a.err
	}
	defer Waiting(ctx)()
	select {
	case result := <-r.flight.DoChan("", r.refresh):
		a := result.Val.(*answer)
		return a.addrs, a.err
	case <-ctx.Done():
		return nil, r.gaveUp(ctx.Err())
	}
}

// gaveUp is why a caller does not wait any longer. If its deadline has passed, that is the failure of the name servers,
// as it is when a lookup ends by its own: the target was not asked for anything.
func (r *resolver) gaveUp(err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &net.DNSError{Err: "no answer in time", Name: r.host, IsTimeout: true, UnwrapErr: err}
}

// fresh returns the cached answer, or nil if there is none or it is too old.
func (r *resolver) fresh() *answer {
	if a := r.cached.Load(); a != nil && r.now().Before(a.until) {
		return a
	}
	return nil
}

// refresh looks the host up and caches the answer. The error of the flight is
// always nil: a failed lookup is an answer, too.
func (r *resolver) refresh() (any, error) {
	if a := r.fresh(); a != nil {
		return a, nil // of a lookup that ended between the caller's look and this flight
	}
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
	a := &answer{addrs: addrs, err: err, until: r.now().Add(life)}
	r.cached.Store(a)
	return a, nil
}
