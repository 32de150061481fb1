package search

// MaxHolds is how many holds a search has at most: with the default precision, the last
// one is of a load a fifth below the one that the probes found.
const MaxHolds = 5

// split divides the probes of a search from the holds at its end.
func split(all []Probe) (probes, holds []Probe) {
	n := len(all)
	for n > 0 && all[n-1].Hold {
		n--
	}
	return all[:n], all[n:]
}

// hold says what follows when the probes have found Low: it is held, and the load that a
// hold breached is taken back by the precision and held again. What is held next is not yet
// known to be kept: until a hold is, Low is the highest load that the probes kept below all
// that was breached.
func (r Range) hold(found Result, probes, holds []Probe) Result {
	next := found.Low
	for i, h := range holds {
		switch h.Outcome {
		case Kept:
			found.Low = h.Load
			return found
		case Breached:
			if h.Load <= r.Min {
				return Result{State: BelowMin, High: r.Min}
			}
			found = Result{State: Found, Low: keptBelow(h.Load, probes), High: h.Load}
			next = r.back(h.Load)
			if i+1 == r.Holds {
				found.State = Exhausted
				return found
			}
		}
	}
	switch {
	case trailingUnclear(holds) >= maxUnclear, len(holds) >= r.Holds:
		found.State = StillUnclear
	default:
		found.State, found.Next, found.Hold = Searching, next, true
	}
	return found
}

// keptBelow is the greatest load below another that a probe kept; 0: none did.
func keptBelow(load int64, probes []Probe) (greatest int64) {
	for _, p := range probes {
		if p.Outcome == Kept && p.Load < load {
			greatest = max(greatest, p.Load)
		}
	}
	return greatest
}

// back is the load that is a precision less.
func (r Range) back(load int64) int64 {
	return max(r.Min, min(load-1, round(float64(load)/(1+r.Precision))))
}
