package verdict_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// standsStill is a step of 20 s whose target is silent from 4 s on, for so long.
func standsStill(kind string, length time.Duration, half, drops bool) *silentStep {
	s := &silentStep{
		rng: rand.New(rand.NewPCG(1, 3)), kind: kind, window: 20 * time.Second, timeout: 30 * time.Second,
		service: serviceTimes{kind: "exponential", median: 5 * time.Millisecond},
	}
	if length > 0 {
		s.silences = []silence{{at: 4 * time.Second, length: length, half: half, drops: drops}}
	}
	s.run(20_000)
	return s
}

func TestTargetThatStandsStillIsNotPassedForAnyKindOfLoad(t *testing.T) {
	for _, kind := range silentKinds {
		for _, drops := range []bool{false, true} {
			for _, half := range []bool{false, true} {
				if state, d := standsStill(kind, 14*time.Second, half, drops).judged(); state != broken {
					t.Errorf("%s, half %v, drops %v: %s, downtime %s; want Failed", kind, half, drops, state, d.Observed)
				}
			}
		}
		if state, d := standsStill(kind, 0, false, false).judged(); state != passed || d.Observed != "0%" {
			t.Errorf("%s, without a silence: %s, downtime %s; want Passed, 0%%", kind, state, d.Observed)
		}
	}
}

func TestDowntimeSaysForHowLongNothingWasAnswered(t *testing.T) {
	_, d := standsStill("closed", 14*time.Second, false, false).judged()
	if want := "For 14s of 20s in step 1, requests were outstanding and none was answered (downtime 70%; at most 0.5% is allowed by default)."; d.Message != want {
		t.Errorf("message %q, want %q", d.Message, want)
	}
	_, d = standsStill("arrivals", 2*time.Second, true, false).judged()
	if !strings.Contains(d.Message, "in total, some of the requests waited and were answered much later than the others, or never (downtime ") {
		t.Errorf("message %q of a half that waited", d.Message)
	}
}

// From a worker that does not run, its target looks as if it were silent.
func TestDowntimeIsUndecidedWhereAWorkerStoodStill(t *testing.T) {
	for name, tc := range map[string]struct {
		stalled time.Duration
		want    v1beta1.ThresholdState
	}{
		"for as long":  {2 * time.Second, inconclusive},
		"for a moment": {200 * time.Millisecond, broken},
	} {
		_, d := standsStill("rate per user", 2*time.Second, false, false).judged(func(m *measure.Measurement) { m.Health.StalledMax = tc.stalled })
		undecided := strings.HasPrefix(d.Message, "The target was down for 0.01% to 10.01% of step 1: for a part of that time a worker did not run,")
		if d.State != tc.want || undecided != (tc.want == inconclusive) {
			t.Errorf("a worker stood still %s: %s (%s), want %s", name, d.State, d.Message, tc.want)
		}
	}
}

// One long request holds up all others at a target with one server for tens of milliseconds: a
// step of 5 s at 0.9 of what it can take is not breached by that.
func TestDowntimeOfAShortStepIsMoreThanOneLongRequest(t *testing.T) {
	down := 0
	for seed := range uint64(40) {
		s := &silentStep{
			rng: rand.New(rand.NewPCG(seed, 4)), kind: "arrivals", window: 5 * time.Second, timeout: 30 * time.Second,
			service: serviceTimes{kind: "lognormal", median: 1500 * time.Microsecond, sigma: 1}, servers: make([]time.Duration, 1),
		}
		s.run(0.9 * 5 / 0.0025)
		if _, d := s.judged(); d.State != passed {
			down++
			t.Logf("seed %d: %s", seed, d.Message)
		}
	}
	if down > 1 {
		t.Errorf("%d of 40 are down", down)
	}
}

// Only of a step that was cut it may be unknown, and decides nothing.
func TestDowntimeNeedsTheCourseOfAStep(t *testing.T) {
	const message = "downtime of step burst cannot be judged: a worker did not report the timeline of the step."
	for name, tc := range map[string]struct {
		spec      *v1beta1.LoadTestSpec
		cut, full v1beta1.ThresholdState
	}{
		"by default":  {spec(), v1beta1.ThresholdPending, inconclusive},
		"a threshold": {spec(atMost("downtime", "1%")), inconclusive, inconclusive},
	} {
		for state, want := range map[v1beta1.StepState]v1beta1.ThresholdState{v1beta1.StepCut: tc.cut, v1beta1.StepComplete: tc.full} {
			step := burst
			step.State = state
			before := verdict.Thresholds(tc.spec, plan.RequestNames(tc.spec), []v1beta1.StepStatus{step})
			for _, got := range judge(tc.spec, before, step, sent(10, 0, withoutCourse)).Thresholds {
				if got.Metric == v1beta1.MetricFailureRate && got.State != passed {
					t.Errorf("%s, %s: failures are %s", name, state, got.State)
				}
				if got.Metric == v1beta1.MetricDowntime && (got.State != want || want == inconclusive && got.Message != message) {
					t.Errorf("%s, %s: %s: %s; want %s", name, state, got.State, got.Message, want)
				}
			}
		}
	}
}

