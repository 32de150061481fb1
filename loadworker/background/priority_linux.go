package background

import "golang.org/x/sys/unix"

// niceness gives the thread a quarter of a processor that others want, too. With a thirtieth of one, the session of a
// worker with 32 requests and users without a pause would wait more than a second for each snapshot.
const niceness = 5

// lower lowers the priority of this thread. Each process may; if the system refuses nevertheless, the work takes its turn
// like all other.
func lower() { _ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), niceness) }
