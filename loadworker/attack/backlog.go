package attack

import (
	"sync"
	"sync/atomic"
	"time"
)

// backlog are the hits of one part of a step's arrivals that wait for a place, which the
// target leaves them none.
type backlog struct {
	parts int64
	first atomic.Int64 // the first hit that waits; noHit: none does
}

const noHit = -1

// before is how many of the first n hits wait, without the first few: those of the warm-up.
func (b *backlog) before(n, warmUp int64) int64 {
	first := b.first.Load()
	if first == noHit {
		return 0
	}
	if first < warmUp {
		first += (warmUp - first + b.parts - 1) / b.parts * b.parts
	}
	return max(0, (n-first+b.parts-1)/b.parts)
}

// backlogs are those of all parts.
type backlogs struct {
	mu  sync.Mutex
	all []*backlog
}

func (l *backlogs) add(s *scheduler) *backlog {
	b := &backlog{parts: s.parts}
	b.first.Store(noHit)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, b)
	return b
}

// arrivals are the hits, or the sessions, that come; nil: the load has users.
func (x *Execution) arrivals() *arrivals {
	switch s := x.schedule.(type) {
	case *arrivals:
		return s
	case *sessions:
		return s.all
	}
	return nil
}

// withoutRoom is how many hits that were due before t were not sent, since the target left
// them no place.
func (x *Execution) withoutRoom(t time.Duration) (sum int64) {
	a := x.arrivals()
	if a == nil || t <= 0 {
		return 0
	}
	x.backlogs.mu.Lock()
	defer x.backlogs.mu.Unlock()
	if len(x.backlogs.all) == 0 {
		return 0
	}
	n, warmUp := a.dueTimes.Before(t), a.dueTimes.Before(0)
	for _, b := range x.backlogs.all {
		sum += b.before(n, warmUp)
	}
	return sum
}
