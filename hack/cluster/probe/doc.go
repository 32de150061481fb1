// Package probe waits for the world: it repeats a check until it succeeds, its
// time is up, or the process behind it has ended.
// It imports the standard library only.
package probe
