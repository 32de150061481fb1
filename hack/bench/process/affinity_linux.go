package process

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// onCore calls start on a thread that is bound to a core: what it starts
// inherits that.
func onCore(core int, start func() error) error {
	if core == Anywhere {
		return start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, only unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("sched_getaffinity: %w", err)
	}
	only.Set(core)
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		return fmt.Errorf("bind to core %d: %w", core, err)
	}
	err := start()
	if back := unix.SchedSetaffinity(0, &before); back != nil {
		// The thread would stay on the core: it must not serve others.
		runtime.LockOSThread()
	}
	return err
}
