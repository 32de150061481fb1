package main

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sleepUntil sleeps until t, on a thread of its own whose timers are exact to a microsecond.
// It returns how late it woke up, and for how long of that the thread waited for a processor.
func sleepUntil(t time.Time) (late, waited time.Duration) {
	runtime.LockOSThread() // the thread ends with the goroutine
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(time.Microsecond), 0, 0, 0)
	stat, err := os.Open("/proc/thread-self/schedstat")
	if err == nil {
		defer func() { _ = stat.Close() }()
	}
	before := runQueueWait(stat)
	at := unix.NsecToTimespec(t.UnixNano())
	for errors.Is(unix.ClockNanosleep(unix.CLOCK_REALTIME, unix.TIMER_ABSTIME, &at, nil), unix.EINTR) {
	}
	late = time.Since(t)
	return late, min(runQueueWait(stat)-before, late)
}

// runQueueWait is how long a thread has waited in run queues so far: the second of the three
// numbers of its schedstat; 0 if the kernel does not say.
func runQueueWait(stat *os.File) time.Duration {
	var text [96]byte
	n, _ := stat.ReadAt(text[:], 0) // it is shorter, which is an end of the file
	fields := strings.Fields(string(text[:n]))
	if len(fields) != 3 {
		return 0
	}
	nanos, _ := strconv.ParseInt(fields[1], 10, 64)
	return time.Duration(nanos)
}
