package background

import "golang.org/x/sys/unix"

// niceness gives the thread a thirtieth of a processor that others want, too.
const niceness = 15

// lower lowers the priority of this thread. Everyone may; if the system refuses nevertheless, the work takes its turn
// like all other.
func lower() { _ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), niceness) }
