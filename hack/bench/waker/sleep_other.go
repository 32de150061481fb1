//go:build !linux

package main

import "time"

// sleepUntil sleeps until t, and returns how late it woke up.
func sleepUntil(t time.Time) (late time.Duration) {
	time.Sleep(time.Until(t))
	return time.Since(t)
}

// checkPriority fails never: threads have the priority that they have.
func checkPriority() error { return nil }
