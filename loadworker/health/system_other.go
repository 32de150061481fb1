//go:build !unix

package health

import "time"

// processorTime is unknown on this system.
func processorTime() time.Duration { return 0 }

// descriptors returns no limit on this system.
func descriptors() int64 { return Unlimited }
