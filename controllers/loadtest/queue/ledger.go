package queue

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Ledger has the runs that this process let begin and has not read back as begun: between
// the decision and the cache that shows it, others must not take the same place. And it has
// whose turn it is, which begins anew with the process. What is read of the LoadTests is enough
// for all else. The zero value is ready. It is for one goroutine at a time.
type Ledger struct {
	granted map[types.UID]bool
	turns   turns
}

// Admit says whether a run may begin, and notes it if so. runs are all that have not
// ended, as they were read, the run itself among them.
func (l *Ledger) Admit(run types.UID, runs []Run, limits Limits) (Place, *Line) {
	line := l.Line(runs, limits)
	place := line.Place(run)
	if at := slices.IndexFunc(runs, func(r Run) bool { return r.UID == run }); place.Begins && !l.granted[run] && at >= 0 {
		l.granted[run] = true
		l.turns.take(runs[at].Namespace)
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
	return newLine(runs, limits, l.turns)
}
