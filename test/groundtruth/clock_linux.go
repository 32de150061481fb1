package groundtruth

import "golang.org/x/sys/unix"

func kernelClock() int64 {
	var ts unix.Timespec
	// It cannot fail: the clock exists and the pointer is good.
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}
