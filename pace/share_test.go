package pace

import (
	"math"
	"slices"
	"testing"
	"testing/quick"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// split divides n numbers between workers as the plan does.
func split(n, workers int64) []Share {
	shares := make([]Share, workers)
	for w := range workers {
		shares[w] = Share{First: w, Stride: workers, Count: (n - w + workers - 1) / workers}
	}
	return shares
}

func TestShareBelow(t *testing.T) {
	s := Share{First: 2, Stride: 3, Count: 3} // 2, 5, 8
	var got []int64
	for n := range int64(16) {
		got = append(got, s.Below(n))
	}
	want := []int64{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3}
	same.As(t, "Below", want, got)
	if got := (Share{First: 0, Stride: 1}).Below(5); got != 0 {
		t.Errorf("an empty share has %d numbers, want 0", got)
	}
	if got := (Share{}).Below(5); got != 0 {
		t.Errorf("no share has %d numbers, want 0", got)
	}
}

func TestShareOf(t *testing.T) {
	for n := range int64(50) {
		for w, want := range split(n, 7) {
			if got := (Share{First: int64(w), Stride: 7, Count: 99}).Of(n); got.Count != max(0, want.Count) || got.First != want.First || got.Stride != 7 {
				t.Errorf("of %d numbers worker %d has %+v, want %+v", n, w, got, want)
			}
		}
	}
	if got := (Share{First: 9, Stride: 3}).Of(2).Count; got != 0 {
		t.Errorf("a share that begins behind the numbers has %d of them", got)
	}
}

// A hit beyond a worker's share is never due.
func TestArrivalsEndWithTheirShare(t *testing.T) {
	a := Arrivals{All: Rate(1e6), Share: Share{First: 1, Stride: 2, Count: 3}} // due at 1, 3 and 5 s
	var got []time.Duration
	for j := range int64(5) {
		got = append(got, a.Due(j))
	}
	want := []time.Duration{time.Second, 3 * time.Second, 5 * time.Second, math.MaxInt64, math.MaxInt64}
	same.As(t, "due times", want, got)
	if n := a.Before(time.Hour); n != 3 {
		t.Errorf("%d are due before the end of an hour, want 3", n)
	}
}

func TestSharesOfArrivalsAreTheWholeSchedule(t *testing.T) {
	whole := func(all Schedule, duration time.Duration, workers uint8) bool {
		total := all.Before(duration)
		var due []time.Duration
		for _, share := range split(total, int64(workers%7)+1) {
			a := Arrivals{All: all, Share: share}
			if a.Before(duration) != share.Count {
				return false
			}
			for j := range share.Count {
				due = append(due, a.Due(j))
			}
		}
		slices.Sort(due)
		for i, d := range due {
			if d != all.Due(int64(i)) || d >= duration {
				return false
			}
		}
		return int64(len(due)) == total
	}
	fixed := func(rate uint16, workers uint8, millis uint16) bool {
		return whole(Rate(rate)*1e4+1, time.Duration(millis%3000+1)*time.Millisecond, workers)
	}
	ramped := func(from, to uint16, workers uint8) bool {
		r := Ramp{From: Rate(from)*1e4 + 1, To: Rate(to)*1e4 + 1, Length: 2 * time.Second}
		return whole(r, r.Length, workers)
	}
	for _, property := range []any{fixed, ramped} {
		if err := quick.Check(property, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestSharesOfUsersAreTheWholeSchedule(t *testing.T) {
	property := func(rate uint16, users, workers uint8, millis uint16) bool {
		total := int64(users%50) + 1
		r := Rate(rate)*1e4 + 1
		duration := time.Duration(millis%3000+1) * time.Millisecond
		seen := map[int64]int{}
		for _, share := range split(total, min(total, int64(workers%7)+1)) {
			u := Users{Rate: r, Share: share, Total: total}
			n := u.Before(duration)
			last := time.Duration(0)
			for i := range n {
				j, k := u.Turn(i)
				due := u.Due(j, k)
				if due >= duration || due < last {
					return false
				}
				last = due
				seen[u.Hit(j, k)]++
			}
			// The next one is not due before t.
			if j, k := u.Turn(n); u.Due(j, k) < duration {
				return false
			}
		}
		for hit := range r.Before(duration) {
			if seen[hit] != 1 {
				return false
			}
		}
		return int64(len(seen)) == r.Before(duration)
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestUsersBeforeGrowsByOneAtEachDueTime(t *testing.T) {
	u := Users{Rate: 7e6, Share: Share{First: 1, Stride: 2, Count: 2}, Total: 5} // users 1 and 3
	for n := range int64(50) {
		j, k := u.Turn(n)
		due := u.Due(j, k)
		if got := u.Before(due); got != n {
			t.Fatalf("before its due time %v: %d requests, want %d", due, got, n)
		}
		if got := u.Before(due + 1); got != n+1 {
			t.Fatalf("after its due time %v: %d requests, want %d", due, got, n+1)
		}
	}
}

func TestDivideUp(t *testing.T) {
	for _, tt := range []struct{ n, by, want int64 }{
		{0, 3, 0}, {1, 3, 1}, {3, 3, 1}, {4, 3, 2}, {math.MaxInt64, 1, math.MaxInt64}, {math.MaxInt64, math.MaxInt64 - 1, 2},
	} {
		if got := DivideUp(tt.n, tt.by); got != tt.want {
			t.Errorf("%d by %d is %d, want %d", tt.n, tt.by, got, tt.want)
		}
	}
}
