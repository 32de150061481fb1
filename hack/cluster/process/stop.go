package process

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Stop sends SIGTERM to all of them, and SIGKILL to those that have not ended
// within the grace period. A grace of zero sends only SIGKILL.
func (t Table) Stop(processes []Process, grace time.Duration) error {
	handles, err := t.open(processes)
	defer closeAll(handles)
	if err != nil {
		return err
	}
	if grace > 0 {
		signalAll(handles, unix.SIGTERM)
		handles = remaining(handles, grace)
	}
	signalAll(handles, unix.SIGKILL)
	if left := remaining(handles, killed); len(left) > 0 {
		return fmt.Errorf("process %d (%s) does not end although it was killed: "+
			"it waits for the kernel, see /proc/%[1]d/stack", left[0].PID, left[0].Name)
	}
	return nil
}

// killed is how long a process may take to end after SIGKILL: the kernel has
// to write back and free what it held.
const killed = 10 * time.Second

// handle refers to a process for good: unlike a pid it is not used again.
type handle struct {
	Process
	fd int
}

// open takes a handle of each process that is still the one listed.
func (t Table) open(processes []Process) ([]handle, error) {
	var handles []handle
	for _, p := range processes {
		fd, err := unix.PidfdOpen(p.PID, 0)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			return handles, fmt.Errorf("open process %d (%s): %w", p.PID, p.Name, err)
		}
		// Read again, now that the handle holds the number: it may have
		// passed on to another process since it was listed.
		if now, ok := t.read(p.PID); !ok || now.Name != p.Name {
			unix.Close(fd)
			continue
		}
		handles = append(handles, handle{Process: p, fd: fd})
	}
	return handles, nil
}

func closeAll(handles []handle) {
	for _, h := range handles {
		unix.Close(h.fd)
	}
}

// signalAll ignores failures: the only one there is, that the process has
// ended, is what is wanted.
func signalAll(handles []handle, signal unix.Signal) {
	for _, h := range handles {
		_ = unix.PidfdSendSignal(h.fd, signal, nil, 0)
	}
}

// remaining waits until all have ended, at most that long, and returns those
// that have not. A pidfd is readable once its process has ended.
func remaining(handles []handle, limit time.Duration) []handle {
	deadline := time.Now().Add(limit)
	var left []handle
	for _, h := range handles {
		if !ended(h, deadline) {
			left = append(left, h)
		}
	}
	return left
}

func ended(h handle, deadline time.Time) bool {
	for {
		wait := max(0, int(time.Until(deadline).Milliseconds()))
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}, wait)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return n > 0
	}
}
