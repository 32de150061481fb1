package pace

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// preciseTimer wakes within some 0.1 ms, where time.Timer wakes up to a
// millisecond late: the runtime's poller waits in whole milliseconds.
//
// It waits for a timer of the kernel as for a socket, in that same poller. A
// thread that sleeps by itself would be as exact, but keeps its processor for
// up to 10 ms from the goroutines that wait to run: with one processor, every
// response would be read that much too late.
type preciseTimer struct {
	fd   int
	file *os.File // of fd
}

var _ Timer = preciseTimer{}

// NewTimer returns a precise timer, or a portable one if there is no file
// descriptor left for it.
func NewTimer() Timer {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return newPortableTimer()
	}
	return preciseTimer{fd: fd, file: os.NewFile(uintptr(fd), "timerfd")}
}

// Set cannot fail: the descriptor is a timer's, and the time is valid.
func (t preciseTimer) Set(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(int64(d), 1))} // 0 would disarm it
	_ = unix.TimerfdSettime(t.fd, 0, &spec, nil)
}

// Wait returns early if the timer cannot be read.
func (t preciseTimer) Wait() {
	var expirations [8]byte
	_, _ = t.file.Read(expirations[:])
}

func (t preciseTimer) Close() { _ = t.file.Close() }
