package groundtruth

import (
	"math"
	"time"
)

// The process's clock and the kernel's are read together once; from then on
// they differ by a constant.
var (
	origin = time.Now()
	base   = between(kernelClock, func() int64 { return int64(time.Since(origin)) }, pairs)
)

// Now is the kernel's monotonic clock.
func Now() int64 { return base + int64(time.Since(origin)) }

// Instant is the time at which the kernel's monotonic clock shows t.
func Instant(t int64) time.Time { return origin.Add(time.Duration(t - base)) }

// pairs is how often the clocks are read together: the thread may stand still between the readings.
const pairs = 100

// between is by how much a clock is ahead of another one. It reads both so many times, and takes the two readings
// that were closest together.
func between(ahead, behind func() int64, readings int) (by int64) {
	for n, closest := 0, int64(math.MaxInt64); n < readings; n++ {
		before := behind()
		at := ahead()
		after := behind()
		if after-before < closest {
			closest, by = after-before, at-before-(after-before)/2
		}
	}
	return by
}
