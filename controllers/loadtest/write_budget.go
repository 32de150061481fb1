package loadtest

import (
	"sync"
	"time"
)

// bytesPerSecond is what all runs together write of how they are getting on: 10 minutes
// of it, after which the API server has the store forget, are 600 MB of the 2 GB that a
// store has by default.
const bytesPerSecond = 1_000_000

// budget is a bucket of bytes that all runs share. What is urgent is written whatever is
// left: the rest waits for longer then. The zero value is full.
type budget struct {
	mu    sync.Mutex
	spent float64 // bytes, of what a second refills
	at    time.Time
}

// from is the instant from which there are bytes left.
func (b *budget) from(now time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(now)
	if over := b.spent - bytesPerSecond; over > 0 {
		return now.Add(time.Duration(over / bytesPerSecond * float64(time.Second)))
	}
	return now
}

// spend takes what a write costs.
func (b *budget) spend(now time.Time, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(now)
	b.spent += float64(bytes)
}

func (b *budget) refill(now time.Time) {
	passed := max(0, now.Sub(b.at)) // a clock may be set back
	b.spent = max(0, b.spent-passed.Seconds()*bytesPerSecond)
	b.at = now
}
