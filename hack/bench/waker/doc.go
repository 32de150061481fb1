// Command waker wakes up at instants and says how late it was: it is to the simulated workers
// of a benchmark what a node is to a worker, and does nothing else. It reads lines of an
// identifier and an instant in nanoseconds since 1970,
//
//	17 1790000000000000000
//
// and prints a line when it has woken up: the identifier, and by how many nanoseconds it was
// late:
//
//	17 52000
//
// Each instant has a thread, which sleeps in the kernel until then. It has real-time priority,
// so that it gets a processor at once, as on a node of its own, whatever else this machine
// has to run.
package main
