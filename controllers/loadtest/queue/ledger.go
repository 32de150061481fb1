package queue

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Ledger has the runs that this process let begin and has not read back as begun: between
// the decision and the cache that shows it, others must not take the same place. What is
// read of the LoadTests is enough for all else, so that a process that starts anew has
// as much. The zero value is ready. It is for one goroutine at a time.
type Ledger struct {
	granted map[types.UID]bool
}

// Admit says whether a run may begin, and notes it if so. runs are all that have not
// ended, as they were read, the run itself among them.
func (l *Ledger) Admit(run types.UID, runs []Run, limits Limits) (Place, *Line) {
	line := l.Line(runs, limits)
	place := line.Place(run)
	if place.Begins {
		l.granted[run] = true
	}
	return place, line
}

// Withdraw takes back that a run may begin, as it does not.
func (l *Ledger) Withdraw(run types.UID) (had bool) {
	had = l.granted[run]
	delete(l.granted, run)
	return had
}

// Line puts runs in order. It takes those that were let begin for begun, and drops those
// that were read back, or are gone.
func (l *Ledger) Line(runs []Run, limits Limits) *Line {
	runs, pending := slices.Clone(runs), map[types.UID]bool{}
	for i := range runs {
		if r := &runs[i]; l.granted[r.UID] && r.State != Begun {
			r.State, pending[r.UID] = Begun, true
		}
	}
	l.granted = pending
	return NewLine(runs, limits)
}
