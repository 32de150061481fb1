package sample

import (
	"testing"
	"time"
)

func TestClip(t *testing.T) {
	for _, tt := range [][4]Level{{1, 2, 3, 2}, {2, 1, 3, 2}, {4, 2, 3, 3}} {
		if got := Clip(tt[0], tt[1], tt[2]); got != tt[3] {
			t.Errorf("%v: %d", tt, got)
		}
	}
}

func TestSum(t *testing.T) {
	if sum, n := Sum([]float64{1, 2, 3}, func(x float64) bool { return x == 2 }); sum != 4 || n != 2 {
		t.Errorf("%v of %d", sum, n)
	}
}

func TestHalvings(t *testing.T) {
	for n, want := range []int{0, 0, 1, 1, 2} {
		if got := Halvings(n); got != want {
			t.Errorf("%d: %d", n, got)
		}
	}
}

func TestIsOver(t *testing.T) {
	if over, err := IsOver(time.Hour, nil); !over || err != nil {
		t.Error("an hour is not over")
	}
	if over, err := IsOver(time.Minute, nil); over || err != nil {
		t.Error("a minute is over")
	}
}
