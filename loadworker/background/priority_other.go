//go:build !linux

package background

// lower does nothing: threads of this system have no priority of their own.
func lower() {}
