package timer

import (
	"testing"
	"time"
)

// forEachTimer runs a test with each kind of timer that there is.
func forEachTimer(t *testing.T, test func(t *testing.T, timer Timer)) {
	t.Helper()
	for name, timer := range map[string]Timer{"of this system": New(), "portable": newPortableTimer()} {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(timer.Close)
			test(t, timer)
		})
	}
}

// wait fails the test if a timer does not end its wait.
func wait(t *testing.T, timer Timer) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		timer.Wait()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("the wait does not end")
	}
}

func TestTimerWaitsForAsLongAsWasSet(t *testing.T) {
	forEachTimer(t, func(t *testing.T, timer Timer) {
		for range 20 {
			start := time.Now()
			timer.Set(300 * time.Microsecond)
			wait(t, timer)
			if d := time.Since(start); d < 300*time.Microsecond {
				t.Errorf("waited %v, want 300µs", d)
			}
		}
	})
}

func TestTimerThatIsSetToThePastEndsAtOnce(t *testing.T) {
	forEachTimer(t, func(t *testing.T, timer Timer) {
		for _, d := range []time.Duration{0, -time.Second} {
			timer.Set(d)
			wait(t, timer)
		}
	})
}

func TestSetReplacesTheTimeThatWasSet(t *testing.T) {
	forEachTimer(t, func(t *testing.T, timer Timer) {
		timer.Set(time.Nanosecond)
		start := time.Now()
		timer.Set(20 * time.Millisecond)
		wait(t, timer)
		if d := time.Since(start); d < 20*time.Millisecond {
			t.Errorf("waited %v, as was set before", d)
		}
	})
}

func TestSetEndsAWaitThatHasBegun(t *testing.T) {
	forEachTimer(t, func(t *testing.T, timer Timer) {
		timer.Set(time.Hour)
		go timer.Set(0)
		wait(t, timer)
	})
}
