// Package probe repeats a check until it succeeds, the time limit is reached, or
// the process behind it has ended.
// It imports the standard library only.
package probe
