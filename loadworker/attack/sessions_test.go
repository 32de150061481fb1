//go:build !race

package attack

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// sessionsStep is a step of a worker alone, to which a number of sessions come a second.
func sessionsStep(perSecond int64, window time.Duration, poisson bool) StepShare {
	step := StepShare{Share: pace.Share{Stride: 1}, Load: Arrivals{Rate: pace.Rate(perSecond * 1e6), Duration: window, Poisson: poisson}}
	if !poisson {
		step.Total = perSecond * int64(window/time.Second)
		step.Share.Count = step.Total
	}
	return step
}

// pair is a journey of two requests with a wait between them.
func pair(wait time.Duration) []source.Journey {
	return []source.Journey{{Name: "pair", Weight: 1, Steps: []source.JourneyStep{
		{Request: 0, Times: 1}, {Think: fixed(wait)}, {Request: 1, Times: 1},
	}}}
}

func TestSessionsBeginWhenTheyAreDueWhateverTheOthersDo(t *testing.T) {
	for name, poisson := range map[string]bool{"even": false, "Poisson": true} {
		t.Run(name, func(t *testing.T) {
			// Each takes 10 s of the 20: many are under way at a time.
			s := simulated{step: sessionsStep(50, 20*time.Second, poisson), journeys: pair(8 * time.Second), serve: always(time.Second)}
			m, ends := s.run(t)
			j := &m.Journeys[0]
			if !poisson && j.Due != 1000 {
				t.Errorf("%d sessions are due, want 1000", j.Due)
			}
			if j.Started != j.Due || j.Failed != 0 || j.Due < 800 {
				t.Errorf("%d of %d sessions started, %d failed", j.Started, j.Due, j.Failed)
			}
			due := map[time.Duration]bool{}
			first, second := int64(0), int64(0)
			for _, e := range ends {
				if e.sent != e.due {
					t.Fatalf("a request that is due at %v is sent at %v", e.due, e.sent)
				}
				if !e.begins {
					second++
					continue
				}
				first++
				due[e.due] = true
				if !poisson && e.due%(20*ms) != 0 {
					t.Fatalf("a session begins at %v", e.due)
				}
			}
			if first != j.Started || int64(len(due)) != first {
				t.Errorf("%d sessions began at %d instants, %d are counted", first, len(due), j.Started)
			}
			// A second request is due 9 s after the first, if that is in the window.
			if want := m.Requests[1].Sent; second != want || m.Requests[0].Sent != first || m.Due != first+second || m.Unsent != 0 {
				t.Errorf("%d second requests, %d are counted; %d due, %d unsent", second, want, m.Due, m.Unsent)
			}
			if !poisson && (second != 550 || j.Completed != 550 || j.Unfinished.Count() != 450) {
				t.Errorf("%d second requests, %d completed, %d under way at the end; want 550, 550, 450", second, j.Completed, j.Unfinished.Count())
			}
			if got := j.Time.Min(); (got - 10*time.Second).Abs() > 10*ms {
				t.Errorf("the shortest took %v, want 10s", got)
			}
			if displacedOf(m) != 0 || m.UnsentByGenerator != 0 {
				t.Errorf("%d displaced, %d unsent by the generator", displacedOf(m), m.UnsentByGenerator)
			}
		})
	}
}

// A session whose response comes after the end of the window sends no more: it is known to take that long, and the
// wait that would follow.
func TestSessionsThatAreCutHaveTheTimeOfTheirLastResponse(t *testing.T) {
	for name, s := range map[string]simulated{
		"sessions": {step: sessionsStep(10, 5*time.Second, false)},
		"users":    {step: usersStep(10, ClosedUsers{Duration: 5 * time.Second})},
	} {
		s.journeys, s.serve = pair(time.Second), always(6*time.Second)
		m, _ := s.run(t)
		if j := &m.Journeys[0]; j.Unfinished.Count() != j.Started || (j.Unfinished.Min()-7*time.Second).Abs() > 10*ms {
			t.Errorf("%s: %d of %d are under way, the youngest for %v; want all, for 7s", name, j.Unfinished.Count(), j.Started, j.Unfinished.Min())
		}
	}
}

