package serve

import (
	"math"
	"runtime/debug"
)

// relaxedGC is the garbage collector's percentage where a memory limit is set.
// What lives in a target is small (a few MB besides the requests in flight), for
// which the usual 100 collects so often that it takes up to a third of the time;
// the limit is what keeps memory bounded.
const relaxedGC = 400

// TuneMemory sets up Go's collector for a process that uses up to outside bytes
// of its memory without it.
func TuneMemory(getenv func(string) string, outside int64) {
	c := tune(getenv, debug.SetMemoryLimit(-1), outside)
	if c.percent > 0 {
		debug.SetGCPercent(c.percent)
	}
	debug.SetMemoryLimit(c.limit)
}

// collector is how Go's collector works.
type collector struct {
	// percent is that of GOGC; 0 leaves it as it is.
	percent int
	// limit is what Go's memory is to stay under.
	limit int64
}

// tune decides that by the limit that GOMEMLIMIT set. With one, there is less
// collected before it comes near, unless GOGC says how much; and of it Go gets
// what the rest of the process leaves, though half of it at least: too low a limit
// would have the collector run without end, for the sake of what may never be
// used.
func tune(getenv func(string) string, limit, outside int64) collector {
	if getenv("GOMEMLIMIT") == "" || limit == math.MaxInt64 {
		return collector{limit: limit}
	}
	c := collector{limit: max(limit/2, limit-outside)}
	if getenv("GOGC") == "" {
		c.percent = relaxedGC
	}
	return c
}
