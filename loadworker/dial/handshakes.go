package dial

import (
	"context"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// handshakes are those that succeeded since they were taken.
type handshakes struct {
	mu      sync.Mutex
	times   *measure.Histogram // nil: there was none
	resumed int64
}

func (h *handshakes) record(d time.Duration, resumed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.times == nil {
		h.times = measure.NewHistogram()
	}
	h.times.Record(d)
	if resumed {
		h.resumed++
	}
}

// Handshakes returns how long the TLS handshakes took that succeeded since it was called
// last, nil if there was none, and how many of them resumed a session.
func (d *Dialer) Handshakes() (times *measure.Histogram, resumed int64) {
	h := &d.shaken
	h.mu.Lock()
	defer h.mu.Unlock()
	times, resumed = h.times, h.resumed
	h.times, h.resumed = nil, 0
	return times, resumed
}

// probing is the key of a context whose handshakes are not counted.
type probing struct{}

// Probing returns a context for a connection that carries no request: its handshake is
// not counted.
func Probing(ctx context.Context) context.Context { return context.WithValue(ctx, probing{}, true) }

func isProbing(ctx context.Context) bool { return ctx.Value(probing{}) != nil }
