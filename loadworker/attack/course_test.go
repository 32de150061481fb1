//go:build !race

package attack

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// The timeline is what the requests say, one by one: due, or sent without a schedule, and
// ended before the end of a slot, however late that was noticed.
func TestTimelineIsWhatTheRequestsSay(t *testing.T) {
	steps := scheduledLoads()
	closed := usersStep(20, ClosedUsers{Duration: idealWindow, Think: fixed(50 * ms)})
	closed.WarmUp = 5 * time.Second
	steps["users without a rate"] = closed
	steps["a ramp of users without"] = rampStep(RampedUsers{From: 2, To: 30, Duration: idealWindow})
	steps["users who are refused"] = usersStep(20, ClosedUsers{Duration: idealWindow})
	steps["a burst"] = usersStep(20, Burst{Requests: 30, Limit: idealWindow})
	for name, step := range steps {
		for _, cut := range []time.Duration{0, 7050 * ms} {
			t.Run(fmt.Sprintf("%s, cut %v", name, cut), func(t *testing.T) {
				s := simulated{step: step, serve: targetStandsStill, runs: stillFrom(4*time.Second, 5*time.Second), cut: cut}
				if name == "users who are refused" {
					s.serve = refusesFrom(6*time.Second, 8*time.Second, 100*ms)
				}
				if name == "users with a rate" {
					s.journeys = browsing(0)
				}
				m, ends := s.run(t)
				end := idealWindow
				if cut > 0 {
					end = cut
				} else if m.Unsent != 0 {
					t.Fatalf("%d are unsent", m.Unsent)
				}
				scheduled := !slices.Contains([]string{"users without a rate", "users who are refused", "a burst", "a ramp of users without"}, name)
				want := ends.timeline(end, scheduled)
				if cut > 0 && scheduled {
					want.Outstanding, want.Unsent = m.Timeline.Outstanding, m.Timeline.Unsent // what was due and never sent is not among the ends
				}
				if diff := cmp.Diff(want, *m.Timeline); diff != "" {
					t.Errorf("timeline (-want +got):\n%.600s", diff)
				}
				if most := slices.Max(m.Timeline.Outstanding[:]); most < 10 {
					t.Errorf("at most %d outstanding of a target that stands still", most)
				}
			})
		}
	}
}

func (e simulatedEnds) timeline(end time.Duration, scheduled bool) (line measure.Timeline) {
	const width = idealWindow / measure.TimelineSlots
	for slot := range measure.TimelineSlots {
		from, until := width*time.Duration(slot), width*time.Duration(slot+1)
		for _, r := range e {
			began := r.sent
			if scheduled {
				began = r.due
			}
			ended, over := r.outcome != measure.Unfinished, r.received-r.unread
			if r.outcome == measure.Refused { // its user pauses
				over = r.received + failedPause
			}
			if until <= end && began < until && (!ended || over >= until) {
				line.Outstanding[slot]++
				if r.sent >= until {
					line.Unsent[slot]++
				}
			}
			if r.outcome.Responded() && over >= from && over < until {
				line.Answered[slot]++
			}
		}
	}
	return line
}

// Users wait in requests that fail or are not answered, in the window only.
func TestUsersWait(t *testing.T) {
	const end = 30 * time.Second
	fails := func(int, *hit) (time.Duration, int) { return 100 * ms, 500 }
	denied := func(int, *hit) (time.Duration, int) { return 100 * ms, 503 }
	withoutPorts := func(int, *hit) (time.Duration, int) { return ms, noPort }
	warmed := usersStep(5, ClosedUsers{Duration: end})
	warmed.WarmUp = 3 * time.Second
	for name, tt := range map[string]struct {
		step   StepShare
		serve  func(int, *hit) (time.Duration, int)
		waited time.Duration
		forced time.Duration // pause after each failure
	}{
		"a target that answers":      {usersStep(5, ClosedUsers{Duration: end}), always(100 * ms), 0, 0},
		"one that is soon silent":    {usersStep(5, ClosedUsers{Duration: end}), silentFrom(2*time.Second, 100*ms), 5 * 28 * time.Second, 0},
		"silent from the warm-up on": {warmed, silentFrom(-time.Second, 100*ms), 5 * 30 * time.Second, 0},
		"silent to users in turn":    {usersStep(5, PacedUsers{Rate: 50e6, Duration: end}), silentFrom(2*time.Second, 100*ms), 5 * 28 * time.Second, 0},
		"failures":                   {usersStep(5, PacedUsers{Rate: 25e6, Duration: end}), fails, 5 * 30 * 5 * 100 * ms, 0},
		"denials":                    {usersStep(5, PacedUsers{Rate: 25e6, Duration: end}), denied, 5 * 30 * 5 * 100 * ms, 0},
		"refusals":                   {usersStep(5, ClosedUsers{Duration: end}), refusesFrom(2*time.Second, end, 100*ms), 5 * 28 * time.Second, failedPause},
		"refusals from the start on": {warmed, refusesFrom(-time.Second, end, 100*ms), 5 * 30 * time.Second, failedPause},
		"refusals of who think":      {usersStep(5, ClosedUsers{Duration: end, Think: fixed(75 * ms)}), refusesFrom(0, end, 100*ms), 5 * 30 * time.Second * 252 / 1002, 25 * ms},
		"no port is left":            {usersStep(5, ClosedUsers{Duration: end}), withoutPorts, 5 * 30 * time.Second / 101, 0},
		"arrivals":                   {arrivalsStep(25e6, end), fails, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m, ends := simulated{step: tt.step, serve: tt.serve, timeout: 40 * time.Second}.run(t)
			want := time.Duration(5) * end
			if name == "arrivals" {
				want = 0
			}
			// Users in turn begin one after another, in the first 100 ms.
			if off := m.Waited - tt.waited; off > 0 && tt.waited == 0 || off.Abs() > 5*100*ms || m.UserTime != want {
				t.Errorf("waited for %v of %v, want %v of %v", m.Waited, m.UserTime, tt.waited, want)
			}
			var sum time.Duration
			for _, r := range ends {
				if name != "arrivals" && r.outcome != measure.Success {
					sum += within(r.sent, r.received+tt.forced, end)
				}
			}
			if m.Waited != sum {
				t.Errorf("waited for %v, the requests say %v", m.Waited, sum)
			}
		})
	}
}

