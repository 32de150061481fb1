package socket

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestALimitPassesWhereItWasMovedTo(t *testing.T) {
	type move struct{ at, to time.Duration }
	for name, tt := range map[string]struct {
		moves  []move
		passes time.Duration // 0: it does not
		stop   time.Duration // 0: it is not stopped
	}{
		"set":               {moves: []move{{0, 10}}, passes: 10},
		"moved away":        {moves: []move{{0, 10}, {5, 15}, {12, 22}}, passes: 22},
		"moved nearer":      {moves: []move{{0, 10}, {5, 7}}, passes: 7},
		"moved to and fro":  {moves: []move{{0, 10}, {5, 30}, {6, 8}, {7, 20}}, passes: 20},
		"set to the past":   {moves: []move{{5, 3}}, passes: 5},
		"moved after it":    {moves: []move{{0, 10}, {11, 20}}, passes: 10},
		"not set":           {},
		"stopped":           {moves: []move{{0, 10}}, stop: 9},
		"stopped after it":  {moves: []move{{0, 10}}, stop: 11, passes: 10},
		"set after it ends": {moves: []move{{10, 20}}, stop: 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var passed []time.Duration
				l := NewLimit(func() { passed = append(passed, time.Since(began)) })
				for now := range time.Duration(60) {
					for _, m := range tt.moves {
						if m.at == now {
							l.Move(began.Add(m.to))
						}
					}
					if tt.stop > 0 && tt.stop == now && l.Stop() != (tt.passes > 0) {
						t.Errorf("when it is stopped, it has passed: %v", tt.passes == 0)
					}
					<-time.After(1)
					synctest.Wait()
				}
				var want []time.Duration
				if tt.passes > 0 {
					want = append(want, tt.passes)
				}
				if !slices.Equal(passed, want) || l.Stop() != (tt.passes > 0) {
					t.Errorf("it passes at %v, want %v", passed, want)
				}
			})
		})
	}
}

// What had come while the process stood still has time to move it.
func TestALimitWaitsForAProcessThatStoodStill(t *testing.T) {
	for name, tt := range map[string]struct {
		late   time.Duration // by which the process notes it
		moved  time.Duration // to which it is moved then; 0: it is not
		passes time.Duration
	}{
		"in time":                 {late: 0, passes: time.Second},
		"a little late":           {late: stoodStill - 1, passes: time.Second + stoodStill - 1},
		"it stood still":          {late: time.Hour, passes: time.Hour + time.Second + goOnFor},
		"and an event had come":   {late: time.Hour, moved: time.Hour + 2*time.Second, passes: time.Hour + 2*time.Second},
		"moved to another":        {late: time.Hour, moved: time.Hour + time.Second + 10*time.Millisecond, passes: time.Hour + time.Second + 10*time.Millisecond},
		"moved to what is passed": {late: time.Hour, moved: time.Second, passes: time.Hour + time.Second + goOnFor},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var passed time.Duration
				l := NewLimit(func() { passed = time.Since(began) })
				l.Move(began.Add(time.Second))
				l.timer.Stop() // the runtime notes it late
				<-time.After(time.Second + tt.late)
				l.expire(time.Now())
				if tt.moved > 0 {
					l.Move(began.Add(tt.moved))
				}
				<-time.After(time.Minute)
				synctest.Wait()
				if passed != tt.passes {
					t.Errorf("it passes after %v, want %v", passed, tt.passes)
				}
			})
		})
	}
}
