package background_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/background"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// niceness is that of the thread that calls it. (The system call returns 20 less it.)
func niceness(t *testing.T) int {
	t.Helper()
	n, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	must.Succeed(t, err)
	return 20 - n
}

func TestWorkRunsInOrderOnAThreadOfLowPriority(t *testing.T) {
	before := niceness(t)
	thread := background.Start()
	defer thread.Close()
	var list []int
	for i := range 3 {
		thread.Run(func() { list = append(list, i, niceness(t)) })
	}
	low := max(before, 5)
	same.As(t, "work and its niceness", []int{0, low, 1, low, 2, low}, list)
	same.As(t, "the niceness of others", before, niceness(t))
}
