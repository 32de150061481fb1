package measure

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

const (
	// SlowestTraces is how many of the slowest traces are kept.
	SlowestTraces = 5
	// FailedTraces is how many traces of failures are kept of each outcome.
	FailedTraces = 2
	// MaxTraces is how many are kept at most: any outcome but success may be a failure.
	MaxTraces = SlowestTraces + FailedTraces*(NumOutcomes-1)
)

// TraceID is the trace-id of W3C Trace Context. All zeros is none.
type TraceID [16]byte

// Compare is negative if t comes before o, and 0 if they are equal.
func (t TraceID) Compare(o TraceID) int { return bytes.Compare(t[:], o[:]) }

// Trace is a request that asked the target to record its trace.
type Trace struct {
	ID      TraceID
	Outcome Outcome
	// Expected says that it got an expected response.
	Expected bool
	// Status is that of the response; 0: none came, or OK of gRPC, as Outcome says.
	Status int
	// Response and Service are its times. Those of a request that is Unfinished end when
	// it was given up.
	Response, Service time.Duration
}

// slower says whether x comes after t among the slowest.
func (t *Trace) slower(x *Trace) bool { return bySlowness(*t, *x) < 0 }

func bySlowness(a, b Trace) int {
	return cmp.Or(cmp.Compare(b.Response, a.Response), a.ID.Compare(b.ID))
}

// Traces are those of which something is worth keeping, by their ids: the slowest of what
// ended, and of the failures of each outcome those with the lowest ids. Ids are random, so
// that this is a fair choice, and one that is the same in whatever order they are added.
type Traces []Trace

// Add adds a trace, if it is to be kept, and takes out those that are not any more. Of two
// with one id, which no worker draws, the slower is kept.
func (t *Traces) Add(x Trace) {
	at, found := slices.BinarySearchFunc(*t, x.ID, func(t Trace, id TraceID) int { return t.ID.Compare(id) })
	if found && !x.slower(&(*t)[at]) {
		return
	}
	if found {
		*t = slices.Delete(*t, at, at+1)
	}
	if !t.keeps(&x) {
		return
	}
	*t = slices.Insert(*t, at, x)
	for i := len(*t) - 1; i >= 0; i-- {
		if !t.keeps(&(*t)[i]) {
			*t = slices.Delete(*t, i, i+1)
		}
	}
}

// keeps says whether few enough are ahead of x, which may be one of them.
func (t Traces) keeps(x *Trace) bool {
	slower, before := 0, 0
	for i := range t {
		y := &t[i]
		if y.Outcome != Unfinished && y.slower(x) {
			slower++
		}
		if !y.Expected && y.Outcome == x.Outcome && y.ID.Compare(x.ID) < 0 {
			before++
		}
	}
	return x.Outcome != Unfinished && slower < SlowestTraces || !x.Expected && before < FailedTraces
}

// Merge adds those of o.
func (t *Traces) Merge(o Traces) {
	for i := range o {
		t.Add(o[i])
	}
}

// Slowest are the slowest of what ended, the slowest first.
func (t Traces) Slowest() Traces {
	list := slices.DeleteFunc(slices.Clone(t), func(x Trace) bool { return x.Outcome == Unfinished })
	slices.SortFunc(list, bySlowness)
	return list[:min(len(list), SlowestTraces)]
}

// Failed are a few of the failures of each outcome, in the order of the outcomes.
func (t Traces) Failed() Traces {
	var list Traces
	var seen [NumOutcomes]int
	for _, x := range t {
		if !x.Expected && seen[x.Outcome] < FailedTraces {
			seen[x.Outcome]++
			list = append(list, x)
		}
	}
	slices.SortStableFunc(list, func(a, b Trace) int { return cmp.Compare(a.Outcome, b.Outcome) })
	return list
}
