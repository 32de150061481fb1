package measure

import (
	"math/bits"
	"time"
)

// MaxPoints is how many points a series has for the window of a step.
const MaxPoints = 600

// Series is what happened in a step, point by point of time. Points are as wide as
// PointWidth says; the last one is for what came after the window.
type Series struct {
	Points []Point
	// CountsConnections says that FirstOnConnection is known of all points.
	CountsConnections bool
}

// Point is what happened in a part of a step.
type Point struct {
	// Due, Sent and Expected are how many requests were due, were sent, and were
	// answered as expected in it.
	Due, Sent, Expected int64
	// Outcomes divides the requests that ended in it, whenever they were sent. None is
	// Unfinished.
	Outcomes [NumOutcomes]int64
	// Times are their response times, counted by TimeSlot, and Longest is the longest.
	Times   [TimeSlots]int64
	Longest time.Duration
	// FirstOnConnection is how many of the responses were the first on their connection: each is a
	// connection that was new to the target's requests, whether it was opened in the point or before.
	FirstOnConnection int64
}

// PointWidth is the width of the points of a step whose window has that length: a
// second, or as many whole seconds as it takes to have no more than MaxPoints.
func PointWidth(window time.Duration) time.Duration {
	return max(1, (window-1)/(MaxPoints*time.Second)+1) * time.Second
}

// Points is how many points a series has of a step whose window has that length: those
// of the window, and one for what came after it.
func Points(window time.Duration) int {
	return int(max(0, window-1)/PointWidth(window)) + 2
}

// NewSeries returns the empty series of a step whose window has that length.
func NewSeries(window time.Duration) *Series {
	return &Series{Points: make([]Point, Points(window)), CountsConnections: true}
}

const (
	// timeBits is how many bits of a time are told apart. The times of a point are in
	// slots of a 16th of a doubling, since it has few values and there are many points.
	timeBits = 5
	half     = 1 << (timeBits - 1)
	// TimeSlots is how many slots there are: the highest is that of Highest, a number
	// of microseconds with 32 bits.
	TimeSlots = (32-timeBits)*half + int(Highest/Lowest)>>(32-timeBits) + 1
)

// TimeSlot is the slot of a time: that of v microseconds is v below 32; above that, each
// doubling is divided into 16.
func TimeSlot(d time.Duration) int {
	v := uint64((min(max(d, 0), Highest) + Lowest/2) / Lowest)
	shift := max(0, bits.Len64(v)-timeBits)
	return shift*half + int(v>>shift)
}

// timeOf is the middle of a slot.
func timeOf(slot int) time.Duration {
	shift := max(0, slot/half-1)
	low := time.Duration(slot-shift*half) << shift
	return (low + time.Duration(1)<<shift/2) * Lowest
}

// Completed is how many got a whole response, of any status.
func (p *Point) Completed() int64 {
	var n int64
	for o := Success; o.Responded(); o++ {
		n += p.Outcomes[o]
	}
	return n
}

// Ended is how many got a response or failed.
func (p *Point) Ended() int64 {
	var n int64
	for _, of := range p.Outcomes {
		n += of
	}
	return n
}

// Quantile is the nearest-rank quantile q of the response times, in (0, 1), wrong by at
// most a 32nd of it. ok is false, as for a Histogram, when there are too few.
func (p *Point) Quantile(q float64) (d time.Duration, ok bool) {
	rank, ok := nearestRank(q, p.Ended())
	if !ok {
		return 0, false
	}
	left := int64(rank)
	for slot, count := range p.Times {
		if left -= count; left <= 0 {
			return min(timeOf(slot), p.Longest), true
		}
	}
	return p.Longest, true
}
