package process

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the time in which a process computed: the kernel's clock of it, whose number is made of that of the
// process and the kind of clock, CPUCLOCK_SCHED. Unlike /proc/pid/stat, it counts nanoseconds.
func cpuTime(pid int) (time.Duration, error) {
	const sched = 2
	var t unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|sched), &t)
	return time.Duration(t.Nano()), err
}
