package attack

import "sync"

// pool lends clients to arrivals, of which none has a connection of its own.
//
// It bounds the connections that are being opened at once. Without that, a
// generator that falls behind for a moment ruins itself: each late hit finds
// all connections busy and opens one, which costs more than ten requests, so
// that it falls further behind. A target that stalls is not affected, since
// opening is quick then. A hit that may not open one waits for its turn, and
// the wait counts into its response time.
type pool struct {
	limit int            // of connections being opened
	make  func() *client // one more client

	mu      sync.Mutex
	stock   stock[*client]
	opening int
	waiting []chan loan // the first has waited longest
}

// loan is a client that is lent. It is to be opened first if opening is set,
// and opened must be called after that.
type loan struct {
	client  *client
	opening bool
}

func newPool(clients []*client, limit int, another func() *client) *pool {
	p := &pool{limit: limit, make: another}
	for _, c := range clients {
		p.stock.put(c)
	}
	return p
}

// take waits for a client; ok is false when stop closes first.
func (p *pool) take(stop <-chan struct{}) (l loan, ok bool) {
	p.mu.Lock()
	if l, ok = p.next(); ok {
		p.mu.Unlock()
		return l, true
	}
	turn := make(chan loan, 1)
	p.waiting = append(p.waiting, turn)
	p.mu.Unlock()
	select {
	case l = <-turn:
		return l, true
	case <-stop:
		return loan{}, false // a loan that comes now is never used again
	}
}

// next is a loan that is possible now. The lock is held.
func (p *pool) next() (loan, bool) {
	opening := !p.stock.warm()
	if opening {
		if p.opening == p.limit {
			return loan{}, false
		}
		p.opening++
	}
	c, ok := p.stock.take()
	if !ok {
		c = p.make()
	}
	return loan{client: c, opening: opening}, true
}

// opened says that the connection of a loan was opened, or could not be.
func (p *pool) opened() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opening--
	p.serve()
}

// give takes a client back.
func (p *pool) give(c *client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stock.put(c)
	p.serve()
}

// serve lends to whoever waits. The lock is held.
func (p *pool) serve() {
	for len(p.waiting) > 0 {
		l, ok := p.next()
		if !ok {
			return
		}
		p.waiting[0] <- l
		p.waiting = p.waiting[1:]
	}
}