func TestDowntimeOfAStepThatWasCutIsJudgedByItsCourse(t *testing.T) {
	s, step := spec(), burst
	step.State = v1beta1.StepCut
	for _, got := range judge(s, verdict.Thresholds(s, plan.RequestNames(s), []v1beta1.StepStatus{step}), step, sent(10, 0)).Thresholds {
		if got.State != passed {
			t.Errorf("%s is %s: %s", got.Metric, got.State, got.Message)
		}
	}
}

// Without the time of the users, none of it would seem to have gone into what failed.
func TestDowntimeNeedsTheTimeOfUsers(t *testing.T) {
	none := func(m *measure.Measurement) { m.UserTime = 0 }
	for kind, want := range map[string]v1beta1.ThresholdState{"closed": inconclusive, "rate per user": inconclusive, "arrivals": passed} {
		if _, d := standsStill(kind, 0, false, false).judged(none); d.State != want {
			t.Errorf("%s: %s: %s; want %s", kind, d.State, d.Message, want)
		}
	}
}

func TestBreachOfDowntimeNamesTheTarget(t *testing.T) {
	_, d := standsStill("closed", 14*time.Second, false, false).judged()
	status := done(breached(0, "10"))
	status.Thresholds[0].Reason = d.Reason
	if got := verdict.Final(ladder(10), status); got.Reason != v1beta1.ReasonTargetDown {
		t.Errorf("reason %s, want %s", got.Reason, v1beta1.ReasonTargetDown)
	}
}

// For 2 s a worker waits for a processor: it sends nothing and is not answered. What was due
// meanwhile is not the target's.
func TestWhatWasNotSentIsNoDowntime(t *testing.T) {
	for _, kind := range []string{"rate per user", "arrivals"} {
		for inFlight, want := range map[bool]v1beta1.ThresholdState{false: passed, true: broken} {
			_, d := standsStill(kind, 0, false, false).judged(func(m *measure.Measurement) {
				for i := 40; i < 60; i++ {
					line := m.Timeline
					line.Answered[60] += line.Answered[i]
					line.Outstanding[i] += line.Answered[60]
					line.Answered[i] = 0
					if !inFlight {
						line.Unsent[i] = line.Outstanding[i]
					}
				}
			})
			if d.State != want {
				t.Errorf("%s, in flight %v: downtime %s: %s; want %s", kind, inFlight, d.State, d.Message, want)
			}
		}
	}
}

// Of a short step, 0.5 % is a turn of another program on the target's processor.
func TestDowntimeOfAShortStepIsMoreThanAPause(t *testing.T) {
	for pause, want := range map[time.Duration]v1beta1.ThresholdState{49 * time.Millisecond: passed, 150 * time.Millisecond: broken} {
		s := &silentStep{
			rng: rand.New(rand.NewPCG(1, 5)), kind: "arrivals", window: 3 * time.Second, timeout: 30 * time.Second,
			service:  serviceTimes{kind: "exponential", median: time.Millisecond},
			silences: []silence{{at: 990 * time.Millisecond, length: pause}}, // from the beginning of a slot on
		}
		s.run(1500)
		if _, d := s.judged(); d.State != want {
			t.Errorf("a pause of %v of 3 s: %s, %s; want %s", pause, d.State, d.Message, want)
		}
	}
}

// A step that is cut has no slots after that: nothing was missing in them.
func TestDowntimeOfAStepThatIsCutEndsWithIt(t *testing.T) {
	for _, kind := range []string{"closed", "think", "rate per user", "arrivals", "poisson"} {
		for _, left := range []int{measure.TimelineSlots / 2, 3} {
			_, d := standsStill(kind, 0, false, false).judged(func(m *measure.Measurement) {
				if m.Window < 20*time.Second { // a burst was over before
					return
				}
				m.Window = 20 * time.Second * time.Duration(left) / measure.TimelineSlots
				m.UserTime = m.UserTime * time.Duration(left) / measure.TimelineSlots
				m.Requests[0].Service.Record(time.Second) // what was sent last, and long ago
				for i := left; i < measure.TimelineSlots; i++ {
					m.Timeline.Outstanding[i], m.Timeline.Answered[i] = 0, 0
				}
			})
			if d.State != passed {
				t.Errorf("%s, cut after %d slots: %s, %s", kind, left, d.State, d.Message)
			}
		}
	}
}
