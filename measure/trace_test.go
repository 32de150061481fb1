package measure

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

func randomTrace(r *rand.Rand, o Outcome) Trace {
	x := Trace{Outcome: o, Expected: o == Success || o == RateLimited && r.IntN(2) == 0, Response: time.Duration(r.Int64N(20))}
	binary.BigEndian.PutUint64(x.ID[:], r.Uint64())
	if o.Responded() {
		x.Status = 200 + r.IntN(3)
	}
	return x
}

// slowestOf and failedOf are what is to be kept, in the plainest way.
func slowestOf(all []Trace) Traces {
	ended := slices.DeleteFunc(slices.Clone(all), func(x Trace) bool { return x.Outcome == Unfinished })
	slices.SortFunc(ended, func(a, b Trace) int { return cmp.Or(cmp.Compare(b.Response, a.Response), a.ID.Compare(b.ID)) })
	return ended[:min(5, len(ended))]
}

func failedOf(all []Trace) (list Traces) {
	for o := range Outcome(NumOutcomes) {
		class := slices.DeleteFunc(slices.Clone(all), func(x Trace) bool { return x.Expected || x.Outcome != o })
		slices.SortFunc(class, func(a, b Trace) int { return a.ID.Compare(b.ID) })
		list = append(list, class[:min(2, len(class))]...)
	}
	return list
}

// However traces are divided between workers, what is kept of all is what one worker with
// all of them would have kept.
func TestMergedTracesAreThoseOfOneWorker(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		all := make([]Trace, r.IntN(60))
		for i := range all {
			all[i] = randomTrace(r, Outcome(r.IntN(NumOutcomes)))
		}
		workers, merged := make([]Traces, 4), Traces(nil)
		for _, x := range all {
			workers[r.IntN(len(workers))].Add(x)
		}
		for _, w := range workers {
			merged.Merge(w)
		}
		if d := gocmp.Diff(slowestOf(all), merged.Slowest()); d != "" && len(all) > 0 {
			t.Fatalf("the slowest of %d (-want +got):\n%s", len(all), d)
		}
		if d := gocmp.Diff(failedOf(all), merged.Failed()); d != "" {
			t.Fatalf("the failed of %d (-want +got):\n%s", len(all), d)
		}
		kept := map[TraceID]bool{}
		for _, x := range slices.Concat(slowestOf(all), failedOf(all)) {
			kept[x.ID] = true
		}
		if len(merged) != len(kept) || len(kept) > MaxTraces || !slices.IsSortedFunc(merged, func(a, b Trace) int { return a.ID.Compare(b.ID) }) {
			t.Fatalf("%d traces, want %d, at most %d, by their ids: %v", len(merged), len(kept), MaxTraces, merged)
		}
	}
}

// Workers that all report one id, with different times, take no more room than one.
func TestTracesOfOneIDAreKeptOnce(t *testing.T) {
	var all Traces
	for i := range 800 {
		all.Merge(Traces{{ID: TraceID{7}, Outcome: ServerError, Status: 500, Response: time.Duration(i % 500)}})
	}
	if len(all) != 1 || all[0].Response != 499 {
		t.Errorf("%v, want the slowest of that id", all)
	}
}

func TestMoreFailuresThanAreKeptTakeNoMemory(t *testing.T) {
	var all Traces
	r := rand.New(rand.NewPCG(1, 2))
	fill := func() {
		for o := RateLimited; int(o) < NumOutcomes; o++ {
			all.Add(randomTrace(r, o))
		}
	}
	for range 1000 {
		fill()
	}
	if n := testing.AllocsPerRun(1000, fill); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
