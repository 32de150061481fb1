//go:build !race

package attack

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What was not sent is the generator's fault if it stood still, and not if the users waited
// for the target.
func TestUnsentByTheGenerator(t *testing.T) {
	const users, end = 10, 20 * time.Second
	paced := usersStep(users, PacedUsers{Rate: users * 10e6, Duration: end})
	ramp := rampStep(RampedUsers{From: users, To: users, Each: 10e6, Duration: end})
	for name, step := range map[string]StepShare{"users": paced, "a ramp": ramp, "arrivals": arrivalsStep(users*10e6, end)} {
		t.Run(name, func(t *testing.T) {
			still := stillFrom(16*time.Second, 25*time.Second)
			m, _ := simulated{step: step, serve: always(20 * ms), runs: still}.run(t)
			if m.Unsent < 380 || m.Unsent > 400 || m.UnsentByGenerator != m.Unsent {
				t.Errorf("%d unsent, %d by the generator that stood still; want the same, nearly 400", m.Unsent, m.UnsentByGenerator)
			}
			if name == "arrivals" {
				return
			}
			s := simulated{step: step, serve: silentFrom(16*time.Second, 20*ms)}
			for _, s.runs = range []func(time.Duration) time.Duration{nil, lateUntil(end), stillFrom(2*time.Second, 4*time.Second)} {
				m, _ = s.run(t)
				if m.Unsent < 380 || m.UnsentByGenerator != 0 {
					t.Errorf("%d unsent, %d by the generator; want that many of a target that is silent", m.Unsent, m.UnsentByGenerator)
				}
			}
			// A user sends 2 requests a second at most. Those of 4 s more are what it would
			// have sent.
			s = simulated{step: step, serve: always(500 * ms), runs: still}
			m, _ = s.run(t)
			if want := int64(users * 4 * 2); m.UnsentByGenerator < want-users || m.UnsentByGenerator > want+users || m.Unsent < 10*want {
				t.Errorf("%d unsent, %d by the generator; want about %d", m.Unsent, m.UnsentByGenerator, want)
			}
		})
	}
}

// Of a burst that is cut at its limit, the next request of each user that was free is the
// generator's.
func TestUnsentOfABurst(t *testing.T) {
	const users = 10
	step := usersStep(users, Burst{Requests: 5, Limit: 10 * time.Second})
	for name, tt := range map[string]struct {
		s    simulated
		want int64
	}{
		"the target is silent":       {simulated{step: step, serve: silentFrom(0, 0)}, 0},
		"the generator stands still": {simulated{step: step, serve: always(time.Second), runs: stillFrom(1500*ms, time.Minute)}, users},
	} {
		t.Run(name, func(t *testing.T) {
			tt.s.timeout = time.Minute
			m, _ := tt.s.run(t)
			if m.Unsent < 3*users || m.UnsentByGenerator != tt.want {
				t.Errorf("%d unsent, %d by the generator; want %d", m.Unsent, m.UnsentByGenerator, tt.want)
			}
		})
	}
}

// A step waits for as long as the timeout, so that a slow answer is one, and no answer is a
// timeout; what has waited for less is undecided.
func TestTheDrainDecidesWhatIsInFlight(t *testing.T) {
	const users, end = 5, 20 * time.Second
	silent := func(int, *hit) (time.Duration, int) { return 1000 * time.Hour, 0 }
	for name, tt := range map[string]struct {
		serve     func(int, *hit) (time.Duration, int)
		timeout   time.Duration
		cut       time.Duration
		sent      int64
		outcomes  map[string]int64
		undecided int64
	}{
		"a slow target":                      {always(7 * time.Second), 30 * time.Second, 0, 3 * users, map[string]int64{"success": 3 * users}, 0},
		"no answer":                          {silent, 6 * time.Second, 0, 4 * users, map[string]int64{"timeout": 4 * users}, 0},
		"a timeout beyond the longest drain": {silent, time.Minute, 0, users, map[string]int64{"unfinished": users}, users},
		"a step that was cut":                {silent, 6 * time.Second, 15 * time.Second, 3 * users, map[string]int64{"timeout": 2 * users, "unfinished": users}, users},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := simulated{step: usersStep(users, ClosedUsers{Duration: end}), serve: tt.serve, timeout: tt.timeout, cut: tt.cut}.run(t)
			r := &m.Requests[0]
			if diff := cmp.Diff(tt.outcomes, outcomes(*r)); diff != "" || r.Sent != tt.sent || r.Undecided != tt.undecided {
				t.Errorf("%d sent, %d undecided; want %d and %d; outcomes (-want +got):\n%s", r.Sent, r.Undecided, tt.sent, tt.undecided, diff)
			}
		})
	}
}

