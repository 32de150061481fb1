package groundtruth

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// The machine may suspend the server's thread for longer than a stall: then the
// server records the stall all the same, once.
func TestDelayedStallIsRecorded(t *testing.T) {
	const from, length = int64(time.Millisecond), int64(time.Millisecond)
	first := Now() - int64(time.Hour)
	tests := map[string]struct {
		idle int64 // after the first request
		want []Span
	}{
		"all of it":           {0, []Span{{first + from, first + from + length}}},
		"its end":             {from + length/4, []Span{{first + from + length/4, first + from + length}}},
		"it was over already": {from + length, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &Server{script: []Event{
				{Kind: Resets, From: time.Duration(from), For: time.Duration(length)},
				{Kind: Stall, From: time.Duration(from), For: time.Duration(length)},
				{Kind: Stall, From: 2 * time.Hour, For: time.Hour}, // to come
			}}
			s.counts.first.Store(first)
			l := &loop{server: s}
			l.stall(first + tt.idle)
			l.stall(Now())
			var got []Span
			for _, stall := range s.Counters().Stalls {
				got = append(got, stall.Span)
			}
			same.As(t, "stalls", tt.want, got)
		})
	}
}
