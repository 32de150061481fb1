package results_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
)

// outage is a time in which a target does not answer one of so many requests; those are answered
// at its end, or never.
type outage struct {
	from, to time.Duration
	part     int
	never    bool
}

// simulated is a step whose target answers within exponential times of 5 ms, but for outages and
// a slow one of each slowEach requests.
type simulated struct {
	load     v1beta1.StepLoad
	window   time.Duration
	requests int // of users together that do not wait for replies
	slowEach int
	outages  []outage
}

// run returns what a worker would have measured of 20 s, or of what there is of them.
func (s simulated) run() *measure.Measurement {
	const whole = 20 * time.Second
	m, random := measure.NewMeasurement(1), rand.New(rand.NewPCG(1, 2))
	m.Window, m.Timeline = s.window, &measure.Timeline{}
	m.UserTime = time.Duration(s.load.MostUsers()) * s.window
	users := int(s.load.Users)
	waits := s.requests == 0
	for n, sent := 0, make([]time.Duration, max(users, 1)); ; n++ {
		at, user := sent[n%len(sent)], n%len(sent)
		if !waits {
			at = time.Duration((float64(n) + 0.5) / float64(s.requests) * float64(whole))
		}
		if at >= s.window && !waits || n >= 400*len(sent) && waits {
			return m
		}
		if at >= s.window {
			continue
		}
		took := time.Duration(random.ExpFloat64() * float64(5*time.Millisecond))
		if waits {
			took += 50 * time.Millisecond
		}
		if s.slowEach > 0 && n%s.slowEach == s.slowEach-1 {
			took += 700 * time.Millisecond
		}
		end, answered := at+took, true
		for _, o := range s.outages {
			if end >= o.from && at < o.to && n%o.part == 0 {
				end, answered = max(end, o.to)+time.Duration(n%50)*time.Millisecond, !o.never
			}
		}
		sent[user] = end
		s.record(m, at, end, answered)
	}
}

func (s simulated) record(m *measure.Measurement, at, end time.Duration, answered bool) {
	const slot = 20 * time.Second / measure.TimelineSlots
	r := &m.Requests[0]
	m.Due++
	r.Sent++
	for i := at / slot; i < end/slot && i < s.window/slot; i++ {
		m.Timeline.Outstanding[i]++
	}
	if end >= s.window {
		r.Outcomes[measure.Unfinished]++
		r.Undecided++
		m.Waited += s.window - at
		return
	}
	r.Response.Record(end - at)
	r.Service.Record(end - at)
	if !answered {
		r.Outcomes[measure.Timeout]++
		m.Waited += end - at
		return
	}
	r.Expected++
	r.Outcomes[measure.Success]++
	m.Timeline.Answered[end/slot]++
}

// The downtime of loads of all kinds by what their target did.
func TestDowntimeOfOutages(t *testing.T) {
	const whole, second = 20 * time.Second, time.Second
	users := func(n int32) v1beta1.StepLoad { return v1beta1.StepLoad{Users: n, Duration: d(whole)} }
	arrivals := v1beta1.StepLoad{Rate: decimal("200"), Duration: d(whole)}
	ramp := v1beta1.StepLoad{Rate: decimal("200"), RampTo: decimal("201"), Duration: d(whole)}
	paced := v1beta1.StepLoad{Users: 100, RatePerUser: decimal("2"), Duration: d(whole)}
	loads := []struct {
		name string
		simulated
	}{
		{"arrivals", simulated{load: arrivals, window: whole, requests: 4000}},
		{"arrivals, cut at 10s", simulated{load: arrivals, window: whole / 2, requests: 4000}},
		{"arrivals, cut at 2s", simulated{load: arrivals, window: 2 * second, requests: 4000}},
		{"20 users, cut at 1.9s", simulated{load: users(20), window: 1900 * time.Millisecond}},
		{"a ramp", simulated{load: ramp, window: whole, requests: 4000}},
		{"paced users", simulated{load: paced, window: whole, requests: 4000}},
		{"few arrivals", simulated{load: arrivals, window: whole, requests: 300}},
		{"2 users", simulated{load: users(2), window: whole}},
		{"20 users", simulated{load: users(20), window: whole}},
		{"100 users", simulated{load: users(100), window: whole}},
		{"a burst", simulated{load: v1beta1.StepLoad{Users: 20, RequestsPerUser: 100, MaxDuration: d(whole)}, window: 12 * second}},
	}
	many := func(part int) (list []outage) {
		for at := second; at < whole; at += 1500 * time.Millisecond {
			list = append(list, outage{at, at + 400*time.Millisecond, part, false})
		}
		return list
	}
	targets := []struct {
		name     string
		slowEach int
		outages  []outage
	}{
		{"steady", 0, nil},
		{"one of 100 is slow", 100, nil},
		{"silent for 2s", 0, []outage{{4 * second, 6 * second, 1, false}}},
		{"silent at first", 0, []outage{{0, 2 * second, 1, false}}},
		{"silent at last", 0, []outage{{8 * second, whole, 1, false}}},
		{"silent for 300ms", 0, []outage{{4 * second, 4300 * time.Millisecond, 1, false}}},
		{"silent for 150ms", 0, []outage{{400 * time.Millisecond, 550 * time.Millisecond, 1, false}}},
		{"half of it silent for 2s", 0, []outage{{4 * second, 6 * second, 2, false}}},
		{"a third of it silent for 6s", 300, []outage{{3 * second, 9 * second, 3, false}}},
		{"all dropped for 3s", 0, []outage{{4 * second, 7 * second, 1, true}}},
		{"a fifth dropped for 3s", 0, []outage{{4 * second, 7 * second, 5, true}}},
		{"silent for 400ms again and again", 0, many(1)},
		{"half of it so", 0, many(2)},
	}
	var lines strings.Builder
	for _, l := range loads {
		for _, target := range targets {
			s := l.simulated
			s.slowEach, s.outages = target.slowEach, target.outages
			m := s.run()
			m.Health.StalledMax, m.Health.CPUThrottledMax, m.Health.GCPauseMax = 3*time.Millisecond, 5*time.Millisecond, time.Millisecond
			got, ok := results.DowntimeOf(&s.load, m)
			fmt.Fprintf(&lines, "%s, %s: %v to %v of %v, silent %t, known %t\n", l.name, target.name,
				got.Least.Round(time.Microsecond), got.Most.Round(time.Microsecond), got.Window, got.Silent, ok)
		}
	}
	golden.Check(t, filepath.Join("testdata", "downtime.txt"), lines.String())
}
