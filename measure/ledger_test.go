package measure

import (
	"math/rand/v2"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestLedgerRecord(t *testing.T) {
	const s = time.Second
	l := &Ledger{}
	l.Record(0, 1*s, 2*s, Success)
	l.Record(0, 0*s, 3*s, RateLimited)
	l.Record(0, 4*s, 90*s, Timeout)
	l.Record(0, 4*s, 90*s, ServerError)
	l.Record(2, 5*s, 6*s, Success)
	l.Record(1, 5*s, 5*s, RateLimited)
	want := []Slice{
		{Index: 0, Granted: 1, Denied: 1, Unknown: 2, FirstSent: 0, LastReceived: 4 * s},
		{Index: 1, Denied: 1, FirstSent: 5 * s, LastReceived: 5 * s},
		{Index: 2, Granted: 1, FirstSent: 5 * s, LastReceived: 6 * s},
	}
	same.As(t, "slices", want, l.Slices)
}

// Until it is resolved, a request may have taken a token.
func TestLedgerInFlight(t *testing.T) {
	l := &Ledger{}
	l.Sent(1, time.Second)
	l.Sent(1, 2*time.Second)
	same.As(t, "in flight", Slice{Index: 1, Unknown: 2, FirstSent: time.Second, LastReceived: 2 * time.Second}, l.Slices[0])
	l.Resolve(1, 3*time.Second, Success)
	l.Resolve(1, time.Hour, Unfinished)
	l.Resolve(7, time.Hour, Success) // of a slice in which nothing was sent
	same.As(t, "resolved", Slice{Index: 1, Granted: 1, Unknown: 1, FirstSent: time.Second, LastReceived: 3 * time.Second}, l.Slices[0])
}

func TestLedgerEveryOutcomeCountsOnce(t *testing.T) {
	for o := range Outcome(NumOutcomes) {
		l := &Ledger{}
		l.Record(0, 1, 2, o)
		s := l.Slices[0]
		want := Slice{FirstSent: 1, LastReceived: 1, Unknown: 1}
		switch o {
		case Success:
			want = Slice{FirstSent: 1, LastReceived: 2, Granted: 1}
		case RateLimited:
			want = Slice{FirstSent: 1, LastReceived: 2, Denied: 1}
		}
		if diff := cmp.Diff(want, s); diff != "" {
			t.Errorf("%v (-want +got):\n%s", o, diff)
		}
	}
}

func randomLedger(seed uint64) *Ledger {
	r := rand.New(rand.NewPCG(seed, 0))
	l := &Ledger{}
	for range r.IntN(30) {
		sent := time.Duration(r.IntN(100))
		l.Record(r.IntN(4), sent, sent+time.Duration(r.IntN(100)), Outcome(r.IntN(NumOutcomes)))
	}
	return l
}

func TestLedgerMergeIsAssociativeAndCommutative(t *testing.T) {
	sum := func(ls ...*Ledger) *Ledger {
		s := &Ledger{}
		for _, l := range ls {
			s.Merge(l)
		}
		return s
	}
	property := func(x, y, z uint64) bool {
		a, b, c := randomLedger(x), randomLedger(y), randomLedger(z)
		want := sum(a, b, c)
		return cmp.Equal(want, sum(sum(a, b), c)) && cmp.Equal(want, sum(a, sum(b, c))) && cmp.Equal(want, sum(c, a, b))
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestSliceWidth(t *testing.T) {
	tests := map[time.Duration]time.Duration{
		time.Second:      100 * time.Millisecond,
		6 * time.Second:  100 * time.Millisecond,
		time.Minute:      time.Minute/64 + 1,
		64 * time.Second: time.Second + 1,
		24 * time.Hour:   24*time.Hour/64 + 1,
	}
	for step, want := range tests {
		if got := SliceWidth(step); got != want {
			t.Errorf("SliceWidth(%v) = %v, want %v", step, got, want)
		}
		if n := (step - 1) / SliceWidth(step); n >= MaxSlices {
			t.Errorf("a step of %v has slice %d, want at most %d slices", step, n, MaxSlices)
		}
	}
}
