package pace

import "time"

// Sleep waits for about d. It may return early or late; Wait corrects the first.
type Sleep func(d time.Duration)

// longestNap bounds how long Wait does not look whether it should stop: a
// sleeping thread cannot be woken.
const longestNap = 10 * time.Millisecond

// shortestNap bounds the wake-ups to 10,000 a second, at the price of as much
// lateness: a wake-up costs some 30 us of processor time.
const shortestNap = 100 * time.Microsecond

// Wait returns at due, never before. It returns false, early, once stop is
// closed.
func Wait(due time.Time, stop <-chan struct{}, sleep Sleep) bool {
	for {
		select {
		case <-stop:
			return false
		default:
		}
		left := time.Until(due)
		if left <= 0 {
			return true
		}
		sleep(min(max(left, shortestNap), longestNap))
	}
}
