package coordinator

import (
	"fmt"
	"sync"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// ledgers are those of the audit of one step, of all workers that are done with it.
// They are added up as they come, since the sum is bounded and those of a thousand
// workers are not; and not under the coordinator's mutex, for all runs wait for it.
// The mutex of the ledgers is taken before it.
type ledgers struct {
	mu  sync.Mutex
	sum *measure.Clients
	err error
}

// add adds what was taken from the run, once.
func (l *ledgers) add(pending []*measure.Clients) {
	defer func() {
		// What is lost of a sum would make a wrong audit of it.
		if v := recover(); v != nil {
			l.err = fmt.Errorf("add ledgers: %v", v)
		}
	}()
	for _, clients := range pending {
		if clients == nil { // a step begins
			l.sum, l.err = measure.NewClients(measure.MaxLedgerBytes), nil
			continue
		}
		l.sum.Merge(clients)
	}
}

// copy is the sum so far.
func (l *ledgers) copy() (*measure.Clients, error) {
	if l.err != nil {
		return nil, l.err
	}
	if l.sum == nil {
		return measure.NewClients(measure.MaxLedgerBytes), nil
	}
	return l.sum.Clone(), nil
}

// takeLedgers takes what the run has that is in no sum yet. The coordinator's mutex is
// held.
func (r *runState) takeLedgers() []*measure.Clients {
	pending := r.pendingLedgers
	r.pendingLedgers = nil
	return pending
}

// foldLedgers adds up what has come.
func (c *Coordinator) foldLedgers(r *runState) {
	r.ledgers.mu.Lock()
	defer r.ledgers.mu.Unlock()
	var pending []*measure.Clients
	c.locked(func() { pending = r.takeLedgers() })
	r.ledgers.add(pending)
}
