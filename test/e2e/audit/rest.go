package audit

import "time"

// Every is how often a number is read that is to come to rest.
const Every = 500 * time.Millisecond

const (
	// ClicksRest is for clicks, which come from a queue: one that is counted twice
	// comes late, too.
	ClicksRest = 4
	// FillRest is for the links of the fill. A creation that its client gave up
	// after 3 s may be stored until the service gives it up, 2 s later.
	FillRest = 6
)

// Rest tells that a number rests.
type Rest struct {
	last int64
	same int
}

// Read takes a reading, and returns how many in a row have been the same.
func (r *Rest) Read(n int64) (same int) {
	if n != r.last {
		r.same = 0
	}
	r.last = n
	r.same++
	return r.same
}
