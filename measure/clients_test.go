package measure

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func clientsOf(ledgers map[string]*Ledger) *Clients {
	c := NewClients(MaxLedgerBytes)
	for name, ledger := range ledgers {
		c.Add(name, ledger)
	}
	return c
}

// Equal compares the content: the order of a heap depends on how it came about.
func (c *Clients) Equal(o *Clients) bool { return cmp.Equal(c.content(), o.content()) }

func (c *Clients) content() map[string]any {
	if c == nil {
		return nil
	}
	return map[string]any{"ledgers": c.ledgers, "below": c.below, "bytes": c.bytes, "untracked": c.Untracked, "unseen": c.Unseen}
}

// A client that has a ledger has one of all its requests, on every worker, however
// little room there is; what is in no ledger is counted.
func TestLedgersOfASampleAreWhole(t *testing.T) {
	property := func(seed uint64) bool {
		rng := rand.New(rand.NewPCG(seed, 0))
		whole := map[string]*Ledger{}
		sum := NewClients(1 << (9 + rng.IntN(8)))
		sent := int64(0)
		for range 1 + rng.IntN(5) {
			worker := NewClients(1 << (9 + rng.IntN(8)))
			for range rng.IntN(500) {
				name, i, at := fmt.Sprint("client ", rng.IntN(60)), rng.IntN(MaxSlices), time.Duration(rng.IntN(1000))
				if whole[name] == nil {
					whole[name] = &Ledger{}
				}
				sent++
				whole[name].Record(i, at, 2*at, Success)
				if ledger := worker.Sent([]byte(name), i, at); ledger != nil {
					ledger.Resolve(i, 2*at, Success)
				}
			}
			if worker.Bytes() > worker.most {
				t.Errorf("a worker's ledgers take %d bytes of %d", worker.Bytes(), worker.most)
			}
			sum.Merge(worker)
		}
		left := sent - sum.Untracked
		for name, ledger := range sum.All() {
			left -= ledger.Requests()
			same.As(t, name, whole[name], ledger)
		}
		if left != 0 || sum.bytes > sum.most {
			t.Errorf("%d requests are in no count; %d bytes of %d", left, sum.bytes, sum.most)
		}
		return !t.Failed()
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 200}); err != nil {
		t.Error(err)
	}
}

