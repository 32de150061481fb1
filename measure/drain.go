package measure

import "time"

// MaxDrain bounds how long a step waits, after its window, for what is in flight.
const MaxDrain = 30 * time.Second

// Drain is how long a step waits for requests with such a timeout. What is in flight then has
// waited for its whole timeout, unless that is longer than MaxDrain.
func Drain(timeout time.Duration) time.Duration { return min(timeout, MaxDrain) }
