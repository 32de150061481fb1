//go:build !race

package attack

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// A hit waits for room that the target leaves; what the generator is behind is no such wait.
func TestRoomThatComesWithoutARequestThatEnds(t *testing.T) {
	still := time.Second // for how long the process stands still while there is none
	for name, tt := range map[string]struct {
		before             room
		lacking, due, give time.Duration
		want               instant
	}{
		"it lacked when the hit was due":  {newRoom(0), 1000 * ms, 1200 * ms, 3 * time.Second, instant{2 * time.Second, 2 * time.Second}},
		"the hit found none":              {newRoom(0), 1000 * ms, 1000 * ms, 3 * time.Second, instant{2 * time.Second, 2 * time.Second}},
		"before it was due":               {newRoom(0), 1000 * ms, 4000 * ms, 3500 * ms, instant{2500 * ms, 4 * time.Second}},
		"the process only stood still":    {newRoom(0), 1000 * ms, 1000 * ms, 2 * time.Second, instant{1000 * ms, 1000 * ms}},
		"the generator was behind":        {newRoom(0), 5000 * ms, 1000 * ms, 6100 * ms, instant{5100 * ms, 1100 * ms}},
		"and the target left none before": {room{since: instant{4 * time.Second, 3 * time.Second}}, 5000 * ms, 1000 * ms, 6100 * ms, instant{5100 * ms, 3100 * ms}},
		"before the window":               {newRoom(3 * time.Second), -2500 * ms, -2500 * ms, -1000 * ms, instant{-2 * time.Second, -2 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			r := tt.before
			r.lack(tt.lacking, time.Hour, 4, full, false)
			if at := r.give(tt.give, time.Hour+still, tt.due); at != tt.want.measured || r.take(5) != tt.want || r.lacks {
				t.Errorf("room since %v, from %v on; want %v", r.since, at, tt.want)
			}
		})
	}
}

// sharedArrivals are arrivals of which few find room on the connections that they share.
func sharedArrivals(streams int, warmUp time.Duration) simulated {
	step := arrivalsStep(200e6, idealWindow)
	step.WarmUp = warmUp
	return simulated{step: step, streams: streams, serve: always(10 * ms), times: []time.Duration{25 * ms, time.Second}}
}

// What waits for room before the window does not make those of the window late.
func TestRoomThatIsLackedInTheWarmUp(t *testing.T) {
	s := sharedArrivals(1, 5*time.Second)
	s.serve = func(_ int, h *hit) (time.Duration, int) {
		if h.sent < -3*time.Second {
			return 500 * ms, 200
		}
		return ms, 200
	}
	m, ends := s.run(t)
	for _, e := range ends {
		if e.idealSent != e.sent {
			t.Fatalf("the hit that is due at %v is sent at %v, ideally at %v", e.due, e.sent, e.idealSent)
		}
	}
	if q := &m.Requests[0]; q.IdealOnTime[0] != q.OnTime[0] || q.OnTime[0] != q.Sent {
		t.Errorf("%d on time, ideally %d; want all %d", q.OnTime[0], q.IdealOnTime[0], q.Sent)
	}
}

// A target that leaves no room makes what waits no load of another kind, however long it does.
func TestHitsWaitForRoomThatATargetDoesNotLeave(t *testing.T) {
	s := sharedArrivals(1, 0) // which is half of what it would have to take
	m, _ := s.run(t)
	if q := &m.Requests[0]; q.Displaced != 0 || m.UnsentByGenerator != 0 || m.UnsentWithoutRoom < m.Due/2-1 || q.Ideal.Max() != q.Response.Max() {
		t.Errorf("%d displaced, %d of %d unsent without room, %d by the generator, up to %v, ideally %v",
			q.Displaced, m.UnsentWithoutRoom, m.Unsent, m.UnsentByGenerator, q.Response.Max(), q.Ideal.Max())
	}
}

// While a worker stands still, what had no room a moment before finds it when the answer comes,
// not when it is read.
func TestHitsDoNotWaitForRoomWhileTheirWorkerStandsStill(t *testing.T) {
	s := sharedArrivals(4, 0)
	s.serve = func(_ int, h *hit) (time.Duration, int) {
		if h.sent >= 9990*ms && h.sent < 10*time.Second+5*ms {
			return 30 * ms, 200 // all room is taken when the worker stops
		}
		return 10 * ms, 200
	}
	s.runs = stillFrom(10*time.Second+6*ms, 14*time.Second)
	m, ends := s.run(t)
	var first simulatedEnd
	for _, e := range ends {
		if e.due >= 10*time.Second+6*ms && (first.due == 0 || e.due < first.due) {
			first = e
		}
	}
	if first.idealSent > 10*time.Second+50*ms || first.sent != 14*time.Second {
		t.Errorf("the first hit after it is due at %v, ideally sent at %v, sent at %v", first.due, first.idealSent, first.sent)
	}
	if q := &m.Requests[0]; q.Displaced < 700 || q.Ideal.Max() > 60*ms {
		t.Errorf("%d displaced, up to %v ideally; want those that were due in 3.8 s, and 40ms at most", q.Displaced, q.Ideal.Max())
	}
	// To the end of the window: the generator does not send what is left.
	s.runs = stillFrom(10*time.Second+6*ms, 25*time.Second)
	if m, _ := s.run(t); m.UnsentByGenerator != m.Unsent || m.Unsent < 1900 {
		t.Errorf("%d unsent, %d by the generator; want all that were due in 10 s", m.Unsent, m.UnsentByGenerator)
	}
}

// A target that answers nothing takes all connections that a worker can have. One that answers
// takes as many only if the worker can have too few.
func TestHitsThatFindAllConnectionsTaken(t *testing.T) {
	for name, tt := range map[string]struct {
		serve       func(int, *hit) (time.Duration, int)
		timeout     time.Duration
		rate        pace.Rate
		connections int
		target      bool
	}{
		"by a target that is silent":         {silentFrom(2*time.Second, 10*ms), 10 * time.Second, 200e6, 500, true},
		"until after the window":             {silentFrom(2*time.Second, 10*ms), 30 * time.Second, 200e6, 500, true},
		"by one that answers in a long time": {always(8 * time.Second), 10 * time.Second, 200e6, 500, false},
		"of which there is one":              {always(ms), 10 * time.Second, 20000e6, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := simulated{step: arrivalsStep(tt.rate, idealWindow), serve: tt.serve, timeout: tt.timeout, connections: tt.connections}
			m, _ := s.run(t)
			q := &m.Requests[0]
			if m.Unsent < 500 {
				t.Fatalf("%d unsent", m.Unsent)
			}
			byTarget := q.Displaced == 0 && m.UnsentByGenerator == 0 && m.UnsentWithoutRoom == m.Unsent
			byGenerator := m.UnsentByGenerator == m.Unsent && m.UnsentWithoutRoom == 0
			if byTarget != tt.target || byGenerator == tt.target {
				t.Errorf("%d displaced, %d unsent, %d without room, %d by the generator", q.Displaced, m.Unsent, m.UnsentWithoutRoom, m.UnsentByGenerator)
			}
			if tt.target && q.Outcomes[measure.Timeout]+q.Outcomes[measure.Unfinished] < 500 {
				t.Errorf("%v", outcomes(*q))
			}
		})
	}
}
