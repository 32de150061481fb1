// Command waker wakes up at instants and says how late it was: it is to the simulated workers
// of a benchmark what a node is to a worker, and does nothing else. It reads lines of an
// identifier and an instant in nanoseconds since 1970,
//
//	17 1790000000000000000
//
// and prints a line when it has woken up: the identifier, by how many nanoseconds it was late,
// and for how many of them its thread could run and waited for a processor, by the kernel's
// own count:
//
//	17 812000 760000
//
// Each instant has a thread, which sleeps in the kernel until then: what the threads of a
// process that also has other things to do would add is not in it. The wait for a processor
// is that of a machine which has others to run; a worker on a node of its own has none of it.
package main
