package attack

import (
	"sync"
	"time"
	"unicode/utf8"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// clientLedgers keeps the audit's ledgers by client. One lock is enough: the
// systems that are audited, rate limiters, answer more slowly than it.
type clientLedgers struct {
	width time.Duration // of a slice

	mu        sync.Mutex
	clients   map[string]*measure.Ledger
	untracked int64
}

func newClientLedgers(step time.Duration) *clientLedgers {
	return &clientLedgers{width: measure.SliceWidth(step), clients: map[string]*measure.Ledger{}}
}

// sent enters a request in flight. It returns nil when there are too many
// clients to keep a ledger for this one, or its name is none.
func (l *clientLedgers) sent(client []byte, at time.Duration) *measure.Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.clients[string(client)]
	if !ok {
		if len(l.clients) >= measure.MaxClients || len(client) > measure.MaxClientBytes || !utf8.Valid(client) {
			l.untracked++
			return nil
		}
		c = measure.NewLedger()
		l.clients[string(client)] = c
	}
	c.Sent(l.slice(at), at)
	return c
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

func (l *clientLedgers) all() (map[string]*measure.Ledger, int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make(map[string]*measure.Ledger, len(l.clients))
	for name, c := range l.clients {
		out[name] = c.Clone()
	}
	return out, l.untracked
}