// What is sent within the grace after the window has its whole timeout, too.
func TestWhatIsSentLastHasItsWholeTimeout(t *testing.T) {
	step := arrivalsStep(100e6, time.Second)
	s := simulated{step: step, serve: silentFrom(0, 0), timeout: 2 * time.Second, runs: stillFrom(995*ms, 1005*ms)}
	m, ends := s.run(t)
	if last := ends[len(ends)-1]; last.sent < time.Second {
		// The last request is due at 990 ms: it is sent on time.
		s.runs = stillFrom(985*ms, 999999*time.Microsecond)
		m, _ = s.run(t)
	}
	same.As(t, "outcomes", map[string]int64{"timeout": 100}, outcomes(m.Requests[0]))
}

// stoodFrom is for how long a process has stood still that did so between two instants.
func stoodFrom(from, until time.Duration) func(time.Duration) time.Duration {
	return func(t time.Duration) time.Duration { return within(from, t, until) }
}

// A request that timed out while its worker did not run for more than a tenth of the timeout
// is excused, and no user counts as waiting for it.
func TestTimeoutsOfAWorkerThatDidNotRunAreExcused(t *testing.T) {
	const timeout = time.Second
	for name, tt := range map[string]struct {
		from, until time.Duration
		excused     int64
		waited      time.Duration
	}{
		"it runs":                        {0, 0, 0, 2 * time.Second},
		"for a moment":                   {300 * ms, 390 * ms, 0, 2 * time.Second},
		"for a notable part":             {300 * ms, 410 * ms, 1, time.Second},
		"for longer than the timeout":    {300 * ms, 2500 * ms, 1, 0},
		"when the timeout nearly passed": {950 * ms, 2500 * ms, 0, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := simulated{step: usersStep(1, ClosedUsers{Duration: 2 * time.Second}), serve: silentFrom(0, 0), timeout: timeout}
			if tt.until > 0 {
				s.runs, s.stood = stillFrom(tt.from, tt.until), stoodFrom(tt.from, tt.until)
			}
			m, _ := s.run(t)
			r := &m.Requests[0]
			if r.Excused != tt.excused || m.Waited != tt.waited || r.Outcomes[measure.Timeout] != r.Sent {
				t.Errorf("%d of %d excused, waited for %v; want %d, %v", r.Excused, r.Sent, m.Waited, tt.excused, tt.waited)
			}
			if longest := r.Ideal.Max(); longest > timeout+timeout/500 {
				t.Errorf("a timeout took ideally %v", longest)
			}
		})
	}
}

// What is unfinished when its worker did not run is undecided, too, however long ago it was
// sent.
func TestUnfinishedOfAWorkerThatDidNotRunIsUndecided(t *testing.T) {
	x := &Execution{timeouts: []time.Duration{time.Second}, stood: func(time.Duration) time.Duration { return 0 }}
	for stood, want := range map[time.Duration]bool{0: false, 100 * ms: false, 101 * ms: true} {
		x.stood = func(time.Duration) time.Duration { return time.Minute + stood }
		res := result{received: time.Second, outcome: measure.Unfinished}
		if x.judgeWait(&hit{stalled: time.Minute}, &res); res.undecided != want {
			t.Errorf("stood still for %v: undecided %v", stood, res.undecided)
		}
	}
}

// So is what timed out while its worker was throttled to half of each period.
func TestTimeoutsOfAThrottledWorkerAreExcused(t *testing.T) {
	for ran, excused := range map[time.Duration]bool{0: false, 50 * ms: true, 90 * ms: false} {
		f := &simulatedFault{until: time.Hour, ran: ran}
		s := simulated{step: usersStep(5, ClosedUsers{Duration: 2 * time.Second}), serve: silentFrom(0, 0), timeout: 200 * ms, runs: f.lateness(), stood: f.stood}
		m, _ := s.run(t)
		if r := &m.Requests[0]; (r.Excused == r.Sent) != excused || (r.Excused == 0) == excused {
			t.Errorf("run for %v of %v: %d of %d excused", ran, throttlePeriod, r.Excused, r.Sent)
		}
	}
}
