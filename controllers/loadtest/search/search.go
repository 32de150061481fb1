package search

import "math"

const (
	// MaxProbes is how many probes a search has at most.
	MaxProbes = 24
	// maxUnclear is how often in a row a load is probed without a result.
	maxUnclear = 3
	// maxVotes is how often a load is probed to settle a contradiction.
	maxVotes = 3
)

// Range is what is searched, in whole units of load: users, or millionths of a request
// per second.
type Range struct {
	// Min and Max are the least and the greatest load.
	Min, Max int64
	// Precision is how much greater than Low, as a part of it, High may be: 0.05.
	Precision float64
	// MaxProbes is how many probes there may be, and Holds how many holds after them; with
	// 0, nothing is held.
	MaxProbes, Holds int
}

// Outcome is the result of a probe.
type Outcome int

const (
	// Unclear says nothing of the target: the load was not the planned one, say.
	Unclear Outcome = iota
	// Kept is a load with which every threshold was kept.
	Kept
	// Breached is a load with which one was not.
	Breached
)

// Probe is a load and its result. A hold is a probe for long, after all others.
type Probe struct {
	Load    int64
	Outcome Outcome
	Hold    bool
}

// State is where a search stands.
type State int

const (
	// Searching needs another probe, of load Result.Next.
	Searching State = iota
	// Found has the interval. Low was held, if there are holds.
	Found
	// BeyondMax has found Max kept.
	BeyondMax
	// BelowMin has found Min breached, by two probes or two holds.
	BelowMin
	// StillUnclear gives up: the latest load was probed time after time without a result.
	StillUnclear
	// Unsteady gives up: a load was breached most times, and one well above it kept.
	Unsteady
	// Exhausted gives up: all probes, or all holds, were used.
	Exhausted
)

// Result is what the probes so far amount to.
type Result struct {
	State State
	// Next is the load of the next probe, while State is Searching; Hold says that it is
	// held.
	Next int64
	Hold bool
	// Low is a load up to which all was kept, and High one from which on all was breached:
	// the closest that are known, or the interval that was found; 0: none. Low was held only
	// if State is Found or BeyondMax, and there are holds.
	Low, High int64
}

// Next says what follows from the probes so far, in their order.
func (r Range) Next(probes []Probe) Result {
	probes, holds := split(probes)
	result := r.seek(probes)
	if r.Holds > 0 && (result.State == Found || result.State == BeyondMax) {
		return r.hold(result, probes, holds)
	}
	return result
}

// seek says what follows from probes alone.
func (r Range) seek(probes []Probe) Result {
	v := r.count(probes)
	result := Result{Low: v.low, High: v.high}
	switch n := trailingUnclear(probes); {
	case n >= maxUnclear:
		result.State = StillUnclear
	case n > 0:
		result.Next = v.last
	default:
		result.State, result.Next = r.decide(v)
	}
	switch result.State {
	case Found:
		result.Low, result.High = r.ends(v)
	case BelowMin:
		result.High = r.Min
	}
	if result.State == Searching && len(probes) >= r.MaxProbes {
		result.State, result.Next = Exhausted, 0
	}
	return result
}

// trailingUnclear is how many probes without a result were last.
func trailingUnclear(probes []Probe) int {
	n := 0
	for n < len(probes) && probes[len(probes)-1-n].Outcome == Unclear {
		n++
	}
	return n
}

// decide says what is lacking: what matters most comes first.
func (r Range) decide(v *votes) (State, int64) {
	switch {
	case v.last == 0:
		return Searching, r.Min
	case v.firstBreached == r.Min:
		return r.decideMin(v)
	case v.firstBreached == 0 && v.kept[r.Max] > 1:
		return BeyondMax, 0
	case v.doubtful() && !r.close(v.firstBreached, v.lastKept):
		if load, ok := v.unsettled(); ok {
			return Searching, load
		}
		if float64(v.lastKept) > float64(v.firstBreached)*(1+r.Precision) {
			return Unsteady, 0
		}
	}
	switch {
	case v.high == 0:
		return Searching, min(r.Max, round(float64(v.lastKept)*r.factor()))
	case len(v.breached) == 1 && v.breached[v.high] == 1: // all that follows relies on it
		return Searching, v.high
	}
	if load, ok := r.narrow(v); ok {
		return Searching, load
	}
	return r.confirm(v)
}

