package pace

import (
	"fmt"
	"math/bits"
	"time"
)

// Think is the range from which think times are drawn, every time in it as likely as any
// other.
type Think struct {
	Shortest, Longest time.Duration
}

// Check refuses a range that is none.
func (t Think) Check() error {
	if t.Shortest < 0 || t.Longest < t.Shortest {
		return fmt.Errorf("think time must not be negative, and its range in order, is %v to %v", t.Shortest, t.Longest)
	}
	return nil
}

// IsNone says whether users do not think.
func (t Think) IsNone() bool { return t.Longest == 0 }

// Mean is the mean of the think times.
func (t Think) Mean() time.Duration { return t.Shortest + (t.Longest-t.Shortest)/2 }

// Draw returns a user's n-th think time. It depends on the step's draws, the user's
// number over all workers, and n alone: so it is the same whatever the number of workers,
// and nothing is kept for a user.
func (t Think) Draw(d Draws, user, n int64) time.Duration {
	if t.Shortest == t.Longest {
		return t.Shortest // as below, without the draw
	}
	// A number of 64 bits is mapped to Longest-Shortest+1 times: the bias is below 2^-22.
	more, _ := bits.Mul64(d.of(user, n), uint64(t.Longest-t.Shortest)+1)
	return t.Shortest + time.Duration(more)
}

// Draws are the random numbers of a step, by user and number.
type Draws struct{ key uint64 }

// NewDraws returns the random numbers that a seed gives a step.
func NewDraws(seed int64, step int32) Draws {
	return Draws{key: scramble(scramble(uint64(seed)) ^ uint64(uint32(step)))}
}

func (d Draws) of(user, n int64) uint64 {
	return scramble(scramble(d.key^uint64(user)) ^ uint64(n))
}
