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
// hold breached is taken back by the precision and held again.
func (r Range) hold(found Result, holds []Probe) Result {
	for i, h := range holds {
		switch h.Outcome {
		case Kept:
			return found
		case Breached:
			if h.Load <= r.Min {
				return Result{State: BelowMin, High: r.Min}
			}
			found = Result{State: Found, Low: r.back(h.Load), High: h.Load}
			if i+1 == r.Holds {
				return Result{State: Exhausted, High: h.Load}
			}
		}
	}
	switch {
	case trailingUnclear(holds) >= maxUnclear, len(holds) >= r.Holds:
		found.State = StillUnclear
	default:
		found.State, found.Next, found.Hold = Searching, found.Low, true
	}
	return found
}

// back is the load that is a precision less.
func (r Range) back(load int64) int64 {
	return max(r.Min, min(load-1, round(float64(load)/(1+r.Precision))))
}
