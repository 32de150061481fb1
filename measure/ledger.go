package measure

import (
	"cmp"
	"slices"
	"time"
)

// MaxClientBytes is the longest name of a client that has a ledger: an address or
// a token, not a text. A longer one is refused, not cut: two clients must not
// become one.
const MaxClientBytes = 256

// MaxSlices is into how many slices of time a ledger divides a step. The audit
// compares every pair of slices, so its cost is the square of this.
const MaxSlices = 64

// Slice is what one client was granted and denied among the requests that were
// sent in one slice of a step. Times count from the step's start instant on the
// operator's clock.
type Slice struct {
	// Index is the number of the slice, from 0.
	Index int
	// Granted is how many were answered with an expected status other than 429 and 5xx.
	Granted int64
	// Denied is how many were answered 429.
	Denied int64
	// Unknown is how many may or may not have taken a token: failed or in flight.
	Unknown int64
	// FirstSent is the earliest send and LastReceived the latest receipt.
	FirstSent, LastReceived time.Duration
}

// Ledger is one client's slices in order of their index; those in which nothing was
// sent are left out.
type Ledger struct {
	Slices []Slice
}

// SliceWidth is the width of a slice in a step of that duration (an upper bound
// for a burst): a 64th of it, but at least 100 ms.
func SliceWidth(step time.Duration) time.Duration {
	return max(step/MaxSlices+1, 100*time.Millisecond)
}

// Record adds one request to slice i. received is ignored for outcomes without
// a response.
func (l *Ledger) Record(i int, sent, received time.Duration, o Outcome) {
	l.Sent(i, sent)
	l.Resolve(i, received, o)
}

// Sent adds a request in flight to slice i: it may have taken a token, which
// counts if the step is cut before it is known.
func (l *Ledger) Sent(i int, sent time.Duration) {
	l.add(Slice{Index: i, Unknown: 1, FirstSent: sent, LastReceived: sent})
}

// Resolve says what became of a request in flight of slice i. received is
// ignored for outcomes other than a grant or a denial.
func (l *Ledger) Resolve(i int, received time.Duration, o Outcome) {
	at, ok := l.find(i)
	if !ok {
		return
	}
	s := &l.Slices[at]
	switch o {
	case Success:
		s.Granted++
	case RateLimited:
		s.Denied++
	default:
		return
	}
	s.Unknown--
	s.LastReceived = max(s.LastReceived, received)
}

func (l *Ledger) add(add Slice) {
	at, ok := l.find(add.Index)
	if !ok {
		l.Slices = slices.Insert(l.Slices, at, add)
		return
	}
	s := &l.Slices[at]
	s.Granted += add.Granted
	s.Denied += add.Denied
	s.Unknown += add.Unknown
	s.FirstSent = min(s.FirstSent, add.FirstSent)
	s.LastReceived = max(s.LastReceived, add.LastReceived)
}

// find is where slice i is, or belongs. Most requests are of the last slice.
func (l *Ledger) find(i int) (at int, ok bool) {
	if n := len(l.Slices); n > 0 && l.Slices[n-1].Index == i {
		return n - 1, true
	}
	return slices.BinarySearchFunc(l.Slices, i, func(s Slice, i int) int { return cmp.Compare(s.Index, i) })
}

// Merge adds o, of another worker, to l.
func (l *Ledger) Merge(o *Ledger) {
	for _, s := range o.Slices {
		l.add(s)
	}
}

// Clone is an independent copy.
func (l *Ledger) Clone() *Ledger { return &Ledger{Slices: slices.Clone(l.Slices)} }

// Requests is how many the ledger accounts for.
func (l *Ledger) Requests() (n int64) {
	for _, s := range l.Slices {
		n += s.Granted + s.Denied + s.Unknown
	}
	return n
}
