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
// that was breached. There is nothing below Min, which the probes kept twice: it is held
// again, and the second hold decides.
func (r Range) hold(found Result, probes, holds []Probe) Result {
	next, above, atMin := found.Low, found.High, 0
	for _, h := range holds {
		switch h.Outcome {
		case Kept:
			return Result{State: found.State, Low: h.Load, High: above}
		case Breached:
			found = Result{State: Found, Low: keptBelow(h.Load, probes), High: h.Load}
			next = r.back(h.Load)
			if h.Load <= r.Min {
				atMin++
			} else {
				above = h.Load
			}
		}
	}
	switch n := trailingUnclear(holds); {
	case atMin > 1:
		found.State = BelowMin
	case n >= maxUnclear, n > 0 && len(holds) >= r.Holds:
		found.State = StillUnclear
	case len(holds) >= r.Holds:
		found.State = Exhausted
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
	return max(r.Min, round(float64(load)/(1+r.Precision)))
}
