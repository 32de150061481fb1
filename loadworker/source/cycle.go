package source

import "slices"

// cycle arranges the indexes of the weights so that each occurs as often as its
// weight, reduced by the greatest common divisor, and evenly spread.
//
// It is the smooth weighted round-robin of Nginx: at each position, every index
// gains its weight, and the index with the most is taken and loses the total.
func cycle(weights []int32) []int {
	divisor, total := int64(0), int64(0)
	for _, w := range weights {
		divisor = gcd(divisor, int64(w))
		total += int64(w)
	}
	indexes := make([]int, 0, total/divisor)
	current := make([]int64, len(weights))
	for range total / divisor {
		best := 0
		for i, w := range weights {
			current[i] += int64(w)
			if current[i] > current[best] {
				best = i
			}
		}
		current[best] -= total
		indexes = append(indexes, best)
	}
	return indexes
}

// blockOf is after how many arrivals a cycle of a length goes on one position later, so that each worker sends all of the mix, and
// its rows of data go with all of it. The workers have the arrivals in turn: of a cycle of six, the first of two would send the
// requests at 0, 2 and 4 alone. A block has whole cycles, and is as long for each worker; 0: there is no need for blocks.
func blockOf(length, workers int64) int64 {
	if g := gcd(length, workers); g > 1 {
		return length / g * workers
	}
	return 0
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Order is the position of a request among those of its worker. From it follows
// the row that the request takes of a table whose rows are taken in turn, whenever
// it is sent.
//
// A worker's requests are in streams: each user is one, arrivals together are one.
// The N-th request of a stream is at position Start + N·By of the mix's cycle, or of arrivals where Source.Position says.
type Order struct {
	Start, By int64
	N         int64
	// Stream is the worker's stream, of Streams.
	Stream, Streams int64
}

// rowNumber returns the number of the row that a request takes: the streams of a
// worker take rows in turn.
func (o Order) rowNumber(c *cycleCounter) int64 {
	taken := o.N // a stream of one request has no cycle
	if c != nil {
		taken = c.count(o.Start, o.N)
	}
	return taken*o.Streams + o.Stream
}

// cycleCounter counts the requests of a stream that take a row of a table, without
// visiting them.
//
// A stream that advances by `by` positions visits a ring of the cycle's L positions.
// With g the greatest common divisor of by and L, there are g rings of L/g positions:
//
//	L = 6, by = 2; the requests at 0, 3 and 4 take a row
//
//	ring       index   before   total
//	0 → 2 → 4  0 1 2   0 1 1    2
//	1 → 3 → 5  0 1 2   0 0 1    1
//
// The 5 requests of a stream that starts at 2 are at 2, 4, 0, 2 and 4: a whole ring,
// which takes 2 rows, and a part from 2 to before 0, which takes before[0] − before[2]
// = −1, and since it passes the ring's end, + total: 1 row.
//
// With rings, a stream visits one ring after another, each once, and each from one position later.
type cycleCounter struct {
	by     int64   // at least 1
	length int64   // of a ring
	index  []int64 // in its ring, by position of the cycle
	before []int64 // how many of the ring before it take a row
	total  []int64 // how many of its ring take a row
	// rings is how many of so many rings take a row, from the one of position 0 on, twice around; nil: a stream stays in one ring.
	rings []int64
}

// newCycleCounter returns the counter of a cycle whose i-th request takes a row if
// takes[i] is set, and of streams that advance by so many positions.
func newCycleCounter(takes []bool, by int64) *cycleCounter {
	n := int64(len(takes))
	c := &cycleCounter{
		by: by, length: n / gcd(n, by),
		index: make([]int64, n), before: make([]int64, n), total: make([]int64, n),
	}
	for start := range n / c.length {
		count, at := int64(0), start
		for i := range c.length {
			c.index[at], c.before[at] = i, count
			if takes[at] {
				count++
			}
			at = (at + by) % n
		}
		for range c.length {
			c.total[at] = count
			at = (at + by) % n
		}
	}
	return c
}

// count returns how many of the first n requests of a stream take a row.
func (c *cycleCounter) count(start, n int64) int64 {
	positions := int64(len(c.index))
	start %= positions
	if c.rings != nil {
		visited, all := n/c.length, positions/c.length
		first := start % all
		whole := visited/all*c.rings[all] + c.rings[first+visited%all] - c.rings[first]
		return whole + c.inRing((start+visited)%positions, n%c.length)
	}
	return c.inRing(start, n)
}

// inRing is count of a stream that stays in the ring of its start, which is a position.
func (c *cycleCounter) inRing(start, n int64) int64 {
	positions := int64(len(c.index))
	end := (start + n%c.length*(c.by%positions)) % positions
	part := c.before[end] - c.before[start]
	if c.index[end] < c.index[start] {
		part += c.total[start]
	}
	return n/c.length*c.total[start] + part
}

// visitRings counts from then on for streams that visit one ring after another.
func (c *cycleCounter) visitRings() {
	all := int64(len(c.index)) / c.length
	c.rings = make([]int64, 2*all)
	for i := range 2*all - 1 {
		c.rings[i+1] = c.rings[i] + c.total[i%all]
	}
}

// cycleCounters are the counters of a table: one for users, which advance by one
// position, and one for arrivals, which advance by the number of workers.
type cycleCounters struct {
	users, arrivals *cycleCounter
}

// of returns the counter for streams that advance by so many positions, or nil.
func (c cycleCounters) of(by int64) *cycleCounter {
	switch {
	case c.users != nil && by == c.users.by:
		return c.users
	case c.arrivals != nil && by == c.arrivals.by:
		return c.arrivals
	default:
		return nil
	}
}

// newCycleCounters returns the counters of the tables whose rows are taken in turn, by requests or by sessions.
func (s *Source) newCycleCounters() []cycleCounters {
	counters := make([]cycleCounters, len(s.tables))
	for slot, t := range s.tables {
		if t.choice != Sequential && !slices.ContainsFunc(s.journeys, func(j journey) bool { return j.user == slot+1 }) {
			continue
		}
		takes := make([]bool, len(s.cycle))
		for i, item := range s.cycle {
			takes[i] = s.takesRow(item, slot)
		}
		counters[slot] = cycleCounters{users: newCycleCounter(takes, 1), arrivals: newCycleCounter(takes, s.workers)}
		if s.block > 0 {
			counters[slot].arrivals.visitRings()
		}
	}
	return counters
}
