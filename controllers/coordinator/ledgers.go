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
		if clients == nil { // another step, or none
			l.sum, l.err = nil, nil
			continue
		}
		if l.sum == nil {
			l.sum = measure.NewClients(measure.MaxLedgerBytes)
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
	c.addLedgers(r, pending)
}

// addLedgers adds what was taken, and counts what is kept. The mutex of the ledgers is
// held.
func (c *Coordinator) addLedgers(r *runState, pending []*measure.Clients) {
	if len(pending) == 0 {
		return
	}
	before := r.ledgers.bytes()
	r.ledgers.add(pending)
	c.locked(func() {
		if !r.forgotten {
			c.keep(r, r.ledgers.bytes()-before)
		}
	})
}

func (l *ledgers) bytes() int {
	if l.sum == nil {
		return 0
	}
	return l.sum.Bytes()
}
