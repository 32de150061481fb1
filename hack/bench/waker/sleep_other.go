//go:build !linux

package main

import "time"

// sleepUntil sleeps until t, and returns how late it woke up. How long of that it waited for
// a processor is not known.
func sleepUntil(t time.Time) (late, waited time.Duration) {
	time.Sleep(time.Until(t))
	return time.Since(t), 0
}
