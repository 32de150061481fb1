package host

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Acquire takes the lock of that file, for one command at a time, and returns
// the function that gives it back. The file goes away with the lock.
func Acquire(path string) (release func(), err error) {
	for {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open lock: %w", err)
		}
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			file.Close()
			if errors.Is(err, unix.EWOULDBLOCK) {
				return nil, fmt.Errorf("another cluster command is running (it holds %s): wait until it is done", path)
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if same(file, path) {
			return func() { os.Remove(path); file.Close() }, nil
		}
		// The holder before removed the file between our open and our lock.
		file.Close()
	}
}

func same(file *os.File, path string) bool {
	held, err1 := file.Stat()
	named, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(held, named)
}
