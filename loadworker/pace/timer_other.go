//go:build !linux

package pace

// NewTimer returns the best timer of this system.
func NewTimer() Timer { return newPortableTimer() }
