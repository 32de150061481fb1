package main

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestMedianIsOfTheMiddle(t *testing.T) {
	tests := map[string]struct {
		values []float64
		want   float64
	}{
		"one":      {[]float64{3}, 3},
		"odd":      {[]float64{9, 1, 5}, 5},
		"even":     {[]float64{4, 1, 3, 2}, 2.5},
		"an outer": {[]float64{1, 1e9, 2}, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "median", tt.want, median(tt.values))
		})
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
	if got := ratio([]float64{6, 2, 40}, []float64{1, 2, 20}); got != 2 { // that of the medians is 3
		t.Errorf("ratio = %v, want 2", got)
	}
	if got := ratio(nil, []float64{1}); !math.IsNaN(got) {
		t.Errorf("the ratio of nothing is %v", got)
	}
}

func TestQuantilesAreByNearestRank(t *testing.T) {
	thousand := make([]time.Duration, 1000)
	for i := range thousand {
		thousand[i] = time.Duration(i + 1)
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.001: 1, 0.5: 500, 0.5001: 501, 0.99: 990, 0.999: 999, 1: 1000} {
		same.As(t, fmt.Sprintf("nearestRank(%v)", q), want, nearestRank(thousand, q))
	}
	same.As(t, "the rank of nothing", 0, nearestRank(nil, 0.5))
}

func TestCostsAreByRequest(t *testing.T) {
	s := sample{
		counters:  groundtruth.Counters{Requests: 1001, First: 5e9, Last: 7e9, PeakInFlight: 1024},
		generator: process.Usage{CPU: 2 * time.Second, PeakRSS: 3 << 20},
		server:    process.Usage{CPU: time.Second},
	}
	for what, got := range map[string][2]float64{
		"rate":             {s.rate(), 500},
		"generator's cost": {s.generatorCost(), 2e6 / 1001.},
		"server's cost":    {s.serverCost(), 1e6 / 1001.},
		"generator's":      {s.generatorCores(), 1},
		"server's":         {s.serverCores(), 0.5},
		"megabytes":        {s.megabytes(), 3 * 1.048576},
		"per in flight":    {s.perInFlight(), 3},
	} {
		if math.Abs(got[0]-got[1]) > 1e-9 {
			t.Errorf("%s is %v, want %v", what, got[0], got[1])
		}
	}
	var none sample
	if none.rate() != 0 || none.generatorCost() != 0 || none.generatorCores() != 0 || none.perInFlight() != 0 {
		t.Error("a sample without requests has figures")
	}
}

func TestArrivalsAreComparedSecondBySecond(t *testing.T) {
	const start = int64(1e12)
	at := func(number int64, afterStart time.Duration) groundtruth.Record {
		return groundtruth.Record{Number: number, Received: start + int64(afterStart)}
	}
	s := schedule{start: start, perSecond: 2, seconds: 2}
	tests := map[string]struct {
		records []groundtruth.Record
		want    arrived
	}{
		"in time": {
			[]groundtruth.Record{at(0, 0), at(1, 501*time.Millisecond), at(2, time.Second), at(3, 1999*time.Millisecond)},
			arrived{},
		},
		"one early": {
			[]groundtruth.Record{at(0, 0), at(1, 499*time.Millisecond), at(2, time.Second), at(3, 1999*time.Millisecond)},
			arrived{early: 1},
		},
		"one in the wrong second": {
			[]groundtruth.Record{at(0, 0), at(1, 1001*time.Millisecond), at(2, time.Second), at(3, 1999*time.Millisecond)},
			arrived{worst: 50},
		},
		"one after the end": {
			[]groundtruth.Record{at(0, 0), at(1, 600*time.Millisecond), at(2, time.Second), at(3, 2*time.Second)},
			arrived{worst: 50},
		},
		"none": {nil, arrived{worst: 100}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "compare", tt.want, s.compare(tt.records), cmp.AllowUnexported(arrived{}))
		})
	}
}

// Of a stall, requests wait the longer the earlier in it they were due.
func TestStallsDelayWhatWasDueEarlierByMore(t *testing.T) {
	o := observed{start: 1e12, counters: groundtruth.Counters{Stalls: []groundtruth.Stalled{{Span: groundtruth.Span{From: 1e12 + 1e9, To: 1e12 + 2e9}}}}}
	got := stalled(o, 4*time.Second)
	if len(got) != 4*perSecond {
		t.Fatalf("%d response times, want %d", len(got), 4*perSecond)
	}
	for q, want := range map[float64]time.Duration{
		0: 0, 0.5: 0, 0.75: 0, 0.87525: 501 * time.Millisecond, 0.99: 960 * time.Millisecond, 1: time.Second,
	} {
		same.As(t, fmt.Sprintf("quantile %v", q), want, nearestRank(got, q))
	}
}

// After a stall, requests wait for the processor time that the server uses until it has
// answered them.
func TestWaitsLastUntilTheServerHasCaughtUp(t *testing.T) {
	const ms = int64(time.Millisecond)
	stalls := []groundtruth.Stalled{{Span: groundtruth.Span{From: 1000 * ms, To: 2000 * ms}, Processor: 70 * ms}}
	tests := map[string]struct{ due, used, want int64 }{
		"due before it":                       {due: 999, used: 71, want: 0},
		"due at its beginning":                {due: 1000, used: 72, want: 1002},
		"due at its end":                      {due: 1999, used: 90, want: 21},
		"due before all that waits is done":   {due: 2005, used: 91, want: 16},
		"due after that":                      {due: 3000, used: 110, want: 0},
		"of a server that does not record it": {due: 1500, used: 0, want: 500},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "time that it takes", time.Duration(tt.want*ms), waited(stalls, tt.due*ms, tt.used*ms))
		})
	}
}

func TestTimesOfAServerAreSortedAndOfWhatItAnswered(t *testing.T) {
	got := held([]groundtruth.Record{{Received: 10, Answered: 40}, {Received: 20}, {Received: 30, Answered: 31}})
	if len(got) != 2 || got[0] != 1 || got[1] != 30 {
		t.Errorf("held = %v, want [1 30]", got)
	}
}

// By the server's clock, a response time begins when the request was due and ends
// when its reply was written; an unanswered request has none.
func TestResponsesCountFromWhenTheyWereDue(t *testing.T) {
	const start, ms = int64(1e12), int64(time.Millisecond)
	record := func(number, answered int64) groundtruth.Record {
		return groundtruth.Record{Number: number, Received: start + answered, Answered: start + answered}
	}
	o := observed{start: start, records: []groundtruth.Record{
		record(2, 7*ms), record(0, ms), {Number: 1, Received: start}, record(1000, 1000*ms),
	}}
	want := []time.Duration{0, time.Millisecond, 5 * time.Millisecond}
	same.As(t, "answered", want, answered(o))
}
