package pace

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Precise returns a sleep that wakes within some 0.1 ms, where time.Sleep wakes
// up to a millisecond late: the runtime's poller waits in whole milliseconds,
// and the kernel adds 50 us of slack to a thread's timers.
//
// It locks the calling goroutine to its thread, for good: the thread's slack is
// changed, so it must not serve other goroutines. It ends with the goroutine.
func Precise() Sleep {
	runtime.LockOSThread()
	// Slack is only precision: without it the sleep is 50 us less exact.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(time.Microsecond), 0, 0, 0)
	return func(d time.Duration) {
		ts := unix.NsecToTimespec(int64(d))
		// An interrupted sleep is an early one, which Wait corrects.
		_ = unix.Nanosleep(&ts, nil)
	}
}
