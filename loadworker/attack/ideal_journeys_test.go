//go:build !race

package attack

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
)

// browsing is a journey of three requests with a wait after the first.
func browsing(limit time.Duration) []source.Journey {
	return []source.Journey{{Name: "browse", Weight: 1, TimeLimit: limit, Steps: []source.JourneyStep{
		{Request: 0, Times: 1}, {Think: fixed(20 * ms)}, {Request: 0, Times: 1}, {Request: 1, Times: 1},
	}}}
}

// answeredIn is servedIn without failures.
func answeredIn(user int, h *hit) (time.Duration, int) {
	took, _ := servedIn(user, h)
	return took, 200
}

// Users with a rate carry the same journeys out, whatever the generator does.
func TestIdealTimesOfJourneysAreThoseWithoutTheGeneratorsFault(t *testing.T) {
	for _, load := range []string{"users with a rate", "a ramp of them", "with a warm-up"} {
		for fault, runs := range lateGenerators() {
			t.Run(load+", the generator "+fault, func(t *testing.T) {
				s := simulated{step: scheduledLoads()[load], serve: answeredIn, journeys: browsing(0)}
				sound, _ := s.run(t)
				s.runs = runs
				faulty, _ := s.run(t)
				want, got := &sound.Journeys[0], &faulty.Journeys[0]
				if diff := cmp.Diff(want.Time.Counts(), got.Ideal.Counts()); diff != "" || got.Ideal.Count() < 100 {
					t.Errorf("ideal times (-want +got):\n%.500s", diff)
				}
				if diff := cmp.Diff(want.Time.Counts(), want.Ideal.Counts()); diff != "" {
					t.Errorf("ideal times without a fault (-want +got):\n%.500s", diff)
				}
				if cmp.Equal(want.Time.Counts(), got.Time.Counts()) {
					t.Error("the measured times do not show the fault")
				}
			})
		}
	}
}

// Users who begin together think together: answers come in waves. One of a hundred requests takes twenty times as long,
// which is no downtime.
func TestUsersWhoThinkTogetherSeeNoDowntime(t *testing.T) {
	const users, window = 26, 13 * time.Second
	load := v1beta1.StepLoad{Users: users, Duration: &metav1.Duration{Duration: window}}
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := simulated{step: usersStep(users, ClosedUsers{Duration: window}), timeout: 30 * time.Second, serve: func(int, *hit) (time.Duration, int) {
			took := 0.33 * math.Exp(0.24*random.NormFloat64())
			if random.IntN(100) == 0 {
				took *= 20
			}
			return seconds(took), 200
		}}
		s.journeys = pair(540 * ms)
		m, _ := s.run(t)
		if d, ok := results.DowntimeOf(&load, m); !ok || d.Least > window/200 {
			t.Errorf("seed %d: down for %v", seed, d.Least)
		}
	}
}

// A journey that broke its time limit only because the generator was late is excused; one of
// a slow target is not.
func TestJourneysAreExcusedOfTheGeneratorsDelay(t *testing.T) {
	const users, took, window = 5, 10 * ms, 10 * time.Second
	journey := 3*took + 20*ms
	for name, load := range map[string]Load{
		"users without a rate": ClosedUsers{Duration: window},
		"users with a rate":    PacedUsers{Rate: users * 20e6, Duration: window},
	} {
		t.Run(name, func(t *testing.T) {
			s := simulated{step: usersStep(users, load), journeys: browsing(time.Second), serve: always(took), runs: stillFrom(5*time.Second, 8*time.Second)}
			m, _ := s.run(t)
			j := &m.Journeys[0]
			if j.Excused != j.Failed || j.Failed < 1 {
				t.Errorf("%d failed, %d excused; want some, and all of them excused", j.Failed, j.Excused)
			}
			if longest := j.Ideal.Max(); load == (ClosedUsers{Duration: window}) && (longest-journey).Abs() > journey/1000 {
				t.Errorf("the longest ideal time is %v, want %v", longest, journey)
			}
			s.runs, s.serve = nil, always(600*ms)
			if m, _ = s.run(t); m.Journeys[0].Excused != 0 || m.Journeys[0].Failed < users {
				t.Errorf("%d of %d excused of a slow target", m.Journeys[0].Excused, m.Journeys[0].Failed)
			}
		})
	}
}

// A late reply after which the user waits breaks the limit at once; in time without the
// generator's delay, it does not.
func TestJourneysAreExcusedBeforeTheNextRequest(t *testing.T) {
	s := simulated{
		step: usersStep(1, ClosedUsers{Duration: 10 * time.Second}), journeys: browsing(time.Second),
		serve: func(_ int, h *hit) (time.Duration, int) {
			if h.number%3 == 0 {
				return 500 * ms, 200
			}
			return 10 * ms, 200
		},
		// The first reply comes at 500 ms and is read at 990: the wait ends after the limit.
		runs: stillFrom(400*ms, 990*ms),
	}
	m, _ := s.run(t)
	if j := &m.Journeys[0]; j.Excused != 1 || j.Failed != 1 {
		t.Errorf("%d of %d failures excused, want the first one", j.Excused, j.Failed)
	}
}

// What is not known of a request is not known of its journey: it is under way if the request is
// undecided, and excused if that is.
func TestAJourneyEndsAsItsRequestDoes(t *testing.T) {
	const users = 5
	stop := stillFrom(5100*ms, 5500*ms)
	for name, tt := range map[string]struct {
		s                         simulated
		failed, excused, underWay int64
	}{
		"a timeout":                               {simulated{timeout: 20 * time.Second}, users, 0, 0},
		"while the worker did not run":            {simulated{timeout: 4 * time.Second, runs: stop, stood: stoodFrom(5100*ms, 5500*ms)}, 2 * users, 0, 0},
		"for a notable part":                      {simulated{timeout: 3 * time.Second, runs: stop, stood: stoodFrom(5100*ms, 5500*ms)}, 2 * users, users, 0},
		"a timeout beyond the longest drain":      {simulated{timeout: time.Minute}, 0, 0, users},
		"a step that was cut, at the same moment": {simulated{timeout: 20 * time.Second, cut: 8 * time.Second}, 0, 0, users},
	} {
		t.Run(name, func(t *testing.T) {
			tt.s.step, tt.s.journeys = usersStep(users, ClosedUsers{Duration: 10 * time.Second}), browsing(0)
			tt.s.serve = silentFrom(5*time.Second, 20*ms)
			m, _ := tt.s.run(t)
			j := &m.Journeys[0]
			if j.Failed != tt.failed || j.Excused != tt.excused || j.Unfinished.Count() != tt.underWay || j.UnderWay() != tt.underWay {
				t.Errorf("%d failed, %d excused, %d under way; want %d, %d, %d", j.Failed, j.Excused, j.Unfinished.Count(), tt.failed, tt.excused, tt.underWay)
			}
		})
	}
}
