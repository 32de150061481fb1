//go:build !race

package attack

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const idealWindow = 20 * time.Second

// scheduledLoads are those whose requests are the same whatever the generator does.
func scheduledLoads() map[string]StepShare {
	warmed := usersStep(20, PacedUsers{Rate: 200e6, Duration: idealWindow})
	warmed.WarmUp = 10 * time.Second
	poisson := StepShare{Share: all(0), Load: Arrivals{Rate: 200e6, Duration: idealWindow, Poisson: true}}
	poisson.Share.Stride = 1
	return map[string]StepShare{
		"users with a rate": usersStep(20, PacedUsers{Rate: 200e6, Duration: idealWindow}),
		"a ramp of them":    rampStep(RampedUsers{From: 5, To: 40, Each: 10e6, Duration: idealWindow}),
		"with a warm-up":    warmed,
		"arrivals":          arrivalsStep(200e6, idealWindow),
		"Poisson arrivals":  poisson,
	}
}

// lateGenerators are some that are late, all in good time before the end of the window.
func lateGenerators() map[string]func(time.Duration) time.Duration {
	return map[string]func(time.Duration) time.Duration{
		"stands still for 4 s":             stillFrom(8*time.Second, 12*time.Second),
		"stands still into the window":     stillFrom(-3*time.Second, 2*time.Second),
		"is late on a busy machine":        lateUntil(idealWindow - time.Second),
		"stands still, and the target too": stillFrom(4*time.Second, 6*time.Second),
	}
}

// targetStandsStill answers nothing for a while, in which requests wait.
func targetStandsStill(user int, h *hit) (time.Duration, int) {
	took, status := servedIn(user, h)
	if from, until := 12*time.Second, 14*time.Second; h.sent >= from && h.sent < until {
		took += until - h.sent
	}
	return took, status
}

// Whatever the generator does, the ideal times are those that are measured without its
// fault: every one of them, of all requests, of the failed and of those on time.
func TestIdealTimesAreThoseWithoutTheGeneratorsFault(t *testing.T) {
	for load, step := range scheduledLoads() {
		for fault, runs := range lateGenerators() {
			t.Run(load+", the generator "+fault, func(t *testing.T) {
				s := simulated{step: step, serve: servedIn, times: []time.Duration{10 * ms, 25 * ms}}
				if fault == "stands still, and the target too" {
					s.serve = targetStandsStill
				}
				sound, soundEnds := s.run(t)
				s.runs = runs
				faulty, ends := s.run(t)
				want, got := &sound.Requests[0], &faulty.Requests[0]
				if diff := cmp.Diff(want.Response.Counts(), got.Ideal.Counts()); diff != "" {
					t.Errorf("ideal times (-want +got):\n%.500s", diff)
				}
				if diff := cmp.Diff(want.Response.Counts(), want.Ideal.Counts()); diff != "" {
					t.Errorf("ideal times without a fault (-want +got):\n%.500s", diff)
				}
				if diff := cmp.Diff(want.Failed.Response.Counts(), got.Failed.Ideal.Counts()); diff != "" {
					t.Errorf("ideal times of failures (-want +got):\n%.500s", diff)
				}
				if !slices.Equal(want.OnTime, got.IdealOnTime) || !slices.Equal(want.OnTime, want.IdealOnTime) {
					t.Errorf("on time ideally %v, want %v", got.IdealOnTime, want.OnTime)
				}
				if cmp.Equal(want.Response.Counts(), got.Response.Counts()) || slices.Equal(want.OnTime, got.OnTime) {
					t.Error("the measured times do not show the fault")
				}
				if displaced := soundEnds.displaced(ends); got.Displaced != displaced || want.Displaced != 0 {
					t.Errorf("%d displaced, %d without a fault; want %d and none", got.Displaced, want.Displaced, displaced)
				}
				if still := fault != "is late on a busy machine"; (got.Displaced > 0) != still && load != "with a warm-up" {
					t.Errorf("%d displaced", got.Displaced)
				}
			})
		}
	}
}

// displaced is how many requests were sent so much later than the same without a fault that
// they are displaced.
func (e simulatedEnds) displaced(faulty simulatedEnds) (n int64) {
	type key struct {
		user   int
		number int64
	}
	sent := map[key]time.Duration{}
	for _, end := range e {
		sent[key{end.user, end.number}] = end.sent
	}
	for _, end := range faulty {
		if end.counts() && end.sent-sent[key{end.user, end.number}] > measure.Displacement(idealWindow) {
			n++
		}
	}
	return n
}

// What the target does is in the ideal times as it is in the measured ones.
func TestIdealTimesOfASlowTargetAreTheMeasuredOnes(t *testing.T) {
	for load, step := range scheduledLoads() {
		t.Run(load, func(t *testing.T) {
			m, _ := simulated{step: step, serve: targetStandsStill}.run(t)
			r := &m.Requests[0]
			if diff := cmp.Diff(r.Response.Counts(), r.Ideal.Counts()); diff != "" || r.Displaced != 0 || m.UnsentByGenerator != 0 {
				t.Errorf("%d displaced, ideal times (-want +got):\n%.500s", r.Displaced, diff)
			}
			if r.Ideal.Max() < 2*time.Second {
				t.Errorf("the longest ideal time is %v", r.Ideal.Max())
			}
		})
	}
}

