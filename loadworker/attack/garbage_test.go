package attack

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/await"
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
	end := CollectSeldom(func(string) string { return "" })
	t.Cleanup(end) // first
	for _, live := range []int{1 << 20, 256 << 20, 1 << 20} {
		held = make([]byte, live)
		await.Until(t, "the growth after a collection", func() error {
			runtime.GC()
			if p := percent(); (p > 100) != (live < mostGarbage) {
				return fmt.Errorf("%d bytes live, and it is %d %%", live, p)
			}
			return nil
		})
	}
}

// percent is what is set.
func percent() int {
	set := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(set)
	return int(set[0].Value.Uint64())
}
