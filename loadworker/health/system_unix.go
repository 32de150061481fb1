//go:build unix

package health

import (
	"syscall"
	"time"
)

// processorTime returns the processor time that this process has used so far, in its
// own code and in the kernel.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// descriptors returns how many files and connections this process may have open. Go's
// runtime has already raised the soft limit to the hard one.
func descriptors() int64 {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil {
		return Unlimited
	}
	return int64(min(r.Cur, Unlimited))
}
