package attack

import (
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// clientLedgers keeps the audit's ledgers by client. One lock is enough: the
// systems that are audited, rate limiters, answer more slowly than it.
type clientLedgers struct {
	width time.Duration // of a slice

	mu      sync.Mutex
	clients *measure.Clients
}

// newClientLedgers has room for so many bytes.
func newClientLedgers(step time.Duration, bytes int) *clientLedgers {
	return &clientLedgers{width: measure.SliceWidth(step), clients: measure.NewClients(bytes)}
}

// sent enters a request in flight. It returns nil when the client has no ledger.
func (l *clientLedgers) sent(client []byte, at time.Duration) *measure.Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clients.Sent(client, l.slice(at), at)
}

func (l *clientLedgers) resolve(c *measure.Ledger, sent, received time.Duration, o measure.Outcome) {
	if c == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.Resolve(l.slice(sent), received, o)
}

// slice is the slice in which a request is sent.
func (l *clientLedgers) slice(at time.Duration) int {
	return min(int(at/l.width), measure.MaxSlices-1)
}

// all is a copy.
func (l *clientLedgers) all() *measure.Clients {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clients.Clone()
}
