package search

// votes are the results of each load, and what they amount to.
type votes struct {
	kept, breached map[int64]int
	// firstBreached is the least load that was breached, and lastKept the greatest that
	// was kept, outliers left out; 0: none. Loads between them are in doubt.
	firstBreached, lastKept int64
	// low is the greatest load below all that were breached, high the least above all
	// that were kept; 0: none.
	low, high int64
	// last is the load of the latest probe; 0: none.
	last int64
}

func (r Range) count(probes []Probe) *votes {
	v := &votes{kept: map[int64]int{}, breached: map[int64]int{}}
	for _, p := range probes {
		switch v.last = p.Load; p.Outcome {
		case Kept:
			v.kept[p.Load]++
		case Breached:
			v.breached[p.Load]++
		}
	}
	r.findDoubt(v)
	v.findInterval()
	if v.firstBreached != 0 && v.lastKept == r.Max {
		v.high = r.Max // nothing above it can be probed
	}
	return v
}

// findDoubt finds the loads between which there is doubt.
func (r Range) findDoubt(v *votes) {
	for load := range v.breached {
		if !r.isOutlier(load, v.breached, v.kept, func(other int64) bool { return load == r.Min || !r.close(load, other) }) {
			v.firstBreached = leastOf(v.firstBreached, load)
		}
	}
	for load := range v.kept {
		if !r.isOutlier(load, v.kept, v.breached, func(other int64) bool { return load == r.Max || !r.close(other, load) }) {
			v.lastKept = max(v.lastKept, load)
		}
	}
}

// findInterval finds the ends of the interval that has nothing on its wrong side.
func (v *votes) findInterval() {
	for load := range v.kept {
		if v.firstBreached == 0 || load < v.firstBreached {
			v.low = max(v.low, load)
		}
	}
	for load := range v.breached {
		if load > v.lastKept {
			v.high = leastOf(v.high, load)
		}
	}
}

// doubtful says whether the loads at the limit were both kept and breached.
func (v *votes) doubtful() bool { return v.firstBreached != 0 && v.firstBreached <= v.lastKept }

// unsettled is a load that is to be probed again, since one was breached and another,
// well above it, was kept; ok is false if both were probed often enough.
func (v *votes) unsettled() (load int64, ok bool) {
	for _, load := range []int64{v.firstBreached, v.lastKept} {
		if v.kept[load]+v.breached[load] < maxVotes {
			return load, true
		}
	}
	return 0, false
}

// isOutlier says whether the rarer results of a load, such as its breaches, are outvoted
// two to one by its other results, and by those of a load well beyond it: a target that
// breaks down for a moment does so below its limit. Closer to it, there is doubt.
func (r Range) isOutlier(load int64, rarer, others map[int64]int, beyond func(other int64) bool) bool {
	if others[load] < 2*rarer[load] {
		return false
	}
	for other := range others {
		if beyond(other) {
			return true
		}
	}
	return false
}

// leastOf is the lesser of two loads, 0 being none.
func leastOf(a, b int64) int64 {
	if a == 0 || b < a {
		return b
	}
	return a
}
