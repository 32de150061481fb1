package attack

import (
	"math/bits"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

const (
	// mostGarbage is about how much garbage may come before it is collected; more, if more lives.
	mostGarbage = 64 << 20
	// usualPercent is Go's default, in percent of what lives.
	usualPercent = 100
)

// CollectSeldom lets the heap grow by some 50 MiB at least until garbage is collected, if $GOGC does not say
// otherwise: a memory limit holds nevertheless. A collection takes the processor from the event loops for
// milliseconds; what lives in a worker is a few MiB, for which Go would collect every few seconds. A program calls
// it once, before it makes a Runner; a test ends it.
func CollectSeldom(getenv func(string) string) (end func()) {
	c := &collector{percent: usualPercent}
	if getenv("GOGC") == "" {
		c.adjust()
	}
	return func() { c.ended.Store(true) }
}

// collector adjusts by how much the heap may grow after each collection. (A cleanup of an object that nothing holds
// runs after the next one.)
type collector struct {
	percent int
	ended   atomic.Bool
	of      *collector // an object without pointers would share its memory, and be freed with its neighbours
}

func (c *collector) adjust() {
	if c.ended.Load() {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if percent := growth(live[0].Value.Uint64()); percent != c.percent { // to set it stops all goroutines
		c.percent = percent
		debug.SetGCPercent(percent)
	}
	runtime.AddCleanup(&collector{of: c}, (*collector).adjust, c)
}

// growth is by how many percent a heap may grow of which so many bytes live. It is rounded down by up to a quarter, so
// that it stays the same when a little more or less lives.
func growth(live uint64) int {
	const leastLive, digits = 4 << 20, 3 // Go counts as if 4 MiB lived at least
	percent := mostGarbage * 100 / max(live, leastLive)
	if n := bits.Len64(percent); n > digits {
		percent &^= 1<<(n-digits) - 1
	}
	return int(max(usualPercent, percent))
}
