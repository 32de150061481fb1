package pace

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWait(t *testing.T) {
	tests := map[string]struct {
		left  time.Duration
		sleep func(d time.Duration) time.Duration
		naps  int // at most
	}{
		"a due time in the past":  {left: -time.Second},
		"now":                     {},
		"a sleep that is exact":   {left: time.Second, naps: 100},
		"one that is interrupted": {left: time.Second, sleep: func(d time.Duration) time.Duration { return d / 3 }, naps: 320},
		"a due time nearer than the shortest nap": {left: time.Microsecond, naps: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				due, naps := time.Now().Add(tt.left), 0
				sleep := func(d time.Duration) {
					naps++
					if tt.sleep != nil {
						d = tt.sleep(d)
					}
					<-time.After(d) // the bubble's time: no real waiting
				}
				if !Wait(due, nil, sleep) {
					t.Error("Wait = false, want true")
				}
				if naps > tt.naps {
					t.Errorf("%d naps, want %d at most", naps, tt.naps)
				}
				if now := time.Now(); now.Before(due) {
					t.Errorf("returned %v early", due.Sub(now))
				} else if tt.left > 0 && now.Sub(due) > shortestNap {
					t.Errorf("returned %v late", now.Sub(due))
				}
			})
		})
	}
}

func TestWaitStops(t *testing.T) {
	stop := make(chan struct{})
	naps := 0
	sleep := func(d time.Duration) {
		if d > longestNap {
			t.Errorf("a nap of %v, longer than %v", d, longestNap)
		}
		if naps++; naps == 3 {
			close(stop)
		}
	}
	if Wait(time.Now().Add(time.Hour), stop, sleep) {
		t.Error("Wait = true, want false: it was stopped")
	}
	if naps != 3 {
		t.Errorf("%d naps, want 3", naps)
	}
}

func TestWaitIsNeverEarly(t *testing.T) {
	sleep := Precise()
	for range 20 {
		due := time.Now().Add(300 * time.Microsecond)
		Wait(due, nil, sleep)
		if now := time.Now(); now.Before(due) {
			t.Errorf("%v early", due.Sub(now))
		}
	}
}

// A sleep that returned at once would be corrected by Wait, and keep a processor
// busy: it would take some 10,000 of them.
func TestPreciseSleeps(t *testing.T) {
	sleep, naps := Precise(), 0
	Wait(time.Now().Add(5*longestNap), nil, func(d time.Duration) { naps++; sleep(d) })
	if naps > 50 {
		t.Errorf("%d naps, want 5 and a few that are corrected", naps)
	}
}

// To sleep for no time is to return, not to wait for what never comes.
func TestPreciseReturnsAtOnce(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		sleep := Precise()
		sleep(0)
		sleep(-time.Second)
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("it sleeps for ever")
	}
}
