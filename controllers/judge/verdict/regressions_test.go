package verdict_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// The noise of the simulation. Response times of a repetition are log-normal with a
// median of 20 ms and a sigma of 0.5, so that their p95 is 2.3 times the median. Each
// repetition is slower or faster as a whole by a log-normal factor with a sigma of 3 %,
// and all repetitions of a run have one factor more, of 2 %: other neighbors, another
// node. 3000 requests a repetition add the noise of a quantile, 2 % of the p95.
const (
	repetitionNoise = 0.03
	runNoise        = 0.02
	requestNoise    = 0.5
	requestsEach    = 3000
)

// simulatedRun are the results of five repetitions against a target that is slower by a
// factor.
func simulatedRun(random *rand.Rand, factor float64) []*v1beta1.StepResult {
	run := factor * math.Exp(runNoise*random.NormFloat64())
	list := make([]*v1beta1.StepResult, 5)
	for i := range list {
		list[i] = simulatedStep(random, run)
	}
	return list
}

// simulatedStep is the result of a step against a target that is slower by a factor.
func simulatedStep(random *rand.Rand, factor float64) *v1beta1.StepResult {
	scale := factor * math.Exp(repetitionNoise*random.NormFloat64()) * float64(20*time.Millisecond)
	times := measure.NewHistogram()
	for range requestsEach {
		times.Record(time.Duration(scale * math.Exp(requestNoise*random.NormFloat64())))
	}
	p95, _ := times.Quantile(0.95)
	return slowest(float64(p95) / float64(time.Millisecond))
}

// TestSimulatedRegressions holds maxIncrease: 5% to its promise: between equal targets at
// most 5 % of runs fail, and of targets that are 20 % slower at least 90 % are found. (Of
// 300 against maxIncrease: 10%, half of that difference, none of the equal ones failed,
// and 90 % of the slower ones did; the others were Inconclusive.)
func TestSimulatedRegressions(t *testing.T) {
	runs := 60
	if n, err := strconv.Atoi(os.Getenv("SIMULATIONS")); err == nil {
		runs = n
	}
	equal, slower := simulate(t, 1, runs), simulate(t, 1.2, runs)
	t.Logf("equal targets %v, 20%% slower ones %v", equal, slower)
	falseAlarms := float64(equal[v1beta1.ThresholdFailed]) / float64(runs)
	missed := 1 - float64(slower[v1beta1.ThresholdFailed])/float64(runs)
	fmt.Printf("bench-judgement: false-alarms=%.3f\n", falseAlarms)
	fmt.Printf("bench-judgement: missed-regressions=%.3f\n", missed)
	if falseAlarms > 0.05 || missed > 0.10 || slower[v1beta1.ThresholdPassed] > 0 {
		t.Errorf("%.1f%% of equal targets failed, and %.1f%% of slower ones did not, of which %d passed; at most 5%% and 10%% may, and none",
			100*falseAlarms, 100*missed, slower[v1beta1.ThresholdPassed])
	}
}

// simulate counts what became of runs against a target that is slower by a factor.
func simulate(t *testing.T, factor float64, runs int) map[v1beta1.ThresholdState]int {
	states := map[v1beta1.ThresholdState]int{}
	for seed := range runs {
		random := rand.New(rand.NewPCG(uint64(seed), uint64(1000*factor)))
		got, _ := compared(t, increase("p95", "5%"), simulatedRun(random, 1), simulatedRun(random, factor))
		states[got.State]++
	}
	return states
}
