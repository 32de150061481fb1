package loop

import "time"

// Clock waits for the events of a loop in the place of the kernel: a test's is in virtual time,
// in which a thread that sleeps in the kernel would not count as one that waits.
type Clock interface {
	// Wait returns when an epoll instance has events, or a time has passed.
	Wait(epoll int, timeout time.Duration)
	// Wake says that it may have events now.
	Wake()
}
