package replay

import (
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Survey is what is known of a worker's lines before the step.
type Survey struct {
	// Lines are what became of them.
	Lines measure.Replay
	// PeakPerSecond is the most that are due in a second.
	PeakPerSecond int64

	marks []time.Duration // ascending
	// before has for each of marks how many of each request are due before it, one row after another.
	before []int64
	behind int // requests that must be kept to be sorted, at most; see order
	noted  int // marks that have their row
	// seconds are the requests of each second.
	seconds seconds
	due     []int64 // by request, so far
}

func newSurvey(marks []time.Duration, requests int) *Survey {
	return &Survey{marks: marks, before: make([]int64, len(marks)*requests), due: make([]int64, requests)}
}

// add adds a request; they come in the order of their due times.
func (s *Survey) add(r *Request) {
	s.note(r.Due)
	s.due[r.Index]++
}

// note fills in the rows of the marks up to an instant.
func (s *Survey) note(until time.Duration) {
	for ; s.noted < len(s.marks) && s.marks[s.noted] <= until; s.noted++ {
		copy(s.row(s.noted), s.due)
	}
}

// end fills in the other rows.
func (s *Survey) end() {
	for ; s.noted < len(s.marks); s.noted++ {
		copy(s.row(s.noted), s.due)
	}
}

func (s *Survey) row(mark int) []int64 {
	n := len(s.due)
	return s.before[mark*n : (mark+1)*n]
}

// Due is how many requests are due in the window.
func (s *Survey) Due() (sum int64) {
	for _, n := range s.due {
		sum += n
	}
	return sum
}

// Before returns how many of a request are due before t. It is exact at the marks and from the last
// on; between two of them the requests count as evenly spread.
func (s *Survey) Before(request int, t time.Duration) int64 {
	i, exact := slices.BinarySearch(s.marks, t)
	switch {
	case i == len(s.marks):
		return s.due[request]
	case exact:
		return s.row(i)[request]
	}
	from, low := time.Duration(0), int64(0)
	if i > 0 {
		from, low = s.marks[i-1], s.row(i - 1)[request]
	}
	if t <= from {
		return low
	}
	high := s.row(i)[request]
	return low + int64(float64(high-low)*(float64(t-from)/float64(s.marks[i]-from)))
}
