package loadtest

import (
	"testing"
	"time"
)

// All runs together write 1 MB a second of what is not urgent, and nothing of it while
// what is urgent takes more.
func TestBudget(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	var b budget
	for _, tc := range []struct {
		after time.Duration
		spend int
		want  time.Duration // from then on there is more
	}{
		{0, 0, 0},
		{0, 900_000, 0},
		{0, 100_000, 0},
		{0, 200_000, 200 * time.Millisecond},
		{100 * time.Millisecond, 0, 100 * time.Millisecond},
		{100 * time.Millisecond, 0, 0},
		{0, 10_000_000, 10 * time.Second},
		{-time.Minute, 0, 10 * time.Second}, // a clock that was set back
		{9 * time.Second, 0, time.Second},
		{time.Hour, 1_000_000, 0}, // a second's worth is kept, no more
		{0, 1_000, time.Millisecond},
	} {
		now = now.Add(tc.after)
		b.spend(now, tc.spend)
		if got := b.from(now).Sub(now); got.Round(time.Microsecond) != tc.want {
			t.Errorf("after %v and %d bytes: more in %v, want %v", tc.after, tc.spend, got, tc.want)
		}
	}
}
