package pace

import "time"

// Schedule says when hits are due. Hits are numbered from 0, over all workers or
// one worker's own; due times never decrease.
type Schedule interface {
	// Due is when hit i is due; math.MaxInt64 means never.
	Due(i int64) time.Duration
	// Before is how many hits are due before t: the smallest i whose Due is not.
	Before(t time.Duration) int64
}

var _ Schedule = Rate(0)

// Warmed is a schedule that another one precedes for a while. Time 0 is when the
// first ends and the second begins, so that what is due in the warm-up is due
// before 0. The numbers go on from one to the other.
type Warmed struct {
	warm, main Schedule
	length     time.Duration
	hits       int64 // of the warm-up
}

var _ Schedule = (*Warmed)(nil)

// NewWarmed lets main begin after warm has run for a time.
func NewWarmed(warm Schedule, length time.Duration, main Schedule) *Warmed {
	return &Warmed{warm: warm, main: main, length: length, hits: warm.Before(length)}
}

// Due is when hit i is due, from the end of the warm-up.
func (w *Warmed) Due(i int64) time.Duration {
	if i < w.hits {
		return w.warm.Due(i) - w.length
	}
	return w.main.Due(i - w.hits)
}

// Before is how many hits are due before t, those of the warm-up included.
func (w *Warmed) Before(t time.Duration) int64 {
	if t <= 0 {
		return w.warm.Before(t + w.length)
	}
	return w.hits + w.main.Before(t)
}
