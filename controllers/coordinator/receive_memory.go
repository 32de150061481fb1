package coordinator

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/fairlimit"
)

const (
	// maxOfStranger is how many bytes may come on a connection without a session: a
	// handshake, a token and what a worker sends after its hello until that was
	// handled, which is at most a window. Whatever HTTP/2 permits a client to send
	// without end, such as pings, settings and headers that continue, ends here.
	maxOfStranger = window + 32<<10
	// maxUnhandled is how many may come on any connection without a message that was
	// handled: one message, and as much as its frames may take.
	maxUnhandled = maxMessage + maxMessage/overhead + 2*window
	// overhead is what part of a message its frames may take in addition; slack is for
	// those of a short one, and for pings.
	overhead = 16
	slack    = 4 << 10
	// maxHold is how long a large message may be on its way, and wait for its step.
	maxHold = 10 * time.Second
)

// tiers are how many messages beyond a size may be on their way, or be handled, at
// once: with them 64 MB. Smaller ones are as large as the window that gRPC gives every
// stream.
var tiers = []struct {
	beyond           int64
	all, ofNamespace int
}{
	{window, 64, 32},
	{512 << 10, 4, 2},
}

// reception bounds the memory of messages that are not handled yet: gRPC keeps what has
// come of a message until it is whole, and a worker may take its time. A connection on
// which more has come than a tier permits takes one of its places, or is not read until
// there is one.
type reception struct {
	tiers []*fairlimit.Limit
	after func(time.Duration, func()) (stop func())
}

func newReception(after func(time.Duration, func()) func()) *reception {
	r := &reception{after: after}
	for _, t := range tiers {
		r.tiers = append(r.tiers, fairlimit.New(t.all, t.ofNamespace))
	}
	return r
}

// receiving is what has come on a connection. One goroutine reads, another says what was
// handled.
type receiving struct {
	*reception
	unhandled atomic.Int64
	// ctx ends with the connection.
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	held     []func() // the places, each by what releases it
	stopHold func()
}

func (r *reception) receiving() *receiving {
	to := &receiving{reception: r, stopHold: func() {}}
	to.ctx, to.cancel = context.WithCancel(context.Background())
	return to
}

var errFlood = errors.New("more came on the connection than a message")

// admit waits until more may be read. namespace is that of the session; empty: it has
// none. close closes the connection.
func (r *receiving) admit(namespace string, closeConn func()) error {
	if r.reception == nil {
		return nil
	}
	n := r.unhandled.Load()
	if n > maxUnhandled || namespace == "" && n > maxOfStranger {
		return errFlood
	}
	if namespace == "" {
		return nil
	}
	for i := r.tier(); i < len(tiers) && n > tiers[i].beyond; i++ {
		release, err := r.tiers[i].Acquire(r.ctx, namespace)
		if err != nil {
			return err
		}
		r.hold(release, closeConn)
	}
	return nil
}

// tier is which one's place is the next to be taken.
func (r *receiving) tier() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.held)
}

func (r *receiving) hold(release, closeConn func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil { // it was closed meanwhile
		release()
		return
	}
	if len(r.held) == 0 {
		r.stopHold = r.after(maxHold, closeConn)
	}
	r.held = append(r.held, release)
}

// release gives the places back.
func (r *receiving) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopHold()
	for _, release := range r.held {
		release()
	}
	r.stopHold, r.held = func() {}, nil
}

// close ends a wait for a place.
func (r *receiving) close() {
	r.cancel()
	r.release()
}

// handled says that a message of that size is of no interest any more. Its frames took
// a part of it, and pings came beside it.
func (r *receiving) handled(size int) {
	forgiven := int64(size + size/overhead + slack)
	if r.unhandled.Add(-forgiven) < 0 {
		r.unhandled.Store(0)
	}
	r.release()
}

// handled says that a message of the session was handled.
func (s *session) handled(m *workerv1.SessionRequest) {
	if s.connection != nil {
		s.connection.handled(proto.Size(m))
	}
}