// decideMin decides a search whose least load was breached.
func (r Range) decideMin(v *votes) (State, int64) {
	switch kept, breached := v.kept[r.Min], v.breached[r.Min]; {
	case kept == 0 && breached > 1, kept < breached && kept+breached >= maxVotes:
		return BelowMin, 0
	case kept+breached < maxVotes:
		return Searching, r.Min
	default:
		return Unsteady, 0
	}
}

// narrow divides the loads between the last that was kept and the first that was
// breached; ok is false if they are close enough, or none is between them.
func (r Range) narrow(v *votes) (load int64, ok bool) {
	if r.close(v.lastKept, v.firstBreached) {
		return 0, false
	}
	return inside(math.Sqrt(float64(v.lastKept)*float64(v.firstBreached)), v.lastKept, v.firstBreached)
}

// ends are the interval around the loads at which the target goes over from kept to
// breached. What the precision leaves beside these is divided between both sides, as a
// probe close to the limit has the one result or the other by chance. The lower side has
// two thirds of it: in the time of a probe, a queue does not grow as long as it would in
// the end, so that a probe just above the limit is often kept, and one below it seldom
// breached.
func (r Range) ends(v *votes) (low, high int64) {
	inner, outer := min(v.lastKept, v.firstBreached), max(v.lastKept, v.firstBreached)
	left := (1 + r.Precision) * float64(inner) / float64(outer)
	low = round(float64(inner) / math.Pow(max(left, 1), 2./3))
	high = max(outer, round(float64(low)*(1+r.Precision)))
	if v.doubtful() {
		inner, high = inner-1, max(high, outer+1)
	}
	high = min(high, r.Max)
	low = max(low, int64(math.Ceil(float64(high)/(1+r.Precision)))) // of few users, each counts
	return max(min(low, inner), r.Min), high
}

// confirm has both ends of the interval probed twice, the lower one last.
func (r Range) confirm(v *votes) (State, int64) {
	low, high := r.ends(v)
	switch {
	case v.kept[high] == 0 && v.breached[high] < 2:
		return Searching, high
	case v.kept[low] < 2 || v.last != low:
		return Searching, low
	}
	return Found, 0
}

// close says whether two loads are so close that half of the precision is left.
func (r Range) close(low, high int64) bool {
	return float64(high) <= float64(low)*math.Sqrt(1+r.Precision)
}

// factor is that of the loads that are tried until one is breached: the least power of
// two with which the probes suffice for the whole range, and some are left to settle
// contradictions.
//
// From Min to Max there are log(Max/Min)/log(f) steps. Between two loads of ratio f there
// are log2(2*log(f)/log(1+Precision)) bisections. The first breach is probed twice, and
// so are both ends.
func (r Range) factor() float64 {
	const first, again, spare = 1, 5, 3
	f := 2.0
	for ; f < 1<<20; f *= 2 {
		up := math.Ceil(math.Log(float64(r.Max)/float64(r.Min)) / math.Log(f))
		bisections := math.Ceil(math.Log2(2 * math.Log(f) / math.Log1p(r.Precision)))
		if first+up+bisections+again+spare <= float64(r.MaxProbes) {
			break
		}
	}
	return f
}

// inside is a load between two others, near x. It is ok unless there is none between.
func inside(x float64, low, high int64) (load int64, ok bool) {
	if high-low < 2 {
		return 0, false
	}
	return max(round(x), low+1), true
}

// round leaves four digits of a load, for people to read.
func round(x float64) int64 {
	unit := 1.0
	for x/unit >= 10_000 {
		unit *= 10
	}
	return int64(math.Floor(x/unit) * unit)
}
