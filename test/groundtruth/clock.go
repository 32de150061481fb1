package groundtruth

import "time"

// The process's clock and the kernel's are read together once; from then on
// they differ by a constant.
var (
	origin = time.Now()
	base   = kernelClock()
)

// Now is the kernel's monotonic clock.
func Now() int64 { return base + int64(time.Since(origin)) }

// Instant is the time at which the kernel's monotonic clock shows t.
func Instant(t int64) time.Time { return origin.Add(time.Duration(t - base)) }
