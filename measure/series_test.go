package measure

import (
	"testing"
	"time"
)

func TestPointsAreWholeSeconds(t *testing.T) {
	for window, want := range map[time.Duration]struct {
		width  time.Duration
		points int
	}{
		-time.Hour:                    {time.Second, 2},
		0:                             {time.Second, 2},
		time.Nanosecond:               {time.Second, 2},
		time.Second:                   {time.Second, 2},
		1500 * time.Millisecond:       {time.Second, 3},
		30 * time.Second:              {time.Second, 31},
		600 * time.Second:             {time.Second, 601},
		600*time.Second + 1:           {2 * time.Second, 302},
		24 * time.Hour:                {144 * time.Second, 601},
		24*time.Hour + 30*time.Second: {145 * time.Second, 598},
	} {
		if width, points := PointWidth(window), Points(window); width != want.width || points != want.points {
			t.Errorf("a window of %v has %d points of %v, want %d of %v", window, points, width, want.points, want.width)
		}
	}
}

// Slots follow one another without a gap, and the middle of each is near all of its times.
func TestTimeSlots(t *testing.T) {
	before := 0
	for v := int64(0); v <= int64(Highest/Lowest); v += max(1, v/64) {
		d := time.Duration(v) * Lowest
		slot := TimeSlot(d)
		if slot < before || slot > before+1 {
			t.Fatalf("%v is in slot %d, after slot %d", d, slot, before)
		}
		before = slot
		if off := (timeOf(slot) - d).Abs(); off > d/32 {
			t.Fatalf("slot %d of %v is taken for %v", slot, d, timeOf(slot))
		}
	}
	if last := TimeSlot(Highest); last != TimeSlots-1 || TimeSlot(2*Highest) != last || TimeSlot(-1) != 0 {
		t.Errorf("slots end with %d and %d, and begin with %d; want %d twice, and 0", last, TimeSlot(2*Highest), TimeSlot(-1), TimeSlots-1)
	}
}

// A point's quantiles are those of a histogram, but for the width of its slots.
func TestQuantilesOfAPoint(t *testing.T) {
	var p Point
	h := NewHistogram()
	for i := range 1000 {
		d := time.Duration(i*i) * 10 * time.Microsecond
		h.Record(d)
		p.Outcomes[Success]++
		p.Times[TimeSlot(d)]++
		p.Longest = max(p.Longest, d)
	}
	for _, q := range []float64{0.01, 0.5, 0.95, 0.99, 0.999, 0.9999} {
		want, known := h.Quantile(q)
		got, ok := p.Quantile(q)
		if ok != known || (got-want).Abs() > want/32+Lowest {
			t.Errorf("quantile %v is %v, %v; that of the histogram %v, %v", q, got, ok, want, known)
		}
	}
	if _, ok := (&Point{}).Quantile(0.5); ok {
		t.Error("a point without requests has a median")
	}
}
