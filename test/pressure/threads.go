package pressure

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// Threads keeps four times as many threads computing as there are processors until the test
// ends. It returns their number, once all of them do.
func Threads(t testing.TB) int {
	t.Helper()
	threads := 4 * runtime.NumCPU()
	before := runtime.GOMAXPROCS(threads)
	var stop atomic.Bool
	var there atomic.Int64
	t.Cleanup(func() {
		stop.Store(true)
		runtime.GOMAXPROCS(before)
	})
	all := make(chan struct{})
	for range threads {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if there.Add(1) == int64(threads) {
				close(all)
			}
			for !stop.Load() {
				continue
			}
		}()
	}
	<-all
	return threads
}
