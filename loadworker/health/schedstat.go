package health

import (
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// threadsFolder has a folder for each thread of this process.
const threadsFolder = "/proc/self/task"

// runQueueWait returns how long the threads of a process have waited in the run queues
// of the processors so far, added up: runnable, and not running. It is 0 where the
// kernel does not say. Threads of Go's runtime hardly ever end; what one waited that
// has ended is missing.
func runQueueWait(threads fs.FS) time.Duration {
	files, _ := fs.Glob(threads, "*/schedstat") // the pattern is valid
	var sum time.Duration
	for _, file := range files {
		stat, _ := fs.ReadFile(threads, file) // the thread may have ended
		sum += waitIn(string(stat))
	}
	return sum
}

// waitIn parses a schedstat of a thread: nanoseconds on a processor, nanoseconds in a
// run queue, and the number of times that it ran (proc(5); Documentation/scheduler/
// sched-stats.rst of Linux).
func waitIn(stat string) time.Duration {
	fields := strings.Fields(stat)
	if len(fields) != 3 {
		return 0
	}
	n, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n)
}
