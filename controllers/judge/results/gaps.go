package results

import (
	"math"
	"slices"
	"time"
)

const (
	// fewWait is from how many outstanding requests on none of them is likely to be just a
	// slow one: the product of their chances is small.
	fewWait = 5
	// exposureOfFew and exposureOfMany are how much waiting, in multiples of the time
	// within which 95 % and 75 % of the requests end, makes a gap. Times with an exponential
	// distribution leave a gap of the latter once in 10^9 requests; log-normal ones with a
	// sigma of 1 are 20 times as long as their p95 once in a million.
	exposureOfFew, exposureOfMany = 20, 15
	// leastMissing is how many answers must be missing at least, at the rate at which they
	// came at other times: by chance, none of 10 comes once in 20,000 times.
	leastMissing = 10
	// leastSlots is how many whole slots a gap must have, unless it is as long as leastGap: a
	// silence of 2 % of the window has three. Of a short step, two slots are tens of
	// milliseconds, for which one long request holds up all others at a target with one server.
	leastSlots, leastGap = 3, 250 * time.Millisecond
	// shortest is for how long a target may pause in a step, however short the step is: a
	// collection of garbage, or a turn of another program on its processor.
	shortest = 50 * time.Millisecond
	// rare is the share of requests beyond which a time is an exception: a gap of a few
	// waiting requests must be twice as long, or it may be a slow path of the target.
	rare = 0.998
	// smooth is in which share of the slots outside a gap something must have been answered
	// for the gap to count whole, in percent.
	smooth = 70
)

// gap is a row of slots in none of which anything was answered, while requests that had
// been sent were outstanding at the beginning of each.
type gap struct {
	first, last int
	// exposure is how much waiting there was in it, of all outstanding requests together, in
	// nanoseconds: of a large load for hours, more than a Duration holds.
	exposure float64
	// hit is how many requests were outstanding at its end.
	hit int64
}

// gaps are the gaps, added up, that the times of the requests do not explain.
func (c course) gaps() time.Duration {
	var sum time.Duration
	for _, g := range c.findGaps() {
		if c.isSilence(g) {
			sum += max(0, c.lengthOf(g)-c.explained(g))
		}
	}
	return min(sum, c.merged.Window)
}

func (c course) findGaps() []gap {
	var list []gap
	t := c.merged.Timeline
	open := false
	for i := range c.slots {
		before := c.atStart()
		if i > 0 {
			before = t.InFlight(i - 1)
		}
		if t.Answered[i] > 0 || before == 0 {
			open = false
			continue
		}
		if !open {
			list, open = append(list, gap{first: i}), true
		}
		g := &list[len(list)-1]
		g.last, g.hit = i, t.InFlight(i)
		g.exposure += float64(before) * float64(c.slot)
	}
	return list
}

// atStart is how many requests are outstanding when the window begins.
func (c course) atStart() int64 {
	if c.waitsForReplies() {
		return int64(c.load.Users)
	}
	return 0
}

func (c course) lengthOf(g gap) time.Duration { return time.Duration(g.last-g.first+1) * c.slot }

// isSilence says whether so many requests waited for so long that some of them would have
// been answered by a target that answers as it does at other times.
func (c course) isSilence(g gap) bool {
	service, length := c.total.Service, c.lengthOf(g)
	short := length <= shortest || g.last-g.first+1 < leastSlots && length < leastGap
	if short || c.missing(g) < leastMissing {
		return false
	}
	if g.exposure < float64(fewWait*length) {
		return g.exposure >= float64(exposureOfFew*c.within(service, 0.95, g.hit)) && length > 2*c.within(service, rare, g.hit)
	}
	return g.exposure >= float64(exposureOfMany*c.within(service, 0.75, g.hit))
}

// missing is how many answers would have come in a gap at the rate of the other slots.
func (c course) missing(g gap) int {
	sum, in := int64(0), g.last-g.first+1
	for _, n := range c.merged.Timeline.Answered[:c.slots] {
		sum += n
	}
	return int(sum) * in / max(1, c.slots-in)
}

// explained is how much of a gap the time of the requests themselves explains. The first
// answer cannot come before it is over; users who were answered together wait together again.
// Where answers come evenly, none of a gap is explained by it.
func (c course) explained(g gap) time.Duration {
	most := c.within(c.total.Service, 0.95, g.hit)
	if time.Duration(g.first)*c.slot < most {
		return most
	}
	typical := c.within(c.total.Service, 0.25, g.hit)
	first := int(most/max(1, c.slot)) + 1
	answered, slots := 0, 0
	for i := first; i < c.slots; i++ {
		if i >= g.first && i <= g.last {
			continue
		}
		slots++
		if c.merged.Timeline.Answered[i] > 0 {
			answered++
		}
	}
	if slots > 0 && answered*100 >= smooth*slots {
		return 0
	}
	return typical
}

// highest is, for each slot, how many answers are to be expected in it: the median number of
// answers in the slots or, if more, the ninth of ten less what chance adds to that.
func (c course) highest() []float64 {
	high := make([]float64, c.slots)
	for i := range high {
		if i > 0 && c.load.RampTo == nil {
			high[i] = high[0]
			continue
		}
		first, last := c.around(i)
		sorted := slices.Sorted(slices.Values(c.merged.Timeline.Answered[first:last]))
		ninth := float64(sorted[len(sorted)*9/10])
		high[i] = max(float64(sorted[len(sorted)/2]), ninth-1.28*math.Sqrt(ninth))
	}
	return high
}

// around are the slots with the load of a slot: of a ramp, the fifty around it.
func (c course) around(i int) (first, last int) {
	if c.load.RampTo == nil {
		return 0, c.slots
	}
	return max(0, i-25), min(c.slots, i+25)
}
