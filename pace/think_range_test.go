package pace

import (
	"testing"
	"time"
)

func TestThinkTimesAreARange(t *testing.T) {
	for name, tc := range map[string]struct {
		think Think
		valid bool
		none  bool
		mean  time.Duration
	}{
		"none":           {Think{}, true, true, 0},
		"from none":      {Think{Longest: 3 * time.Second}, true, false, 1500 * time.Millisecond},
		"always as long": {Think{Shortest: time.Second, Longest: time.Second}, true, false, time.Second},
		"a range":        {Think{Shortest: time.Second, Longest: 3 * time.Second}, true, false, 2 * time.Second},
		"the wrong way":  {Think{Shortest: 2, Longest: 1}, false, false, 1},
		"negative":       {Think{Shortest: -1, Longest: 1}, false, false, 0},
	} {
		if err := tc.think.Check(); (err == nil) != tc.valid {
			t.Errorf("%s: %v", name, err)
		}
		if tc.think.IsNone() != tc.none {
			t.Errorf("%s is none: %v", name, tc.think.IsNone())
		}
		if got := tc.think.Mean(); tc.valid && got != tc.mean {
			t.Errorf("%s: a mean of %v, want %v", name, got, tc.mean)
		}
	}
}
