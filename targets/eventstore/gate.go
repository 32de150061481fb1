package eventstore

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"time"
)

// Gate lets clients in, over every protocol in the same way.
type Gate struct {
	Access Access
	// Limit says whether a client may ask now; nil is no limit.
	Limit func(client string) (ok bool, retryAfter time.Duration)
	// Stores returns a tenant's log when it has been opened.
	Stores func(ctx context.Context, tenant string) (Store, error)
	// Bodies are the bytes that requests hold.
	Bodies *Budget
}

// Caller is a client that was let in, and its log.
type Caller struct {
	Tenant string
	Store  Store
}

// Admit limits a client by its rate, finds the owner of its key, and opens the
// owner's log.
func (g Gate) Admit(ctx context.Context, client func() (string, error), key string) (Caller, error) {
	if err := g.throttle(client); err != nil {
		return Caller{}, err
	}
	tenant, err := g.Access.tenant(key)
	if err != nil {
		return Caller{}, err
	}
	store, err := g.Stores(ctx, tenant)
	return Caller{tenant, store}, err
}

func (g Gate) throttle(client func() (string, error)) error {
	if g.Limit == nil {
		return nil
	}
	name, err := client()
	if err != nil {
		return InvalidError(err.Error())
	}
	if ok, wait := g.Limit(name); !ok {
		return ThrottledError{wait}
	}
	return nil
}

// Access decides which client may use which log.
type Access struct {
	// Tenants own the logs by their keys. Without any, all clients may use the one
	// log.
	Tenants Tenants
	// Multi says that there may be several, which can list their names.
	Multi bool
}

// tenant finds the owner of a key.
func (a Access) tenant(key string) (string, error) {
	if a.Tenants.Len() == 0 {
		return SingleLog, nil
	}
	if name, ok := a.Tenants.Owner(key); ok {
		return name, nil
	}
	switch {
	case !a.Multi:
		return "", UnauthenticatedError("Unauthorized")
	case key == "":
		return "", UnauthenticatedError("API key required")
	}
	return "", UnauthenticatedError("Invalid API key")
}

// Presented is the key of X-API-Key, else of Authorization with or without Bearer
// before it.
func Presented(apiKey, authorization string) string {
	if apiKey != "" {
		return apiKey
	}
	const scheme = "Bearer "
	if len(authorization) >= len(scheme) && strings.EqualFold(authorization[:len(scheme)], scheme) {
		return authorization[len(scheme):]
	}
	return authorization
}

// bodiesInFlight bounds the bodies of all requests that have not been answered.
// With what is decoded from them, they take about three times this: within the
// 1 GB that the service is tested with.
const bodiesInFlight = 64 << 20

// Budget are the bytes that requests may hold.
type Budget struct{ held, unread atomic.Int64 }

// Reserve takes bytes until they are given back.
func (b *Budget) Reserve(n int64) (release func(), err error) {
	if b.held.Add(n) > bodiesInFlight {
		b.held.Add(-n)
		return nil, ErrNoMemory
	}
	return func() { b.held.Add(-n) }, nil
}

// ReserveUnread is Reserve for a request that is slow to come, of which n is the most
// that it may have. Together they get half of the budget: a few clients that send
// nothing would otherwise take all of it.
func (b *Budget) ReserveUnread(n int64) (release func(), err error) {
	if b.unread.Add(n) > bodiesInFlight/2 {
		b.unread.Add(-n)
		return nil, ErrNoMemory
	}
	free, err := b.Reserve(n)
	if err != nil {
		b.unread.Add(-n)
		return nil, err
	}
	return func() { free(); b.unread.Add(-n) }, nil
}

// Body is what of a request's body has come. It takes bytes as they come: what
// clients only announce takes none.
type Body struct {
	io.Reader
	budget *Budget
	held   int64
}

// Body returns a body whose bytes are taken as it is read, until it is released.
func (b *Budget) Body(r io.Reader) *Body { return &Body{Reader: r, budget: b} }

func (b *Body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.held += int64(n); b.budget.held.Add(int64(n)) > bodiesInFlight {
		return 0, ErrNoMemory
	}
	return n, err
}

// Release gives the bytes back.
func (b *Body) Release() { b.budget.held.Add(-b.held) }

// Held is how many bytes are taken.
func (b *Budget) Held() int64 { return b.held.Load() }
