package audit

import (
	"strings"
	"testing"
)

func TestEvents(t *testing.T) {
	const tail = `,"type":"single","timestamp":"2026-11-20T12:00:00Z"`
	tests := map[string]struct {
		text string
		last int64 // 0: as many as there are
		n    int64
		err  string
	}{
		"none": {text: `[]`},
		"one beyond the last": {
			text: `[{"position":7,"data":{"id":"a"}},{"position":8,"data":{"id":"b"}}]`, last: 7, n: 2,
			err: "the events end at position 8, the last position is 7",
		},
		"the last is missing": {
			text: `[{"position":7,"data":{"id":"a"}}]`, last: 8, n: 1,
			err: "the events end at position 7, the last position is 8",
		},
		"all are missing": {text: `[]`, last: 8, err: "the events end at position 6, the last position is 8"},
		"three": {
			text: `[{"position":7,"data":{"id":"a"}` + tail + `},{"position":8,"data":{"id":"b","more":1}},{"position":9,"data":{"id":"c"}}]`, n: 3,
		},
		"a gap": {
			text: `[{"position":7,"data":{"id":"a"}},{"position":9,"data":{"id":"b"}}]`, n: 1,
			err: "an event has position 9 where 8 is due: positions are not dense",
		},
		"a position twice": {
			text: `[{"position":7,"data":{"id":"a"}},{"position":7,"data":{"id":"b"}}]`, n: 1,
			err: "an event has position 7 where 8 is due: positions are not dense",
		},
		"the first is missing": {
			text: `[{"position":8,"data":{"id":"a"}}]`,
			err:  "an event has position 8 where 7 is due: positions are not dense",
		},
		"an event twice": {
			text: `[{"position":7,"data":{"id":"a"}},{"position":8,"data":{"id":"a"}}]`, n: 1,
			err: "the event at position 7 is stored again at 8",
		},
		"a stranger": {
			text: `[{"position":7,"data":{}}]`,
			err:  "the event at position 7 has no id: it is none of the load test's",
		},
		"cut off": {
			text: `[{"position":7,"data":{"id":"a"}}`, n: 1,
			err: "the events end after position 7: EOF",
		},
		"cut off in an event": {
			text: `[{"position":7,"data":{"id":"a"}},{"pos`, n: 1,
			err: "read the event after position 7: unexpected EOF",
		},
		"no events": {text: ``, err: "read events: EOF"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			last := tc.last
			if last == 0 {
				last = 6 + tc.n
			}
			n, err := Events(strings.NewReader(tc.text), 7, last)
			if n != tc.n || said(err) != tc.err {
				t.Errorf("Events() = %d, %q; want %d, %q", n, said(err), tc.n, tc.err)
			}
		})
	}
}
