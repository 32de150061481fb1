//go:build unix

package health

import (
	"syscall"
	"time"
)

// processorTime is what this process used so far, in its own code and in the
// kernel.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
