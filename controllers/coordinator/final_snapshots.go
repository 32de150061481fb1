package coordinator

import (
	"fmt"
	"sync"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
)

// final is what a worker's final snapshot alone has.
type final struct {
	// clients are the ledgers of the audit; nil: none came.
	clients *measure.Clients
	// series is nil from a worker whose version has none.
	series *wire.Series
}

func (f final) isEmpty() bool { return f.clients == nil && f.series == nil }

// finals are the ledgers and the series of one step, of all workers that are done with
// it. They are added up as they come, since the sums are bounded and those of a thousand
// workers are not; and not under the coordinator's mutex, for all runs wait for it.
// The mutex of the finals is taken before it.
type finals struct {
	mu      sync.Mutex
	clients *measure.Clients
	series  wire.Series
	err     error
}

// add adds what was taken from the run, once.
func (l *finals) add(pending []*final) {
	defer func() {
		// What is lost of a sum would make a wrong audit of it.
		if v := recover(); v != nil {
			l.err = fmt.Errorf("add what final snapshots have: %v", v)
		}
	}()
	for _, f := range pending {
		if f == nil { // another step, or none
			l.clients, l.series, l.err = nil, wire.Series{}, nil
			continue
		}
		if f.clients != nil {
			if l.clients == nil {
				l.clients = measure.NewClients(measure.MaxLedgerBytes)
			}
			l.clients.Merge(f.clients)
		}
		if f.series != nil {
			l.series.Add(f.series)
		}
	}
}

// copyClients are the ledgers so far.
func (l *finals) copyClients() (*measure.Clients, error) {
	if l.err != nil {
		return nil, l.err
	}
	if l.clients == nil {
		return measure.NewClients(measure.MaxLedgerBytes), nil
	}
	return l.clients.Clone(), nil
}

// copySeries is the series so far; that of no worker if it lacks a part.
func (l *finals) copySeries() wire.Series {
	if l.err != nil {
		return wire.Series{}
	}
	return l.series.Clone()
}

// takeFinals takes what the run has that is in no sum yet. The coordinator's mutex is
// held.
func (r *runState) takeFinals() []*final {
	pending := r.pendingFinals
	r.pendingFinals = nil
	return pending
}

// foldFinals adds up what has come.
func (c *Coordinator) foldFinals(r *runState) {
	r.finals.mu.Lock()
	defer r.finals.mu.Unlock()
	var pending []*final
	c.locked(func() { pending = r.takeFinals() })
	c.addFinals(r, pending)
}

// addFinals adds what was taken, and counts what is kept. The mutex of the finals is
// held.
func (c *Coordinator) addFinals(r *runState, pending []*final) {
	if len(pending) == 0 {
		return
	}
	before := r.finals.bytes()
	r.finals.add(pending)
	c.locked(func() {
		if !r.forgotten {
			c.keep(r, r.finals.bytes()-before)
		}
	})
}

func (l *finals) bytes() int {
	n := l.series.Size()
	if l.clients != nil {
		n += l.clients.Bytes()
	}
	return n
}