// There are more and more sessions until as many end as begin, and so of their requests: that is no growth. A target
// that takes fewer requests than the sessions have is another matter.
func TestRequestsOfSessionsGrowOnceTheseHaveSettled(t *testing.T) {
	queue := &simulatedTarget{servers: make([]time.Duration, 1), service: func(*rand.Rand) time.Duration { return 11 * ms }}
	for name, tt := range map[string]struct {
		simulated
		want  v1beta1.OutstandingTrend
		warm  time.Duration
		waits time.Duration
	}{
		"sessions of half the step":      {simulated{step: sessionsStep(50, 20*time.Second, false), serve: always(time.Second)}, v1beta1.OutstandingSteady, 0, 8 * time.Second},
		"longer ones":                    {simulated{step: sessionsStep(50, 16*time.Second, false), serve: always(time.Second)}, v1beta1.OutstandingUnknown, 0, 8 * time.Second},
		"after a warm-up":                {simulated{step: sessionsStep(50, 16*time.Second, false), serve: always(time.Second)}, v1beta1.OutstandingSteady, 10 * time.Second, 8 * time.Second},
		"none is completed":              {simulated{step: sessionsStep(50, 8*time.Second, false), serve: always(time.Second)}, v1beta1.OutstandingUnknown, 0, 8 * time.Second},
		"more requests than are handled": {simulated{step: sessionsStep(50, 30*time.Second, false), serve: func(u int, h *hit) (time.Duration, int) { return queue.serve(0, u, h) }}, v1beta1.OutstandingGrowing, 0, time.Second},
	} {
		tt.step.WarmUp, tt.journeys, tt.timeout = tt.warm, pair(tt.waits), time.Minute
		m, _ := tt.run(t)
		load, rate := v1beta1.StepLoad{Sessions: new(int64), Duration: &metav1.Duration{Duration: tt.step.Load.length()}, WarmUp: &metav1.Duration{Duration: tt.warm}}, v1beta1.NewDecimal("50")
		load.Rate = &rate
		growth, _, unknown := results.Drift(&load, m)
		got := v1beta1.OutstandingSteady
		if unknown != "" {
			got = v1beta1.OutstandingUnknown
		} else if growth > 0 {
			got = v1beta1.OutstandingGrowing
		}
		if got != tt.want {
			t.Errorf("%s: %s, by %.2f/s, want %s", name, got, growth, tt.want)
		}
	}
}

// A session that finds no connection waits from when it was due, and is unsent if it never finds one.
func TestSessionsBeyondTheConnectionsAreUnsent(t *testing.T) {
	s := simulated{step: sessionsStep(10, 10*time.Second, false), journeys: pair(8 * time.Second), serve: always(500 * ms), connections: 20}
	m, ends := s.run(t)
	j := &m.Journeys[0]
	// 20 begin in the first 2 s, and each takes 9 s: those due at 0 to 0.9 s leave by 9.9 s, for 10 others.
	if j.Due != 100 || j.Started != 30 || m.Unsent != 70 || m.UnsentByGenerator != 70 || m.Requests[0].Due != 100 {
		t.Errorf("%d sessions due, %d started; %d requests unsent, %d by the generator, %d first ones due; want 100, 30, 70, 70, 100",
			j.Due, j.Started, m.Unsent, m.UnsentByGenerator, m.Requests[0].Due)
	}
	for _, e := range ends {
		if e.begins && e.due >= 2*time.Second && e.sent-e.due < 7*time.Second-ms {
			t.Errorf("a session that is due at %v begins at %v", e.due, e.sent)
		}
	}
	if displacedOf(m) == 0 {
		t.Error("none is displaced")
	}
	if line := m.Timeline.Outstanding; line[len(line)-1] < 70 {
		t.Errorf("%d outstanding at the end, want those that have not begun", line[len(line)-1])
	}
}