func TestClientsMergeIsAssociativeAndCommutative(t *testing.T) {
	random := func(seed uint64) *Clients {
		rng := rand.New(rand.NewPCG(seed, 0))
		c := NewClients(1 << (9 + rng.IntN(6)))
		for range rng.IntN(100) {
			c.Sent(fmt.Append(nil, rng.IntN(50)), rng.IntN(5), time.Duration(rng.IntN(9)))
		}
		c.Unseen = rng.Int64N(3)
		return c
	}
	sum := func(all ...*Clients) *Clients {
		s := NewClients(4096)
		for _, c := range all {
			s.Merge(c)
		}
		return s
	}
	property := func(x, y, z uint64) bool {
		a, b, c, d := random(x), random(y), random(z), random(x+1)
		want := sum(a, b, c)
		gone := want.Clone() // what is done to it does nothing to the original
		gone.Merge(a)
		gone.Lower(0)
		for _, got := range []*Clients{sum(c, b, a), sum(b, a, c), sum(sum(a, b), c), sum(a, sum(b, c))} {
			if diff := cmp.Diff(want.content(), got.content()); diff != "" {
				t.Log(diff)
				return false
			}
		}
		want.Merge(d)
		return gone.Len() == 0 && want.Equal(sum(d, a, b, c)) && want.Unseen == a.Unseen+b.Unseen+c.Unseen+d.Unseen
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

// Clients without a single slice take room, too.
func TestClientsAreBounded(t *testing.T) {
	c := NewClients(10_000)
	for i := range 1000 {
		c.Add(fmt.Sprint("client ", i), &Ledger{})
	}
	if c.Bytes() > 10_000 || c.Len() < 50 || c.Len() > 80 {
		t.Errorf("%d clients in %d bytes, want as many as fit into 10,000", c.Len(), c.Bytes())
	}
	if !slices.Equal(c.Names(), slices.Sorted(maps.Keys(c.ledgers))) || len(c.ranked) != c.Len() {
		t.Error("the names are not those of the ledgers")
	}
	if c.Ledger("no client") != nil {
		t.Error("a client that is not there has a ledger")
	}
}

// Clients that just fit are kept.
func TestClientsOfTheBoundAreKept(t *testing.T) {
	ledger := &Ledger{Slices: []Slice{{Index: 1, Granted: 1}}}
	fits := clientsOf(map[string]*Ledger{"a": ledger}).Bytes()
	for most, want := range map[int]int{fits: 1, fits - 1: 0} {
		c := NewClients(most)
		if c.Add("a", ledger); c.Len() != want {
			t.Errorf("%d clients in %d bytes, want %d", c.Len(), most, want)
		}
	}
}

// A request is tracked if its client has a name of the ledgers, and a rank of the sample.
func TestSentRequestIsTrackedIfItsClientIsOfTheSample(t *testing.T) {
	low, high := "a", "b"
	if rank(low) > rank(high) {
		low, high = high, low
	}
	longest := strings.Repeat("x", MaxClientBytes)
	for _, tc := range []struct {
		name  string
		below uint64
		want  bool
	}{
		{longest, math.MaxUint64, true},
		{longest + "x", math.MaxUint64, false},
		{"\xff", math.MaxUint64, false},
		{low, rank(high), true},
		{high, rank(high), false},
	} {
		c := NewClients(MaxLedgerBytes)
		c.Lower(tc.below)
		if got := c.Sent([]byte(tc.name), 0, 0) != nil; got != tc.want || (c.Untracked == 0) != tc.want {
			t.Errorf("a request of %.9q below rank %d is tracked: %v, %d are untracked; want %v", tc.name, tc.below, got, c.Untracked, tc.want)
		}
	}
}

// Slices that come about by requests take as much room as those of a merge.
func TestSentRequestsTakeRoom(t *testing.T) {
	c := NewClients(MaxLedgerBytes)
	for _, slice := range []int{0, 1, 1, 2} {
		c.Sent([]byte("a"), slice, 0)
	}
	if want := clientsOf(map[string]*Ledger{"a": {Slices: []Slice{{Index: 0}, {Index: 1}, {Index: 2}}}}).Bytes(); c.Bytes() != want {
		t.Errorf("three slices take %d bytes, want %d", c.Bytes(), want)
	}
}

func TestLedgerAccountsForEveryAnswer(t *testing.T) {
	l := &Ledger{Slices: []Slice{{Granted: 100, Denied: 20, Unknown: 3}, {Index: 1, Granted: 1}}}
	if got := l.Requests(); got != 124 {
		t.Errorf("%d requests, want 124", got)
	}
}

// A sample of names that follow each other is as large as one of random names.
func TestRanksAreEven(t *testing.T) {
	const n = 64_000
	counts := make([]int, 64)
	for i := range n {
		counts[rank(fmt.Sprint("10.0.0.", i))>>58]++
	}
	// A worker of another version has the same ranks.
	if got := rank("10.0.0.1"); got != 14445829539779861640 {
		t.Errorf("the rank of 10.0.0.1 is %d", got)
	}
	for i, count := range counts {
		if count < n/64*8/10 || count > n/64*12/10 {
			t.Errorf("%d of %d ranks are in part %d of 64", count, n, i)
		}
	}
}

func TestLedgerShare(t *testing.T) {
	for workers, want := range map[int]int{0: MaxLedgerBytes, 1: MaxLedgerBytes, 32: MaxLedgerBytes / 32, 1000: minLedgerBytes} {
		if got := LedgerShare(workers); got != want {
			t.Errorf("of %d workers: %d bytes, want %d", workers, got, want)
		}
	}
}
