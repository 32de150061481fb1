// Package virtual has what load workers and servers of a test need to run in virtual time, in a bubble
// of testing/synctest: connections, a timer, and a clock for event loops. The bubble's clock advances only
// when all that could be done at an instant was done, so that what a test measures is exact and takes no
// time. Of the kernel they use sockets alone, which hold bytes: everything that waits waits in the bubble.
package virtual
