// Package background runs work for which no request is to wait: on a thread of low priority, to which the kernel gives
// the processor while the threads that send and receive leave it.
package background
