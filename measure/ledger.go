package measure

import "time"

// MaxClients is how many clients a worker keeps a ledger for in a step. It
// bounds memory and the size of a snapshot: 1000 ledgers of a 60 s step are at
// most 1000 x 64 slices.
const MaxClients = 1000

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
	// Granted is how many were answered with an expected status other than 429.
	Granted int64
	// Denied is how many were answered 429.
	Denied int64
	// Unknown is how many may or may not have taken a token: failed or in flight.
	Unknown int64
	// FirstSent is the earliest send and LastReceived the latest receipt.
	FirstSent, LastReceived time.Duration
}

// Ledger is one client's slices, by index from 0; absent ones are empty.
type Ledger struct {
	Slices map[int]Slice
}

// NewLedger returns an empty ledger.
func NewLedger() *Ledger { return &Ledger{Slices: map[int]Slice{}} }

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
// counts if the worker is lost before it knows.
func (l *Ledger) Sent(i int, sent time.Duration) {
	l.add(i, Slice{Unknown: 1, FirstSent: sent, LastReceived: sent})
}

// Resolve says what became of a request in flight of slice i. received is
// ignored for outcomes other than a grant or a denial.
func (l *Ledger) Resolve(i int, received time.Duration, o Outcome) {
	s := l.Slices[i]
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
	l.Slices[i] = s
}

func (l *Ledger) add(i int, add Slice) {
	s, ok := l.Slices[i]
	if !ok {
		l.Slices[i] = add
		return
	}
	s.Granted += add.Granted
	s.Denied += add.Denied
	s.Unknown += add.Unknown
	s.FirstSent = min(s.FirstSent, add.FirstSent)
	s.LastReceived = max(s.LastReceived, add.LastReceived)
	l.Slices[i] = s
}

// Merge adds o, of another worker, to l.
func (l *Ledger) Merge(o *Ledger) {
	for i, s := range o.Slices {
		l.add(i, s)
	}
}

// Clone is an independent copy.
func (l *Ledger) Clone() *Ledger {
	c := NewLedger()
	c.Merge(l)
	return c
}
