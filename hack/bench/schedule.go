package main

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

// schedule is when requests were due: number n at n/perSecond after the start.
type schedule struct {
	start     int64
	perSecond int64
	seconds   int
}

// arrived is how requests came, against their schedule.
type arrived struct {
	// early is how many came before they were due.
	early int
	// worst is by how much, in percent, the requests that came in some second
	// differ from those that were due in it.
	worst float64
}

func (s schedule) compare(records []groundtruth.Record) (a arrived) {
	came := make([]int64, s.seconds)
	for _, r := range records {
		if r.Received < s.due(r.Number) {
			a.early++
		}
		if i := (r.Received - s.start) / int64(time.Second); i >= 0 && int(i) < s.seconds {
			came[i]++
		}
	}
	for _, n := range came {
		off := 100 * float64(n-s.perSecond) / float64(s.perSecond)
		a.worst = max(a.worst, off, -off)
	}
	return a
}

func (s schedule) due(n int64) int64 { return s.start + n*int64(time.Second)/s.perSecond }
