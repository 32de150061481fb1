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
	}{
		"a due time in the past":                  {left: -time.Second},
		"a sleep that is exact":                   {left: time.Second},
		"one that is interrupted":                 {left: time.Second, sleep: func(d time.Duration) time.Duration { return d / 3 }},
		"a due time nearer than the shortest nap": {left: time.Microsecond},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				due := time.Now().Add(tt.left)
				sleep := func(d time.Duration) {
					if tt.sleep != nil {
						d = tt.sleep(d)
					}
					<-time.After(d) // the bubble's time: no real waiting
				}
				if !Wait(due, nil, sleep) {
					t.Error("Wait = false, want true")
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
