package source

// Tally counts requests of the mix that are given by streams, without visiting them.
//
// A stream that begins at a position of the cycle and advances by one visits, with n
// requests and a cycle of L positions, all of them n/L times, and the next n%L from
// where it began once more. The latter are kept as changes: +1 at the first of them, -1
// behind the last.
type Tally struct {
	cycle    []int
	requests int
	items    int     // requests and journeys
	inBlocks bool    // arrivals go on one position later after each block
	rounds   int64   // of the whole cycle
	changes  []int64 // by position; the last is behind the cycle
	others   []int64 // by request: those that are not of the cycle; nil: there are none
}

// Tally returns an empty one.
func (s *Source) Tally() *Tally {
	return &Tally{cycle: s.cycle, inBlocks: s.block > 0, requests: len(s.requests), items: len(s.requests) + len(s.journeys), changes: make([]int64, len(s.cycle)+1)}
}

// Add adds, or with times -1 takes away, the first n requests of a stream that begins
// at a position and advances by one.
func (t *Tally) Add(start, n, times int64) {
	length := int64(len(t.cycle))
	t.rounds += times * (n / length)
	t.addRange(start%length, n%length, times)
}

// AddStrided adds, or with times -1 takes away, the first n requests of a stream that
// advances by so many positions.
func (t *Tally) AddStrided(start, by, n, times int64) {
	length := int64(len(t.cycle))
	ring := length / gcd(by, length)
	at := start % length
	if visited, all := n/ring, length/ring; t.inBlocks && visited > 0 {
		t.rounds += times * (visited / all)
		for b := range visited % all {
			t.addRing(start+b, by, ring, times)
		}
		t.addRing(start+visited, by, n%ring, times)
		return
	}
	for i := range min(ring, n) {
		visits := n / ring
		if i < n%ring {
			visits++
		}
		t.addRange(at, 1, times*visits)
		at = (at + by) % length
	}
}

// addRing adds the first n positions of a ring, of which there are more.
func (t *Tally) addRing(start, by, n, times int64) {
	for i := range n {
		t.addRange((start+i*by)%int64(len(t.cycle)), 1, times)
	}
}

// Requests is how many requests the mix has.
func (t *Tally) Requests() int { return t.requests }

// AddOf adds n of a request that are not of the cycle.
func (t *Tally) AddOf(request int, n int64) {
	if t.others == nil {
		t.others = make([]int64, t.requests)
	}
	t.others[request] += n
}

// addRange adds n positions, fewer than the cycle has or one, from one on.
func (t *Tally) addRange(start, n, times int64) {
	length := int64(len(t.cycle))
	if beyond := start + n - length; beyond > 0 {
		t.addRange(0, beyond, times)
		n -= beyond
	}
	t.changes[start] += times
	t.changes[start+n] -= times
}

// Counts returns how many there are of each request of the mix.
func (t *Tally) Counts() []int64 { return t.Items()[:t.requests] }

// Items returns how many there are of each request of the mix, and then of each journey.
func (t *Tally) Items() []int64 {
	counts := make([]int64, t.items)
	visits := t.rounds
	for at, request := range t.cycle {
		visits += t.changes[at]
		counts[request] += visits
	}
	for request, n := range t.others {
		counts[request] += n
	}
	return counts
}
