package pace

import (
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWarmed(t *testing.T) {
	warmed := NewWarmed(Rate(2e6), 2*time.Second, Rate(10e6))
	var got []time.Duration
	for i := range int64(7) {
		got = append(got, warmed.Due(i))
	}
	want := []time.Duration{-2e9, -15e8, -1e9, -5e8, 0, 1e8, 2e8}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("due times (-want +got):\n%s", diff)
	}
	counts := map[time.Duration]int64{-2e9: 0, -2e9 + 1: 1, -1: 4, 0: 4, 1: 5, 2e8: 6}
	for at, want := range counts {
		if got := warmed.Before(at); got != want {
			t.Errorf("before %v: %d hits, want %d", at, got, want)
		}
	}
}

// Together the workers have, in the window, the whole of the main schedule,
// however many hits each has in the warm-up.
func TestSharesOfWarmedArrivalsAreTheWholeSchedule(t *testing.T) {
	property := func(rate uint16, workers uint8, millis uint16) bool {
		r, warmUp, window := Rate(rate)*1e4+1, time.Duration(millis)*time.Millisecond, time.Second
		n := int64(workers%7) + 1
		sum := int64(0)
		shares := split(r.Before(window), n)
		for w, warm := range split(r.Before(warmUp), n) {
			s := NewWarmed(Arrivals{r, warm}, warmUp, Arrivals{r, shares[w]})
			if s.Before(-warmUp) != 0 || s.Before(0) != warm.Count {
				return false
			}
			last := -warmUp
			for i := range s.Before(window) {
				if due := s.Due(i); due < last || (due < 0) != (i < warm.Count) {
					return false
				}
				last = s.Due(i)
			}
			sum += s.Before(window) - s.Before(0)
		}
		return sum == r.Before(window)
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestUsersInTheWarmUpAreDueBeforeZero(t *testing.T) {
	cold := Users{Rate: 3e6, Share: Share{First: 1, Stride: 2, Count: 2}, Total: 4}
	warm := cold
	warm.WarmUp = 5 * time.Second
	for n := range int64(20) {
		j, k := cold.Turn(n)
		if got, want := warm.Due(j, k), cold.Due(j, k)-5*time.Second; got != want {
			t.Errorf("request %d is due at %v, want %v", n, got, want)
		}
		if got, want := warm.Before(time.Duration(n)*time.Second), cold.Before(time.Duration(n+5)*time.Second); got != want {
			t.Errorf("before %d s: %d, want %d", n, got, want)
		}
	}
}
