package attack

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestGarbageIsCollectedSeldomOfASmallHeap(t *testing.T) {
	for live := uint64(4 << 20); live < 1<<27; live += 1 << 18 {
		percent := growth(live)
		garbage := live * uint64(percent) / 100
		if least, most := uint64(mostGarbage*3/4)-live/100, max(live, mostGarbage); garbage < least || garbage > most || percent < 100 {
			t.Errorf("with %d bytes that live, %d of garbage may come, at %d %%; want %d to %d", live, garbage, percent, least, most)
		}
	}
	same.As(t, "percent when nothing lives", growth(4<<20), growth(0))
}

// held keeps what lives.
var held []byte

func TestGrowthFollowsWhatLives(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { held = nil; debug.SetGCPercent(before) })
	CollectSeldom(func(string) string { return "50" })
	same.As(t, "with $GOGC", 100, percent())
	c := &collector{percent: usualPercent}
	c.adjust()
	for _, live := range []int{1 << 20, 256 << 20, 1 << 20} {
		held = make([]byte, live)
		for n := 0; (percent() > 100) != (live < mostGarbage); n++ {
			if n == 100 {
				t.Fatalf("with %d bytes that live, it stays at %d %% after %d collections", live, percent(), n)
			}
			runtime.GC()
			runtime.Gosched()
		}
	}
}

// percent is what is set.
func percent() int {
	p := debug.SetGCPercent(100)
	debug.SetGCPercent(p)
	return p
}
