package main

import (
	"errors"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// sleepUntil sleeps until t, on a thread of its own with real-time priority whose timers are
// exact to a microsecond. It returns how late it woke up.
func sleepUntil(t time.Time) (late time.Duration) {
	runtime.LockOSThread() // the thread ends with the goroutine
	_ = prioritize()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(time.Microsecond), 0, 0, 0)
	at := unix.NsecToTimespec(t.UnixNano())
	for errors.Is(unix.ClockNanosleep(unix.CLOCK_REALTIME, unix.TIMER_ABSTIME, &at, nil), unix.EINTR) {
	}
	return time.Since(t)
}

// checkPriority says whether threads may have real-time priority.
func checkPriority() error {
	failure := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		failure <- prioritize()
	}()
	return <-failure
}

// prioritize lets the thread run before all others that have no real-time priority.
func prioritize() error {
	return unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0)
}
