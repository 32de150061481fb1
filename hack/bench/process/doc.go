// Package process runs the programs of a benchmark: each on a core of its own,
// with what it cost as the kernel counts it. It imports nothing of this module,
// and is for Linux.
package process
