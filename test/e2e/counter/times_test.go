package main

import (
	"testing"
	"time"
)

func TestTimesOfAName(t *testing.T) {
	start := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	var x times
	x.answered("a", at(5000), at(5002), 0)
	x.answered("a", at(6000), at(6130), 100*time.Millisecond)
	x.answered("a", at(5500), at(5501), 0)
	x.answered("b", at(60000), at(60001), 0)
	for _, look := range [][2]int{
		{1000, 1500},               // too early for either
		{3900, 4011},               // ends a little after the second before a's first request
		{5000, 5010}, {5010, 5029}, // in time, or nearly so
		{5100, 5130}, {7100, 7210}, // in between, and in the second after its last one
		{7131, 7200}, {30000, 31000}, // too late
		{59000 - 100, 59000 - 100 + 10*5}, // too early for b
	} {
		x.looked(at(look[0]), at(look[1]))
	}
	for name, want := range map[string][2]time.Duration{
		"a": {30 * time.Millisecond, (101 + 20 + 100) * time.Millisecond},
		"b": {time.Millisecond, 0},
		"c": {},
	} {
		if longest, stood := x.of(name); longest != want[0] || stood != want[1] {
			t.Errorf("%s took %s and stood still for %s, want %s and %s", name, longest, stood, want[0], want[1])
		}
	}
}

// A target that has stood still for longer than it keeps still knows what came last.
func TestLatestStallsAreKept(t *testing.T) {
	start := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	var x times
	at := start
	for range 3*mostStalls + 1 {
		x.looked(at, at.Add(2*tick))
		at = at.Add(2 * tick)
	}
	last := at.Add(-15 * time.Minute)
	x.answered("a", last.Add(around), at.Add(-around), 0)
	if _, stood := x.of("a"); stood != 15*time.Minute/2 {
		t.Errorf("it stood still for %s of the last 15 minutes, want half", stood)
	}
	if n := len(x.stalls); n > mostStalls {
		t.Errorf("%d stalls are kept", n)
	}
}
