package groundtruth

import (
	"fmt"
	"slices"
	"testing"
	"testing/quick"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const ms = time.Millisecond

func TestLatencyAt(t *testing.T) {
	tests := map[string]struct {
		latency Latency
		want    map[float64]time.Duration
	}{
		"fixed:5ms":         {Fixed(5 * ms), map[float64]time.Duration{0: 5 * ms, 0.5: 5 * ms, 0.999: 5 * ms}},
		"uniform:10ms:20ms": {Uniform{10 * ms, 20 * ms}, map[float64]time.Duration{0: 10 * ms, 0.5: 15 * ms, 0.75: 17500 * time.Microsecond}},
		// z is 1.2816 at 0.9 and 2.3263 at 0.99.
		"lognormal:100ms:0.5":    {LogNormal{100 * ms, 0.5}, map[float64]time.Duration{0: 0, 0.5: 100 * ms, 0.9: 189795 * time.Microsecond, 0.99: 320007 * time.Microsecond}},
		"twopoint:1ms:1s:0.0625": {TwoPoint{ms, time.Second, 0.0625}, map[float64]time.Duration{0: ms, 0.9374: ms, 0.9375: time.Second, 0.999: time.Second}},
	}
	for text, tt := range tests {
		t.Run(text, func(t *testing.T) {
			parsed, err := ParseLatency(text)
			if err != nil || parsed != tt.latency {
				t.Errorf("ParseLatency = %#v, %v", parsed, err)
			}
			for u, want := range tt.want {
				if got := tt.latency.At(u); got.Round(time.Microsecond) != want {
					t.Errorf("At(%v) = %v, want %v", u, got, want)
				}
			}
		})
	}
}

func TestParseLatencyRefuses(t *testing.T) {
	tests := map[string]string{
		"":                      "must be fixed, uniform, lognormal or twopoint",
		"normal:1ms:1":          "must be fixed",
		"fixed":                 "invalid duration",
		"fixed:1":               "missing unit",
		"fixed:-1ms":            "-1ms is negative",
		"uniform:1ms":           "a value is missing",
		"lognormal:1ms:x":       "invalid syntax",
		"lognormal:1ms:-1":      "-1 is no positive number",
		"lognormal:1ms:NaN":     "NaN is no positive number",
		"twopoint:1ms:2ms:0:99": `"99" is too much`,
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			_, err := ParseLatency(text)
			wantError(t, err, want)
		})
	}
}

// An answer never comes before its latency has passed, and the server's own
// records say so.
func TestLatencyIsKept(t *testing.T) {
	s := start(t, Config{Record: 100, Routes: map[string]Route{
		"":  {Latency: Uniform{From: ms, To: 9 * ms}},
		"b": {Latency: Fixed(2 * ms)},
	}})
	a, b := dial(t, s.Address()), dial(t, s.Address())
	for i := range 10 {
		a.get(fmt.Sprintf("/%d", i))
		b.get(fmt.Sprintf("/b/%d", 100+i))
		a.receive(len(ok64))
		b.receive(len(ok64))
	}
	s.SetLatency(nil)
	a.get("/10")
	a.receive(len(ok64))
	until(t, s, func(c Counters) bool { return c.Answered == 21 })
	for _, r := range s.Records() {
		least := int64(ms)
		switch {
		case r.Number == 10:
			least = 0
		case r.Number >= 100:
			least = int64(2 * ms)
		}
		if took := r.Answered - r.Received; took < least {
			t.Errorf("request %d was answered after %v", r.Number, time.Duration(took))
		}
	}
	want := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109}
	same.As(t, "recorded", want, slices.Sorted(slices.Values(recorded(s))))
}

// The same seed gives the same latencies.
func TestSeed(t *testing.T) {
	draw := func(seed uint64) (list [100]int64) {
		s := start(t, Config{Seed: seed, Routes: map[string]Route{"": {Latency: LogNormal{ms, 1}}}})
		for i := range list {
			list[i] = s.draw(s.other)
		}
		return list
	}
	one := draw(1)
	if again := draw(1); again != one {
		t.Error("one seed gives different latencies")
	}
	if draw(2) == one {
		t.Error("different seeds give the same latencies")
	}
}

func TestRecordsKeepTheLatest(t *testing.T) {
	s := start(t, Config{Record: 3})
	c := dial(t, s.Address())
	for _, path := range []string{"/1", "/2", "/x", "/a/4", "/5?6"} {
		c.get(path)
		c.receive(len(ok64))
	}
	until(t, s, func(c Counters) bool { return c.Answered == 5 })
	for _, r := range s.Records() {
		if r.Answered < r.Received || r.Received == 0 {
			t.Errorf("record %+v", r)
		}
	}
	same.As(t, "recorded", []int64{-1, 4, 5}, recorded(s))
	// An answer to a request whose place was taken by a later one is lost.
	s.answered(0, 1)
	for _, r := range s.Records() {
		if r.Answered == 1 {
			t.Error("an old answer went into a later record")
		}
	}
}

func TestTimersComeInOrder(t *testing.T) {
	inOrder := func(times []int64) bool {
		var h timers
		for _, at := range times {
			h.push(timer{at: at})
		}
		got := make([]int64, 0, len(times))
		for len(h) > 0 {
			got = append(got, h.pop().at)
		}
		slices.Sort(times)
		return slices.Equal(times, got)
	}
	if err := quick.Check(inOrder, nil); err != nil {
		t.Error(err)
	}
}

func TestInstant(t *testing.T) {
	at := Now()
	before, after := Instant(at-int64(time.Hour)), Instant(at+int64(time.Hour))
	if now := time.Now(); !before.Before(now) || !after.After(now) || after.Sub(before) != 2*time.Hour {
		t.Errorf("an hour ago is %v, in an hour is %v", before, after)
	}
}