// A user without a rate is due when it is free: its ideal times are those of the target. For
// how long the generator kept it is a time of its own.
func TestUsersWithoutARateAreHeldUp(t *testing.T) {
	const users, took = 10, 10 * ms
	think := 90 * ms
	for name, tt := range map[string]struct {
		load    Load
		runs    func(time.Duration) time.Duration
		held    time.Duration // of each user
		unsent  int64
		longest time.Duration
	}{
		"not at all":         {ClosedUsers{Duration: idealWindow}, nil, 0, 0, took},
		"4 s":                {ClosedUsers{Duration: idealWindow}, stillFrom(8*time.Second, 12*time.Second), 4 * time.Second, 0, took + 4*time.Second},
		"to the end":         {ClosedUsers{Duration: idealWindow}, stillFrom(16*time.Second, 25*time.Second), 4 * time.Second, 0, 9*time.Second + took},
		"on a ramp":          {RampedUsers{From: users, To: users, Duration: idealWindow}, stillFrom(8*time.Second, 12*time.Second), 4 * time.Second, 0, took + 4*time.Second},
		"thinking users":     {ClosedUsers{Duration: idealWindow, Think: fixed(think)}, stillFrom(8*time.Second, 12*time.Second), -1, 0, took + 4*time.Second},
		"to the end, though": {ClosedUsers{Duration: idealWindow, Think: fixed(think)}, stillFrom(16*time.Second, 25*time.Second), -1, users, 9*time.Second + took},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := simulated{step: usersStep(users, tt.load), serve: always(took), runs: tt.runs}.run(t)
			r := &m.Requests[0]
			if off := r.Ideal.Max() - took; off.Abs() > took/1000 || r.Ideal.Min() < took-took/1000 {
				t.Errorf("ideal times from %v to %v, want %v", r.Ideal.Min(), r.Ideal.Max(), took)
			}
			if r.Response.Max() > tt.longest+tt.longest/500 {
				t.Errorf("the longest time is %v, want %v", r.Response.Max(), tt.longest)
			}
			if m.UserTime != users*idealWindow || r.Displaced != 0 || m.Waited != 0 {
				t.Errorf("%v of users, %v waited, %d displaced", m.UserTime, m.Waited, r.Displaced)
			}
			switch {
			case tt.held >= 0 && m.HeldUp != users*tt.held:
				t.Errorf("held up for %v, want %v", m.HeldUp, users*tt.held)
			case tt.held < 0 && (m.HeldUp > users*4*time.Second || m.HeldUp < users*(4*time.Second-think-took)):
				t.Errorf("held up for %v, want %v less what they think", m.HeldUp, users*4*time.Second)
			}
			if m.Unsent != tt.unsent || m.UnsentByGenerator != tt.unsent {
				t.Errorf("%d unsent, %d by the generator; want %d", m.Unsent, m.UnsentByGenerator, tt.unsent)
			}
		})
	}
}

// A generator that does not know when what it reads has come takes the time for which it stood
// still off, at most: the target is not Failed for it, and may have been slow meanwhile.
func TestStopsOfAGeneratorThatDoesNotKnowWhenAnswersCame(t *testing.T) {
	const from, until, took = 8 * time.Second, 10 * time.Second, 20 * ms
	for name, step := range map[string]StepShare{
		"users without a rate": usersStep(20, ClosedUsers{Duration: idealWindow}),
		"users with a rate":    usersStep(20, PacedUsers{Rate: 200e6, Duration: idealWindow}),
		"arrivals":             arrivalsStep(200e6, idealWindow),
	} {
		t.Run(name, func(t *testing.T) {
			s := simulated{step: step, serve: always(took), runs: stillFrom(from, until), stood: stoodFrom(from, until), blind: true}
			m, _ := s.run(t)
			r := &m.Requests[0]
			if longest, closed := r.Ideal.Max(), name == "users without a rate"; longest > took+took/500 || closed && m.HeldUp != 20*(until-from) {
				t.Errorf("ideally the longest took %v, held up for %v; want %v", longest, m.HeldUp, took)
			}
			if r.Response.Max() < until-from {
				t.Errorf("the longest took %v: the stop does not show", r.Response.Max())
			}
			s.runs, s.stood = nil, nil
			s.serve = targetStandsStill
			if m, _ := s.run(t); m.Requests[0].Ideal.Max() < 2*time.Second {
				t.Errorf("ideally the longest took %v, and the target stood still for 2s", m.Requests[0].Ideal.Max())
			}
		})
	}
}

// What is known to have come after its timeout is one, though it was read; where that is not
// known, it is an answer.
func TestAnswersThatCameAfterTheirTimeout(t *testing.T) {
	const timeout = time.Second
	for name, tt := range map[string]struct {
		took  time.Duration
		blind bool
		want  map[string]int64
	}{
		"in time":           {900 * ms, false, map[string]int64{"success": 1}},
		"too late":          {1200 * ms, false, map[string]int64{"timeout": 1}},
		"that is not known": {1200 * ms, true, map[string]int64{"success": 1}},
		"after the stop":    {9 * time.Second, true, map[string]int64{"timeout": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := simulated{step: usersStep(1, Burst{Requests: 1, Limit: time.Minute}), serve: always(tt.took), timeout: timeout, blind: tt.blind}
			s.runs = stillFrom(950*ms, 5*time.Second)
			m, _ := s.run(t)
			r := &m.Requests[0]
			same.As(t, "outcomes", tt.want, outcomes(*r))
			if want := min(tt.took, timeout); !tt.blind && r.Ideal.Max() > want+want/500 {
				t.Errorf("it took ideally %v, want %v", r.Ideal.Max(), want)
			}
		})
	}
}
