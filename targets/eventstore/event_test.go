package eventstore

import (
	"strings"
	"testing"
	"time"
)

var testTime = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

func TestEventValidate(t *testing.T) {
	tests := map[string]struct {
		event Event
		want  string
	}{
		"usual":                  {event: Event{Type: "order.created", Data: []byte("{}"), Timestamp: testTime}},
		"without data and time":  {event: Event{Type: "größer als"}},
		"as large as can be":     {event: Event{Type: strings.Repeat("x", 255), Data: make([]byte, MaxData)}},
		"no type":                {Event{}, "type is missing: name the kind of event"},
		"a type too long":        {Event{Type: strings.Repeat("x", 256)}, "type has 256 bytes: use at most 255"},
		"a type with a newline":  {Event{Type: "a\nb"}, "type has a character that cannot be printed: use letters, digits and punctuation"},
		"a type of broken UTF-8": {Event{Type: "\xff"}, "type has a character that cannot be printed: use letters, digits and punctuation"},
		"data too large":         {Event{Type: "a", Data: make([]byte, MaxData+1)}, "data has 1048577 bytes: use at most 1048576"},
		"data of broken UTF-8":   {Event{Type: "a", Data: []byte("\"\xff\"")}, "data is not UTF-8"},
		"the first year":         {event: Event{Type: "a", Timestamp: time.Date(1700, time.January, 1, 0, 0, 0, 0, time.UTC)}},
		"the last year":          {event: Event{Type: "a", Timestamp: time.Date(2200, time.December, 31, 23, 59, 59, 0, time.UTC)}},
		"too long ago":           {Event{Type: "a", Timestamp: testTime.AddDate(-400, 0, 0)}, "timestamp is in the year 1626: use 1700 to 2200"},
		"too far ahead":          {Event{Type: "a", Timestamp: testTime.AddDate(400, 0, 0)}, "timestamp is in the year 2426: use 1700 to 2200"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := tc.event.Validate(); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("Validate() = %q, want %q", got, tc.want)
			}
		})
	}
}

// The years that are accepted are those whose nanoseconds fit.
func TestYearRangeFitsNanoseconds(t *testing.T) {
	for _, year := range []int{minYear, maxYear} {
		at := time.Date(year, time.June, 15, 1, 2, 3, 4, time.UTC)
		if got := time.Unix(0, at.UnixNano()); !got.Equal(at) {
			t.Errorf("%v becomes %v", at, got)
		}
	}
}
