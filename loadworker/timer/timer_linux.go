package timer

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// preciseTimer is late by some 0.1 ms. time.Timer is late by up to a millisecond,
// because the runtime's poller waits in whole milliseconds.
//
// It reads a timer of the kernel as a socket is read, by that same poller. A thread
// that sleeps in a system call is as exact, but keeps its processor from runnable
// goroutines for up to 10 ms: with one processor, every response would be read that
// much too late.
type preciseTimer struct {
	fd   int
	file *os.File // of fd
}

var _ Timer = preciseTimer{}

// New returns a precise timer, or a portable one if there is no file
// descriptor left for it.
func New() Timer {
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