// What a steady generator would have measured of the same sessions is the same, whatever the generator does.
func TestIdealTimesOfSessionsAreThoseWithoutTheGeneratorsFault(t *testing.T) {
	for fault, runs := range lateGenerators() {
		t.Run("the generator "+fault, func(t *testing.T) {
			s := simulated{step: sessionsStep(50, 10*time.Second, false), serve: always(5 * ms), journeys: browsing(0)}
			sound, _ := s.run(t)
			s.runs = runs
			faulty, _ := s.run(t)
			want, got := &sound.Journeys[0], &faulty.Journeys[0]
			if got.Ideal.Count() < 300 || (got.Ideal.Max()-want.Time.Max()).Abs() > ms || (got.Ideal.Min()-want.Time.Min()).Abs() > ms {
				t.Errorf("%d ideal times of %v to %v, want %v to %v", got.Ideal.Count(), got.Ideal.Min(), got.Ideal.Max(), want.Time.Min(), want.Time.Max())
			}
			if cmp.Equal(want.Time.Counts(), got.Time.Counts()) {
				t.Error("the measured times do not show the fault")
			}
		})
	}
}

// The sessions of the warm-up are not counted, but the requests that they send later are.
func TestSessionsOfTheWarmUp(t *testing.T) {
	step := sessionsStep(10, 10*time.Second, false)
	step.WarmUp = 2 * time.Second
	s := simulated{step: step, journeys: pair(time.Second), serve: always(0)}
	m, _ := s.run(t)
	if j := &m.Journeys[0]; j.Due != 100 || j.Started != 100 || j.Completed != 90 {
		t.Errorf("%d due, %d started, %d completed; want 100, 100, 90", j.Due, j.Started, j.Completed)
	}
	if a, b := m.Requests[0].Sent, m.Requests[1].Sent; a != 100 || b != 100 {
		t.Errorf("%d and %d requests are sent, want 100 and 100", a, b)
	}
}

// What a generator that stands still had not sent when a step was cut was due: the first requests of
// sessions, and the later ones of those under way.
func TestRequestsThatWaitWhenSessionsAreCutAreMissed(t *testing.T) {
	s := simulated{step: sessionsStep(10, 20*time.Second, false), journeys: pair(time.Second), serve: always(ms), runs: stillFrom(3*time.Second, 6*time.Second), cut: 5 * time.Second}
	m, _ := s.run(t)
	if a, b := m.Requests[0].Due-m.Requests[0].Sent, m.Requests[1].Due-m.Requests[1].Sent; a != 20 || b != 10 {
		t.Errorf("%d first and %d later requests were missed, want 20 and 10", a, b)
	}
}

func displacedOf(m *measure.Measurement) (sum int64) {
	for i := range m.Requests {
		sum += m.Requests[i].Displaced
	}
	return sum
}

// What finds no connection is unsent by the generator if sessions keep the connections between two
// requests, however late the first response comes; if no request has had a response, the target keeps them.
func TestSessionsThatFindNoConnectionAreTheTargetsOnlyIfItAnswersNone(t *testing.T) {
	for name, tt := range map[string]struct {
		serve    func(int, *hit) (time.Duration, int)
		timeout  time.Duration
		byTarget bool
	}{
		"waits after a slow response": {serve: always(3 * time.Second)},
		"silence":                     {serve: silentFrom(0, 0), byTarget: true},
		"one that is silent, and others that wait": {timeout: time.Second, serve: func(_ int, h *hit) (time.Duration, int) {
			if h.due >= 2*time.Second {
				return time.Hour, 0
			}
			return 10 * ms, 200
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := simulated{step: sessionsStep(10, 10*time.Second, false), journeys: pair(time.Hour), serve: tt.serve, connections: 21, timeout: tt.timeout}
			m, _ := s.run(t)
			byTarget := m.UnsentByGenerator == 0 && m.UnsentWithoutRoom == m.Unsent
			byGenerator := m.UnsentByGenerator == m.Unsent && m.UnsentWithoutRoom == 0
			if m.Unsent < 60 || tt.byTarget && !byTarget || !tt.byTarget && !byGenerator {
				t.Errorf("%d unsent, %d without room, %d by the generator; by the target: %v", m.Unsent, m.UnsentWithoutRoom, m.UnsentByGenerator, tt.byTarget)
			}
		})
	}
}
