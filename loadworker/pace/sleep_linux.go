package pace

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Precise returns a sleep that wakes within some 0.1 ms, where time.Sleep wakes
// up to a millisecond late: the runtime's poller waits in whole milliseconds. It
// is for one goroutine at a time.
//
// It waits for a timer of the kernel as for a socket, in that same poller. A
// thread that sleeps by itself would be as exact, but keeps its processor for
// up to 10 ms from the goroutines that wait to run: with one processor, every
// response would be read that much too late.
//
// Where there is no such timer (too few file descriptors), it is time.Sleep.
func Precise() Sleep {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return time.Sleep
	}
	// Closed by the garbage collector, when the sleep is not in use any more.
	timer := os.NewFile(uintptr(fd), "timerfd")
	var expirations [8]byte
	return func(d time.Duration) {
		spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(int64(d), 1))}
		if err := unix.TimerfdSettime(fd, 0, &spec, nil); err != nil {
			time.Sleep(d)
			return
		}
		// An early return is an early sleep, which Wait corrects.
		_, _ = timer.Read(expirations[:])
	}
}
