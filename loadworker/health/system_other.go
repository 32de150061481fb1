//go:build !unix

package health

import "time"

// processorTime is not known on this system.
func processorTime() time.Duration { return 0 }

// descriptors are not bounded on this system.
func descriptors() int64 { return Unlimited }
