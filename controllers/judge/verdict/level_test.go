package verdict_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
)

// againstLevel is the result of a threshold after the last repetition of a run, against the runs of a
// schedule, each of as many repetitions as it has p95s.
func againstLevel(t *testing.T, threshold v1beta1.Threshold, runs [][]float64, after ...float64) v1beta1.ThresholdStatus {
	t.Helper()
	spec, status := repeated(threshold, p95s(after...)...)
	spec.Baseline = &v1beta1.Baseline{Schedule: "nightly"}
	level := &baseline.Level{Schedule: "nightly"}
	for i, millis := range runs {
		passed := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n-%d", i+1)}}
		earlier, measured := repeated(threshold, p95s(millis...)...)
		passed.Spec, passed.Status = *earlier, *measured
		passed.Status.CompletionTime = &metav1.Time{Time: time.Unix(int64(i), 0)}
		level.Runs = append(level.Runs, baseline.Read(spec, passed))
	}
	copied, refusal := baseline.CopyLevel(spec, status.Steps, level)
	if refusal != nil {
		t.Fatal(refusal)
	}
	status.Baseline = copied
	result, _ := judgeRepeated(t, spec, status)
	return result
}

// ofOne are runs of one repetition each.
func ofOne(millis ...float64) (runs [][]float64) {
	for _, ms := range millis {
		runs = append(runs, []float64{ms})
	}
	return runs
}

func TestDifferenceToTheLevelOfASchedule(t *testing.T) {
	steady := slices.Repeat([]float64{39, 40, 41, 40}, 5)
	tellNoiseOf := func(runs int) string {
		return fmt.Sprintf(" How much of that is noise cannot be told from %d runs: let the schedule keep at least 19 that passed.", runs)
	}
	for name, tc := range map[string]struct {
		runs                  [][]float64
		after                 times
		state                 v1beta1.ThresholdState
		observed              string
		compared, level, more string // as comparison has them
	}{
		"three runs, within": {ofOne(40, 40, 41), times{42}, passed, "+5%", "p95 is 42ms in step 100, 5% above the 40ms", "3 runs since n-1", tellNoiseOf(3)},
		"three runs, beyond": {ofOne(40, 40, 41), times{60}, broken, "+50%", "p95 is 60ms in step 100, 50% above the 40ms", "3 runs since n-1", tellNoiseOf(3)},
		"three runs that disagree": {ofOne(38, 40, 42), times{43}, inconclusive, "+7.5%", "p95 is 43ms in step 100, 7.5% above the 40ms", "3 runs since n-1",
			" To the runs of the level, the change is between +2.39% and +13.16%: let the schedule keep at least 19 that passed."},
		"twenty runs, within": {ofOne(steady...), times{41}, passed, "+2.5%", "p95 is 41ms in step 100, 2.5% above the 40ms", "20 runs since n-1",
			" As far as the runs of the level differ, the change is between 0% and +5.13%."},
		"twenty runs, beyond": {ofOne(steady...), times{48}, broken, "+20%", "p95 is 48ms in step 100, 20% above the 40ms", "20 runs since n-1",
			" As far as the runs of the level differ, the change is between +17.08% and +23.08%."},
		"twenty runs, in their noise": {ofOne(steady...), times{44}, inconclusive, "+10%", "p95 is 44ms in step 100, 10% above the 40ms", "20 runs since n-1",
			" As far as the runs of the level differ, the change may be anything between +7.32% and +12.83%."},
		"since the change alone": {
			ofOne(20, 20, 21, 20, 20, 40, 41, 40, 40), times{41}, passed, "+2.5%", "p95 is 41ms in step 100, 2.5% above the 40ms", "4 runs since n-6",
			tellNoiseOf(4),
		},
		"a run counts once, by the repetition in the middle": {
			[][]float64{{40, 90, 10}, {41, 40, 40}, {40, 41, 39}}, times{90, 41}, passed, "+2.5%", "p95 is 41ms in step 100 (2), 2.5% above the 40ms", "3 runs since n-1",
			tellNoiseOf(3),
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := againstLevel(t, increase("p95", "10%"), tc.runs, tc.after...)
			want := comparison(increase("p95", "10%"), tc.compared, "the level of schedule nightly ("+tc.level+")", tc.more)
			if got.State != tc.state || got.Observed != tc.observed || got.Message != want {
				t.Errorf("%s, %s: %s\nwant %s, %s: %s", got.State, got.Observed, got.Message, tc.state, tc.observed, want)
			}
		})
	}
}

// A metric of which too few runs have a figure is not compared; the others are.
func TestMetricWithoutALevel(t *testing.T) {
	spec, status := repeated(increase("p95", "10%"), slowest(40))
	spec.Thresholds = append(spec.Thresholds, lessGoodput())
	spec.Baseline = &v1beta1.Baseline{Schedule: "nightly"}
	level := &baseline.Level{Schedule: "nightly"}
	for i := range 4 {
		r := slowest(40)
		if i > 1 {
			r.ResponseTime.P95 = nil
		}
		earlier, measured := repeated(increase("p95", "10%"), r)
		level.Runs = append(level.Runs, baseline.Read(spec, &v1beta1.LoadTest{Spec: *earlier, Status: *measured}))
	}
	copied, refusal := baseline.CopyLevel(spec, status.Steps, level)
	if refusal != nil {
		t.Fatal(refusal)
	}
	status.Baseline = copied
	got, _ := judgeRepeated(t, spec, status)
	want := "p95 of step 100 cannot be compared: fewer than 3 LoadTests of schedule nightly that passed have such a figure in a step of that name and load; let it keep more (spec.successfulRunsHistoryLimit)."
	if got.State != v1beta1.ThresholdInconclusive || got.Message != want {
		t.Errorf("%s: %s\nwant %s", got.State, got.Message, want)
	}
}

// TestSimulatedLevels holds a bound on the level of 30 runs, half of whose history was faster, to its
// promise: of runs of the level at most 5 % fail, and of runs that are 30 % slower at least 90 % do, at
// maxIncrease: 10%. Runs differ by 3 %, as a log-normal factor.
func TestSimulatedLevels(t *testing.T) {
	const each, noise = 300, 0.03
	count := func(slower float64) map[v1beta1.ThresholdState]int {
		random := rand.New(rand.NewPCG(1, 2))
		states := map[v1beta1.ThresholdState]int{}
		p95 := func(factor float64) float64 { return 40 * factor * math.Exp(noise*random.NormFloat64()) }
		for range each {
			var runs [][]float64
			for i := range 60 {
				runs = append(runs, []float64{p95(1 + 0.5*float64(i/30))})
			}
			states[againstLevel(t, increase("p95", "10%"), runs, p95(1.5*slower)).State]++
		}
		return states
	}
	equal, slower := count(1), count(1.3)
	t.Logf("levels: equal=%v slower=%v of %d", equal, slower, each)
	if equal[v1beta1.ThresholdFailed]*20 > each || slower[v1beta1.ThresholdFailed]*10 < each*9 || slower[v1beta1.ThresholdPassed] > 0 {
		t.Errorf("of %d runs of the level %v, and of as many that are slower %v", each, equal, slower)
	}
}
