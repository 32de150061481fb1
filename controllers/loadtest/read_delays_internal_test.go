package loadtest

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// The longest delay of the last minute counts, of the latest 256.
func TestLongestDelay(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	var d delays
	same.As(t, "before the first", 0, d.longest(at))
	d.add(at, time.Second)
	d.add(at.Add(time.Second), 3*time.Second)
	d.add(at.Add(30*time.Second), 2*time.Second)
	for after, want := range map[time.Duration]time.Duration{
		31 * time.Second: 3 * time.Second, 61 * time.Second: 2 * time.Second, 90 * time.Second: 0,
	} {
		if got := d.longest(at.Add(after)); got != want {
			t.Errorf("after %v: %v, want %v", after, got, want)
		}
	}
	for range len(d.ring) {
		d.add(at.Add(30*time.Second), time.Millisecond)
	}
	same.As(t, "after many more", time.Millisecond, d.longest(at.Add(31*time.Second)))
}
