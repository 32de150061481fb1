package lifecycle_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// A step begins so far ahead that a busy API server stores and returns the choice first.
func TestLeadFollowsTheAPIServer(t *testing.T) {
	for readBack, want := range map[time.Duration]time.Duration{
		0: 500 * time.Millisecond, 50 * time.Millisecond: 500 * time.Millisecond, 400 * time.Millisecond: 1200 * time.Millisecond,
		time.Minute: 5 * time.Second,
	} {
		lt := accepted(ladder())
		seen := awaited(ready, ready, ready)
		seen.ReadBack = readBack
		now := began.Add(time.Second)
		start := lifecycle.Decide(lt, policy.Rules{}, seen, now).Status.Steps[0].StartTime
		if start == nil || start.Sub(now) != want {
			t.Errorf("a status is read back after %v: the step begins at %v, want %v ahead", readBack, start, want)
		}
	}
}
