package attack

import (
	"runtime"
	"sync/atomic"
)

// spare is how many processors Go has more than there are event loops.
var spare atomic.Int32

// SpareProcessor lets Go run on one processor more than there are event loops. Else a loop
// has to wait for its turn behind all goroutines that can run, which took up to 80 ms while
// two thousand connections shook hands on one processor. Now the kernel divides the
// processors, and lets a thread that has slept run soon. A program calls it once, before it
// makes a Runner.
func SpareProcessor() {
	spare.Add(1)
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
}

// processors is how many there are for event loops.
func processors() int { return runtime.GOMAXPROCS(0) - int(spare.Load()) }
