package incluster

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// held are records of so many requests, each held for a time.
func held(n int, d time.Duration) (records []groundtruth.Record) {
	for i := range n {
		at := int64(i+1) * int64(time.Millisecond)
		records = append(records, groundtruth.Record{Received: at, Answered: at + int64(d)})
	}
	return records
}

// Of 1,000 requests in ten seconds a stall of two makes 200 wait, for 2 s, 1.99 s and so on: the ten
// longest waits, one in a hundred of all, are above 1.9 s.
func TestTruthIsThatOfTheSchedule(t *testing.T) {
	test := Test{Rate: 100, Seconds: 10}
	first := int64(7 * time.Second)
	at := func(d time.Duration) int64 { return first + int64(d) }
	stalled := func(from, to time.Duration) groundtruth.Stalled {
		return groundtruth.Stalled{Span: groundtruth.Span{From: at(from), To: at(to)}}
	}
	two := []groundtruth.Stalled{stalled(4*time.Second, 6*time.Second)}
	slow := held(1000, 5*time.Millisecond)
	for i := range 20 { // of 1,000, which is more than one in a hundred
		slow[i*50].Answered += int64(time.Second)
	}
	tests := map[string]struct {
		stalls  []groundtruth.Stalled
		records []groundtruth.Record
		want    time.Duration
	}{
		"no stall":                     {records: held(1000, 5*time.Millisecond), want: 5 * time.Millisecond},
		"a stall":                      {stalls: two, records: held(1000, 5*time.Millisecond), want: 1905 * time.Millisecond},
		"half was sent":                {stalls: two, records: held(500, 5*time.Millisecond), want: 1905 * time.Millisecond},
		"nothing came":                 {stalls: two, want: 1905 * time.Millisecond},
		"the target itself was late":   {records: slow, want: 1005 * time.Millisecond},
		"a stall after the last":       {stalls: []groundtruth.Stalled{stalled(10*time.Second, 12*time.Second)}, records: held(1, 5*time.Millisecond), want: 5 * time.Millisecond},
		"what is not answered is left": {records: append(held(10, 5*time.Millisecond), groundtruth.Record{Received: 1}), want: 5 * time.Millisecond},
		"a stall that few requests saw": {
			stalls: []groundtruth.Stalled{stalled(0, 90*time.Millisecond)}, records: held(1000, 5*time.Millisecond), want: 5 * time.Millisecond,
		},
	}
	for name, tt := range tests {
		same.As(t, name, tt.want, trueP99(test, first, tt.stalls, tt.records))
	}
}
