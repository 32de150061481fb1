package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// errHeld is returned while another process has the lock.
var errHeld = errors.New("another cluster command is running")

// retry is the interval between two attempts at a lock that is held.
const retry = 200 * time.Millisecond

// Acquire takes the lock of that file, for one command at a time, and returns
// the function that gives it back; the file goes away with the lock. If it has
// to wait for another command it calls waiting first.
func Acquire(ctx context.Context, path string, waiting func()) (release func(), err error) {
	release, err = tryAcquire(path)
	if !errors.Is(err, errHeld) {
		return release, err
	}
	waiting()
	ticker := time.NewTicker(retry)
	defer ticker.Stop()
	for errors.Is(err, errHeld) {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %s: %w", path, err)
		case <-ticker.C:
			release, err = tryAcquire(path)
		}
	}
	return release, err
}

func tryAcquire(path string) (release func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errHeld
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !sameFile(file, path) {
		// The holder before removed the file between our open and our lock.
		file.Close()
		return nil, errHeld
	}
	return func() { os.Remove(path); file.Close() }, nil
}

func sameFile(file *os.File, path string) bool {
	held, err1 := file.Stat()
	named, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(held, named)
}
