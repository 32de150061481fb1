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
	setSlack(time.Microsecond)
	return nanosleep
}

// Shared returns a sleep as exact as that of Precise, for a goroutine that waits
// for others between its sleeps. It has a thread of its own only while it
// sleeps: to wait as a goroutine that is locked for good costs two switches of
// threads each time, half of what it costs to send a request.
func Shared() Sleep {
	return func(d time.Duration) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		setSlack(time.Microsecond)
		nanosleep(d)
		setSlack(0) // which is the default
	}
}

// setSlack sets the slack of the thread's timers, as far as it can be: without
// it, the sleep is 50 us less exact.
func setSlack(d time.Duration) {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(d), 0, 0, 0)
}

func nanosleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	// An interrupted sleep is an early one, which Wait corrects.
	_ = unix.Nanosleep(&ts, nil)
}
