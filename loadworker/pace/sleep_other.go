//go:build !linux

package pace

import "time"

// Precise returns the best sleep there is on this system.
func Precise() Sleep { return time.Sleep }
