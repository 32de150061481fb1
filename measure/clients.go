package measure

import (
	"container/heap"
	"iter"
	"maps"
	"math"
	"slices"
	"time"
	"unicode/utf8"
)

const (
	// MaxLedgerBytes bounds the memory of the ledgers of a run in a step: those of a
	// thousand clients with a request in each slice are 3 MB.
	MaxLedgerBytes = 8 << 20
	// minLedgerBytes is the least share of it that a worker has: clients may be the
	// same for all workers.
	minLedgerBytes = 128 << 10
	// ledgerBytes and sliceBytes are what a ledger costs beside its name, and each of
	// its slices.
	ledgerBytes = 128
	sliceBytes  = 48
)

// LedgerShare is the memory for the ledgers of one of so many workers.
func LedgerShare(workers int) int {
	return max(minLedgerBytes, MaxLedgerBytes/max(1, workers))
}

// Clients are the ledgers of a step by client. If there is no room for all, they are a
// sample: those of the clients with the lowest ranks. A client's rank is a hash of its
// name, the same for every worker, so that each ledger of a merged sample is whole:
//
//	a worker, or a merge, without room drops the client of the highest rank and lowers
//	below to that rank; it has kept every request of the clients below it
//	the merge of several has the lowest below of all, and the clients below that
//
// The zero value is not usable; call NewClients.
type Clients struct {
	ledgers map[string]*Ledger
	// ranked has the names, the highest rank first.
	ranked ranking
	below  uint64
	// bytes is the memory of the ledgers, most the bound on it.
	bytes, most int

	// Untracked is how many requests were of clients that have no ledger.
	Untracked int64
	// Unseen is how many requests are in no ledger and may have been any client's:
	// those of workers that did not hand over their ledgers.
	Unseen int64
}

// NewClients returns an empty Clients, whose ledgers use at most so many bytes.
func NewClients(most int) *Clients {
	return &Clients{ledgers: map[string]*Ledger{}, below: math.MaxUint64, most: most}
}

// Len is how many clients have a ledger.
func (c *Clients) Len() int { return len(c.ledgers) }

// Ledger is that of a client, or nil.
func (c *Clients) Ledger(name string) *Ledger { return c.ledgers[name] }

// Names are those of the clients that have a ledger, in alphabetical order.
func (c *Clients) Names() []string { return slices.Sorted(maps.Keys(c.ledgers)) }

// All are the ledgers by name, in any order.
func (c *Clients) All() iter.Seq2[string, *Ledger] { return maps.All(c.ledgers) }

// Below is the rank from which on clients have no ledger.
func (c *Clients) Below() uint64 { return c.below }

// Bytes is the memory of the ledgers.
func (c *Clients) Bytes() int { return c.bytes }

// Sent enters a request in flight of a client into its slice i. It returns the ledger
// in which it is to be resolved; nil if the client has none.
func (c *Clients) Sent(name []byte, i int, at time.Duration) *Ledger {
	ledger, ok := c.ledgers[string(name)]
	if !ok {
		if len(name) > MaxClientBytes || !utf8.Valid(name) || rank(name) >= c.below {
			c.Untracked++
			return nil
		}
		ledger = c.insert(string(name), &Ledger{})
	}
	before := len(ledger.Slices)
	ledger.Sent(i, at)
	c.bytes += sliceBytes * (len(ledger.Slices) - before)
	c.shrink()
	return ledger
}

// Add adds what a client's requests became to its ledger.
func (c *Clients) Add(name string, o *Ledger) {
	if rank(name) >= c.below {
		c.Untracked += o.Requests()
		return
	}
	ledger, ok := c.ledgers[name]
	if !ok {
		ledger = c.insert(name, &Ledger{Slices: make([]Slice, 0, len(o.Slices))})
	}
	before := len(ledger.Slices)
	ledger.Merge(o)
	c.bytes += sliceBytes * (len(ledger.Slices) - before)
	c.shrink()
}

// Lower drops the clients of a rank that is not below the given one.
func (c *Clients) Lower(below uint64) {
	c.below = min(c.below, below)
	for len(c.ranked) > 0 && c.ranked[0].rank >= c.below {
		c.drop()
	}
}

// Merge adds o, of another worker, to c.
func (c *Clients) Merge(o *Clients) {
	c.Lower(o.below)
	c.Untracked += o.Untracked
	c.Unseen += o.Unseen
	for name, ledger := range o.ledgers {
		c.Add(name, ledger)
	}
}

// Clone is an independent copy.
func (c *Clients) Clone() *Clients {
	clone := *c
	clone.ranked = slices.Clone(c.ranked)
	clone.ledgers = make(map[string]*Ledger, len(c.ledgers))
	for name, ledger := range c.ledgers {
		clone.ledgers[name] = ledger.Clone()
	}
	return &clone
}

func (c *Clients) insert(name string, ledger *Ledger) *Ledger {
	c.ledgers[name] = ledger
	heap.Push(&c.ranked, ranked{rank(name), name})
	c.bytes += ledgerBytes + len(name)
	return ledger
}

func (c *Clients) shrink() {
	for c.bytes > c.most {
		c.Lower(c.ranked[0].rank)
	}
}

// drop drops the client of the highest rank.
func (c *Clients) drop() {
	name := heap.Pop(&c.ranked).(ranked).name
	ledger := c.ledgers[name]
	c.Untracked += ledger.Requests()
	c.bytes -= ledgerBytes + len(name) + sliceBytes*len(ledger.Slices)
	delete(c.ledgers, name)
}

// rank is FNV-1a, its bits mixed as MurmurHash3 does in the end.
func rank[T string | []byte](name T) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h ^= uint64(name[i])
		h *= 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return h
}

type ranked struct {
	rank uint64
	name string
}

// ranking is a heap with the highest rank first.
type ranking []ranked

var _ heap.Interface = (*ranking)(nil)

func (r ranking) Len() int           { return len(r) }
func (r ranking) Less(i, j int) bool { return r[i].rank > r[j].rank }
func (r ranking) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }

// Push adds a name at the end.
func (r *ranking) Push(x any) { *r = append(*r, x.(ranked)) }

// Pop takes the last.
func (r *ranking) Pop() any {
	old := *r
	last := old[len(old)-1]
	*r = old[:len(old)-1]
	return last
}
