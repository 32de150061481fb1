package dial

import (
	"context"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// handshakes are the times of TLS handshakes that succeeded.
type handshakes struct {
	mu    sync.Mutex
	times *measure.Histogram // nil: there was none since they were taken
}

func (h *handshakes) record(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.times == nil {
		h.times = measure.NewHistogram()
	}
	h.times.Record(d)
}

// Handshakes returns how long the TLS handshakes took that succeeded since it was called
// last; nil: there was none.
func (d *Dialer) Handshakes() *measure.Histogram {
	d.shaken.mu.Lock()
	defer d.shaken.mu.Unlock()
	times := d.shaken.times
	d.shaken.times = nil
	return times
}

// probing is the key of a context whose handshakes are not counted.
type probing struct{}

// Probing returns a context for a connection that carries no request: its handshake is
// not counted.
func Probing(ctx context.Context) context.Context { return context.WithValue(ctx, probing{}, true) }

func isProbing(ctx context.Context) bool { return ctx.Value(probing{}) != nil }