// Users of a ramp have time from when they come to when they go.
// What a cut interrupts might have been answered: no user has waited for nothing in it.
func TestUsersWaitForNothingInWhatIsCut(t *testing.T) {
	m, ends := simulated{step: usersStep(5, ClosedUsers{Duration: time.Minute}), serve: always(time.Second), cut: 2500 * ms}.run(t)
	interrupted := 0
	for _, r := range ends {
		if r.outcome == measure.Unfinished {
			interrupted++
		}
	}
	if interrupted != 5 || m.Waited != 0 {
		t.Errorf("waited for %v, %d interrupted; want 0s, 5", m.Waited, interrupted)
	}
}

func TestUserTimeOfARamp(t *testing.T) {
	for _, each := range []int64{0, 5e6} {
		load := RampedUsers{From: 2, To: 12, Duration: 10 * time.Second}
		load.Each = pace.Rate(each)
		m, _ := simulated{step: rampStep(load), serve: always(10 * ms)}.run(t)
		// The number of users goes linearly from 2 to 12: 7 on average.
		if want := 70 * time.Second; (m.UserTime - want).Abs() > time.Microsecond {
			t.Errorf("%v of users, want %v", m.UserTime, want)
		}
	}
}

// The first requests of a burst are due at once. Within which time they were sent is said.
func TestBurstSpread(t *testing.T) {
	step := usersStep(100, Burst{Requests: 3, Limit: time.Minute})
	if m, _ := (simulated{step: step, serve: always(time.Second)}).run(t); m.BurstSpread != 0 {
		t.Errorf("spread %v of a burst that is sent at once", m.BurstSpread)
	}
	slow := func(t time.Duration) time.Duration { return t + 3*ms } // after each batch
	m, ends := simulated{step: step, serve: always(time.Second), runs: slow}.run(t)
	var want time.Duration // from the burst's instant: other workers do not wait for this one
	for _, r := range ends {
		if r.number == 0 {
			want = max(want, r.sent)
		}
	}
	if m.BurstSpread != want || want < 9*ms {
		t.Errorf("spread %v, want %v", m.BurstSpread, want)
	}
	if m.HeldUp == 0 {
		t.Error("users are not held up between the requests of a burst")
	}
	// When the only request of a user is sent and read changes no load but the spread.
	if m, _ := (simulated{step: usersStep(100, Burst{Requests: 1, Limit: time.Minute}), serve: always(time.Second), runs: slow}).run(t); m.HeldUp != 0 || m.BurstSpread != want {
		t.Errorf("users of one request are held up for %v, spread %v, want 0s and %v", m.HeldUp, m.BurstSpread, want)
	}
	if m, _ := (simulated{step: step, serve: always(time.Second), runs: stillFrom(0, 300*ms)}).run(t); m.BurstSpread != 300*ms {
		t.Errorf("spread %v of a burst that is sent at once 300ms after its instant", m.BurstSpread)
	}
	if m, _ := (simulated{step: usersStep(100, ClosedUsers{Duration: time.Second}), serve: always(100 * ms), runs: slow}).run(t); m.BurstSpread != 0 {
		t.Errorf("spread %v of what is no burst", m.BurstSpread)
	}
}
