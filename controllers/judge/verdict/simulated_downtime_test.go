package verdict_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

func logUniform(rng *rand.Rand, low, high float64) float64 {
	return low * math.Exp(rng.Float64()*math.Log(high/low))
}

// newSilentStep draws a step of 5 s to 60 s, of a kind of load that the seed says.
func newSilentStep(seed, stream uint64) *silentStep {
	rng := rand.New(rand.NewPCG(seed, stream))
	s := &silentStep{rng: rng, kind: silentKinds[seed%uint64(len(silentKinds))]}
	s.window = time.Duration(logUniform(rng, 5, 60) * float64(time.Second))
	s.service.kind = []string{"constant", "exponential", "lognormal"}[rng.IntN(3)]
	s.service.sigma = rng.Float64()
	s.service.median = time.Duration(logUniform(rng, 0.001, 0.02) * float64(time.Second))
	s.timeout = []time.Duration{time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute}[rng.IntN(5)]
	s.errors = 0.009 * rng.Float64()
	return s
}

// newDeadStep is one whose target is silent for 2 % of the window, or more.
func newDeadStep(seed uint64) (s *silentStep, total float64) {
	s = newSilentStep(seed, 1)
	x := silence{drops: s.rng.IntN(2) == 0, half: s.rng.IntN(2) == 0}
	total = logUniform(s.rng, 300, 20_000)
	x.length = time.Duration(logUniform(s.rng, 0.02, 0.9) * float64(s.window))
	x.at = time.Duration(s.rng.Float64() * float64(s.window-x.length))
	x.refuses = s.rng.IntN(3) == 0
	s.silences = []silence{x}
	s.run(total)
	return s, total
}

// canBeTold says whether the silence can be told from the slow requests of a healthy target:
// enough answers are missing, and those who wait do so for much longer than requests take.
// That of a half is seen at ten times their p95 where requests come whether or not others
// were answered, at 25 times of users who wait for their replies, and of four users or more.
func (s *silentStep) canBeTold(total float64) bool {
	x, users := s.silences[0], float64(s.load.MostUsers())
	missing, p95s := total*float64(x.length)/float64(s.window), float64(x.length)/float64(s.service.p95())
	if s.load.RampTo != nil { // there is less load at first
		missing *= min(1, 2*float64(x.at)/float64(s.window))
	}
	switch {
	case !x.half:
		return missing >= 50 && (users == 0 || users*p95s >= 40)
	case users > 0 && !s.load.IsScheduled():
		return missing >= 100 && p95s >= 25 && users >= 4
	}
	return missing >= 100 && p95s >= 10 && (users == 0 || users >= 4)
}

// hasOutage says whether the silence is one within the step: a burst may be over before.
func (s *silentStep) hasOutage() bool {
	return s.silences[0].at+s.silences[0].length <= s.window && (!s.silences[0].half || s.load.MostUsers() != 1)
}

// newHealthyStep is one whose target answers throughout: as fast as that of the others, or
// slowly, rarely, over two paths, from a queue, with pauses, or to more load than it can take.
func newHealthyStep(seed uint64) *silentStep {
	s := newSilentStep(seed, 2)
	total := logUniform(s.rng, 100, 20_000)
	switch s.rng.IntN(6) {
	case 0: // slow
		s.service.median, s.service.sigma, s.timeout = 7*time.Second, s.service.sigma/4, 30*time.Second
		if s.service.kind == "exponential" {
			s.service.median = 2 * time.Second
		}
		s.window = time.Duration(20+s.rng.IntN(41)) * time.Second
		total = 5 * s.window.Seconds()
	case 1: // rare
		s.kind, s.window, s.service.median = []string{"arrivals", "poisson", "rate per user", "closed"}[s.rng.IntN(4)], time.Minute, s.service.median*50
		s.timeout, total = 30*time.Second, 6*logUniform(s.rng, 1, 10)
	case 2: // two paths
		s.service.kind, s.timeout, total = "twoPaths", 30*time.Second, max(total, 10_000)
	case 3: // a queue
		s.kind, s.timeout = []string{"arrivals", "poisson", "ramp of arrivals"}[s.rng.IntN(3)], time.Minute
		s.service.sigma = min(s.service.sigma, 0.8)
		mean := s.service.median.Seconds() * map[string]float64{"constant": 1, "exponential": 1 / math.Ln2, "lognormal": math.Exp(s.service.sigma * s.service.sigma / 2)}[s.service.kind]
		utilization := 0.5 + 0.7*s.rng.Float64()
		s.servers = make([]time.Duration, max(1, int(total/s.window.Seconds()*mean/utilization)))
		total = float64(len(s.servers)) * utilization / mean * s.window.Seconds()
	case 4: // pauses
		n := 1 + s.rng.IntN(3)
		length := time.Duration(0.0049 * s.rng.Float64() * float64(s.window) / float64(n))
		for i := range n {
			part := s.window / time.Duration(n)
			at := time.Duration(i)*part + time.Duration(s.rng.Float64()*float64(part-length))
			s.silences = append(s.silences, silence{at: at, length: length})
		}
		s.timeout = 30 * time.Second
	}
	s.run(total)
	return s
}

// TestSimulatedDowntime holds the default maximum of downtime to its promise: a target that
// is silent for 2 % of a step is never Passed by the defaults, where that can be told from a
// healthy one, and at most 0.2 % of healthy targets breach it.
func TestSimulatedDowntime(t *testing.T) {
	n := simulations(t, 150)
	told, passedAll, corners, cornersPassed := 0, 0, 0, 0
	for seed := uint64(0); told < n; seed++ {
		s, total := newDeadStep(seed)
		if !s.hasOutage() {
			continue
		}
		state, d := s.judged()
		if !s.canBeTold(total) {
			if corners++; state == passed {
				cornersPassed++
			}
			continue
		}
		if told++; state == passed {
			passedAll++
			t.Errorf("seed %d is Passed with a downtime of %s: %v", seed, d.Observed, s)
		}
	}
	broke := 0
	for seed := range uint64(n) {
		s := newHealthyStep(seed)
		if s.kind == "burst" && len(s.silences) > 0 && s.silences[0].length*200 >= s.window {
			continue // the pause is a larger part of it than was planned
		}
		if _, d := s.judged(); d.State != passed && d.State != v1beta1.ThresholdPending {
			broke++
			t.Logf("seed %d is healthy and has a downtime of %s: %v", seed, d.Observed, s)
		}
	}
	t.Logf("%d of %d silences that can be told were passed, and %d of %d that cannot", passedAll, told, cornersPassed, corners)
	fmt.Printf("bench-judgement: dead-target-passed=%.3f\n", float64(passedAll)/float64(told))
	fmt.Printf("bench-judgement: healthy-target-down=%.3f\n", float64(broke)/float64(n))
	if float64(broke) > 0.002*float64(n)+1 {
		t.Errorf("%d of %d healthy targets breach the default maximum of downtime; at most 0.2%% may", broke, n)
	}
}
