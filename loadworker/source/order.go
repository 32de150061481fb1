package source

// Order says which of a worker's requests one is, so that tables whose rows are
// taken in turn have a turn for it that does not depend on when it is sent.
//
// A worker's requests are in lanes: each user is one, arrivals are together one.
// The n-th of a lane is the request that stands at Start + n·By in the cycle of
// the mix.
type Order struct {
	Start, By int64
	N         int64
	// Lane is the worker's lane, of Lanes.
	Lane, Lanes int64
}

// walk counts the turns of a cycle that take a row of a table, along the way of a
// lane that goes on by so many turns each time.
//
// Such ways are rings: with g the greatest common divisor of by and the length L
// of the cycle there are g of them, of L/g turns each.
type walk struct {
	by     int64   // at least 1
	ring   int64   // turns of a ring
	place  []int64 // in its ring, by turn of the cycle
	before []int64 // turns of the ring before it that take a row
	all    []int64 // turns of its ring that take a row
}

func newWalk(takes []bool, by int64) *walk {
	n := int64(len(takes))
	w := &walk{
		by: by, ring: n / gcd(n, by),
		place: make([]int64, n), before: make([]int64, n), all: make([]int64, n),
	}
	for start := range n / w.ring {
		count, at := int64(0), start
		for i := range w.ring {
			w.place[at], w.before[at] = i, count
			if takes[at] {
				count++
			}
			at = (at + by) % n
		}
		for range w.ring {
			w.all[at] = count
			at = (at + by) % n
		}
	}
	return w
}

// turns is how many of the first n requests of a lane take a row.
func (w *walk) turns(start, n int64) int64 {
	length := int64(len(w.place))
	start %= length
	end := (start + n%w.ring*(w.by%length)) % length
	part := w.before[end] - w.before[start]
	if w.place[end] < w.place[start] {
		part += w.all[start]
	}
	return n/w.ring*w.all[start] + part
}

// turn is which row in turn a request takes: the lanes take turns.
func (o Order) turn(w *walk) int64 {
	taken := o.N // a lane of one request has no cycle
	if w != nil {
		taken = w.turns(o.Start, o.N)
	}
	return taken*o.Lanes + o.Lane
}
