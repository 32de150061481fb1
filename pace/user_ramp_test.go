package pace

import (
	"math"
	"slices"
	"testing"
	"testing/quick"
	"time"
)

func TestSpansOfARamp(t *testing.T) {
	up, down := UserRamp{From: 2, To: 4, Length: 8 * time.Second}, UserRamp{From: 4, To: 2, Length: 8 * time.Second}
	for user, want := range map[int64][2]time.Duration{
		0: {Forever, 8 * time.Second}, 1: {Forever, 8 * time.Second},
		2: {2 * time.Second, 8 * time.Second}, 3: {6 * time.Second, 8 * time.Second},
	} {
		if begin, end := up.Span(user); begin != want[0] || end != want[1] {
			t.Errorf("user %d of %+v takes part from %v to %v, want %v", user, up, begin, end, want)
		}
	}
	for user, want := range map[int64]time.Duration{0: 8 * time.Second, 1: 8 * time.Second, 2: 6 * time.Second, 3: 2 * time.Second} {
		if begin, end := down.Span(user); begin != Forever || end != want {
			t.Errorf("user %d of %+v takes part from %v to %v, want %v", user, down, begin, end, want)
		}
	}
}

// At any time as many users take part as the line says, rounded to the nearest.
func TestUsersOfARampFollowTheLine(t *testing.T) {
	property := func(from, to uint8, millis, at uint16) bool {
		r := UserRamp{From: int64(from) + 1, To: int64(to) + 1, Length: time.Duration(millis)*time.Millisecond + time.Second}
		when := time.Duration(float64(r.Length) * float64(at) / math.MaxUint16)
		active := 0
		for user := range r.Most() {
			if begin, end := r.Span(user); begin <= when && when < end {
				active++
			}
		}
		if when == r.Length {
			return active == 0
		}
		line := float64(r.From) + float64(r.To-r.From)*float64(when)/float64(r.Length)
		return math.Abs(float64(active)-line) <= 0.5+1e-6
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
}

// The largest ramps that the API allows stay in order.
func TestTheLongestRampIsExact(t *testing.T) {
	r := UserRamp{From: 1, To: 1_000_000, Length: 24 * time.Hour}
	last := time.Duration(-1)
	for user := int64(1); user < r.To; user += 997 {
		begin, _ := r.Span(user)
		if begin <= last || begin >= r.Length {
			t.Fatalf("user %d begins at %v, after one that begins at %v", user, begin, last)
		}
		last = begin
	}
	if begin, _ := r.Span(500_000); begin != 12*time.Hour {
		t.Errorf("the user in the middle begins at %v", begin)
	}
}

func TestRequestsOfARampAreThoseOfItsSchedule(t *testing.T) {
	property := func(from, to uint8, rate, millis, warmUp uint16) bool {
		u := RampedUsers{
			Ramp:   UserRamp{From: int64(from%40) + 1, To: int64(to%40) + 1, Length: time.Duration(millis)*time.Millisecond + time.Second},
			Each:   Rate(rate)*100 + 1,
			WarmUp: time.Duration(warmUp) * time.Microsecond,
		}
		for user := range u.Ramp.Most() {
			begin, end := u.Ramp.Span(user)
			n, last := int64(0), max(begin, -u.WarmUp)-1
			for ; ; n++ {
				due, ok := u.Due(user, n)
				if !ok {
					break
				}
				if due <= last || due >= end || u.Before(user, due) != n || u.Before(user, due+1) != n+1 {
					return false
				}
				last = due
			}
			if u.Before(user, u.Ramp.Length) != n {
				return false
			}
		}
		return true
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

// The area under the line times the rate is what is due, within one request for each two
// users at worst, and in each second within a few.
func TestRequestsOfARampAreTheAreaUnderTheLine(t *testing.T) {
	for _, ramp := range []UserRamp{
		{From: 1, To: 60, Length: time.Minute}, // one more user each second or so, and
		{From: 60, To: 1, Length: time.Minute}, // each sends once in a second
		{From: 10, To: 1000, Length: time.Minute},
		{From: 500, To: 500, Length: time.Minute},
	} {
		u := RampedUsers{Ramp: ramp, Each: 1e6}
		var due []time.Duration
		for user := range ramp.Most() {
			for k := int64(0); ; k++ {
				at, ok := u.Due(user, k)
				if !ok {
					break
				}
				due = append(due, at)
			}
		}
		slices.Sort(due)
		area := float64(ramp.From+ramp.To) / 2 * ramp.Length.Seconds()
		if off := math.Abs(float64(len(due)) - area); off > 2+math.Sqrt(float64(ramp.Most())) {
			t.Errorf("%+v has %d requests, the area is %.0f", ramp, len(due), area)
		}
		// In any tenth of a second of the last 10 s, few more than their share.
		for at := 50 * time.Second; at < ramp.Length; at += 100 * time.Millisecond {
			low, _ := slices.BinarySearch(due, at)
			high, _ := slices.BinarySearch(due, at+100*time.Millisecond)
			users := float64(ramp.From) + float64(ramp.To-ramp.From)*(at.Seconds()/ramp.Length.Seconds())
			if n := float64(high - low); n > users/10+4 {
				t.Errorf("%+v: %v requests in the tenth of a second from %v on, the share is %.1f", ramp, n, at, users/10)
			}
		}
	}
}
