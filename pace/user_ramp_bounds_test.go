package pace

import (
	"testing"
	"time"
)

// User 0 has no offset: its requests are due at whole seconds, the first of the warm-up
// before 0, and the one at its end is not its own.
func TestRequestsOfAUserAreFromTheWarmUpToBeforeItsEnd(t *testing.T) {
	for _, warmUp := range []time.Duration{0, 3 * time.Second} {
		u := RampedUsers{Ramp: UserRamp{From: 1, To: 1, Length: 10 * time.Second}, Each: 1e6, WarmUp: warmUp}
		n := int64((warmUp + 10*time.Second) / time.Second)
		if due, ok := u.Due(0, 0); due != -warmUp || !ok {
			t.Errorf("warm-up of %v: the first request is due at %v, %v", warmUp, due, ok)
		}
		if due, ok := u.Due(0, n-1); due != 9*time.Second || !ok {
			t.Errorf("warm-up of %v: the last request is due at %v, %v", warmUp, due, ok)
		}
		if due, ok := u.Due(0, n); ok {
			t.Errorf("warm-up of %v: one is due at %v, the end", warmUp, due)
		}
		if got := u.Before(0, 10*time.Second); got != n {
			t.Errorf("warm-up of %v: %d requests, want %d", warmUp, got, n)
		}
	}
}
