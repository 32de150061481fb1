//go:build !linux

package timer

// New returns the best timer of this system.
func New() Timer { return newPortableTimer() }
