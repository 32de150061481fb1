package verdict_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// A run that is compared with nothing is judged by its other thresholds, and its verdict says so.
func TestRunThatIsComparedWithNothing(t *testing.T) {
	const why = "spec.baseline.selector: no LoadTest with labels app=shop has passed."
	const said = "Nothing was compared, as spec.baseline.optional allows: " + why
	for name, tc := range map[string]struct {
		others  []v1beta1.Threshold
		verdict v1beta1.Verdict
		message string
	}{
		"the other is kept":     {[]v1beta1.Threshold{atMost("p95", "200ms")}, v1beta1.VerdictPassed, "The threshold was kept. " + said},
		"both others are kept":  {[]v1beta1.Threshold{atMost("p95", "200ms"), atMost("p50", "200ms")}, v1beta1.VerdictPassed, "Both thresholds were kept. " + said},
		"the other is breached": {[]v1beta1.Threshold{atMost("p95", "5ms")}, v1beta1.VerdictFailed, "p95 is 10.007ms in step burst; at most 5ms is allowed."},
		"there is no other":     {nil, v1beta1.VerdictInconclusive, "No threshold was judged. " + said},
	} {
		t.Run(name, func(t *testing.T) {
			s, step, o := spec(append([]v1beta1.Threshold{increase("p95", "10%")}, tc.others...)...), burst, sent(1000, 0)
			s.Baseline = &v1beta1.Baseline{Name: "before", Optional: true}
			step.State, step.WorkersReporting, step.Rung, step.Result = v1beta1.StepComplete, 1, 1, o.result
			status := &v1beta1.LoadTestStatus{
				Requests: plan.RequestNames(s), Steps: []v1beta1.StepStatus{step}, Workers: v1beta1.WorkerCounts{Desired: 1},
				Thresholds: verdict.Thresholds(s, nil, nil), Baseline: &v1beta1.BaselineStatus{Missing: why},
			}
			status.Thresholds = verdict.Judge(s, status, 0, o.merged).Thresholds
			if difference := status.Thresholds[0]; difference.State != v1beta1.ThresholdPending || difference.Message != "It was not judged: "+why {
				t.Errorf("the difference: %+v", difference)
			}
			got := verdict.Final(s, status)
			if got.Verdict != tc.verdict || got.Message != tc.message {
				t.Errorf("%s: %s\nwant %s: %s", got.Verdict, got.Message, tc.verdict, tc.message)
			}
		})
	}
}

// climbed is a ladder of users that ran as often as there are rows of p95s in milliseconds, one for
// each step; 0: it had too few samples.
func climbed(baseline *v1beta1.Baseline, thresholds []v1beta1.Threshold, users []int32, millis ...[]float64) *v1beta1.LoadTest {
	s := ladder(users...)
	s.Repetitions, s.Thresholds, s.Baseline = int32(len(millis)), thresholds, baseline
	lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: "before"}, Spec: *s}
	lt.Status = v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictPassed, Workers: v1beta1.WorkerCounts{Desired: 1}, Requests: plan.RequestNames(s), Steps: plan.Steps(s)}
	for i := range lt.Status.Steps {
		step := &lt.Status.Steps[i]
		step.State = v1beta1.StepComplete
		if !step.Load.IsPause() {
			step.WorkersReporting = 1
			step.Result = slowest(millis[max(step.Repetition, 1)-1][slices.Index(users, step.Load.Users)])
		}
	}
	return lt
}

// judgeClimb judges a run step by step, and then as a whole.
func judgeClimb(lt *v1beta1.LoadTest) verdict.Judgement {
	lt.Status.Thresholds = verdict.Thresholds(&lt.Spec, lt.Status.Requests, nil)
	for i := range lt.Status.Steps {
		if !lt.Status.Steps[i].Load.IsPause() {
			lt.Status.Thresholds = verdict.Judge(&lt.Spec, &lt.Status, i, sent(100, 0).merged).Thresholds
		}
	}
	return verdict.Final(&lt.Spec, &lt.Status)
}

// A step that the baseline does not have, or in which it measured too little, is judged by the other
// thresholds, and the verdict says so. Without spec.baseline.optional the run is Inconclusive.
func TestStepThatTheBaselineDoesNotHave(t *testing.T) {
	const noStep = "LoadTest before has no step of that name and load that ran with all workers and the planned load, and in which the target worked well enough to compare."
	const noFigure = "LoadTest before has no such figure in its step 20: it had too few samples, or too many requests that were not sent or not answered."
	const allowed = " was not compared, as spec.baseline.optional allows: "
	limits := []v1beta1.Threshold{increase("p95", "10%"), atMost("p95", "200ms")}
	slow := atMost("p95", "5ms")
	slow.Steps = []string{"20"}
	onlyNew := append([]v1beta1.Threshold{{Metric: "p95", MaxIncrease: "10%", Steps: []string{"20"}}}, limits...)
	for name, tc := range map[string]struct {
		thresholds   []v1beta1.Threshold
		users        []int32
		before       [][]float64
		steps        []int32
		after        [][]float64
		verdict      v1beta1.Verdict
		message      string
		inconclusive string
	}{
		"a new step": {limits, []int32{10}, [][]float64{{10}}, []int32{10, 20}, [][]float64{{10, 15}},
			v1beta1.VerdictPassed, "Both thresholds were kept. p95 of step 20" + allowed + noStep, "p95 of step 20 cannot be compared: "},
		"a new step below the others": {limits, []int32{20}, [][]float64{{10}}, []int32{10, 20}, [][]float64{{10, 10}},
			v1beta1.VerdictPassed, "Both thresholds were kept. p95 of step 10" + allowed + noStep, "p95 of step 10 cannot be compared: "},
		"a new step in repetitions": {limits, []int32{10}, [][]float64{{10}, {10}, {10}}, []int32{10, 20}, [][]float64{{10, 15}, {10, 15}, {10, 15}},
			v1beta1.VerdictPassed, "Both thresholds were kept. p95 of step 20 (3)" + allowed + noStep, "p95 of step 20 (3) cannot be compared: "},
		"a step with too few samples": {limits, []int32{10, 20}, [][]float64{{10, 0}}, []int32{10, 20}, [][]float64{{10, 15}},
			v1beta1.VerdictPassed, "Both thresholds were kept. p95 of step 20" + allowed + noFigure, "p95 of step 20 cannot be compared: "},
		"a threshold for the new step alone": {
			onlyNew, []int32{10}, [][]float64{{10}}, []int32{10, 20}, [][]float64{{10, 15}},
			v1beta1.VerdictPassed, "Both thresholds were kept. p95 of step 20" + allowed + noStep + " One more comparison was left out.", "p95 of step 20 cannot be compared: ",
		},
		"a step that is too slow beside it": {
			limits, []int32{10}, [][]float64{{10}}, []int32{10, 20}, [][]float64{{30, 15}},
			v1beta1.VerdictFailed, "p95 is 30ms in step 10, 200% above the 10ms of LoadTest before; at most 10% above is allowed. How much of that is noise cannot be told from 1 repetition and 1 of the baseline: use at least 3 repetitions of both.", "",
		},
		"a new step that is too slow": {[]v1beta1.Threshold{limits[0], slow}, []int32{10}, [][]float64{{10}}, []int32{10, 20}, [][]float64{{10, 15}},
			v1beta1.VerdictFailed, "p95 is 10.007ms in step 20; at most 5ms is allowed.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, optional := range []bool{true, false} {
				before := climbed(nil, nil, tc.users, tc.before...)
				lt := climbed(&v1beta1.Baseline{Name: "before", Optional: optional}, tc.thresholds, tc.steps, tc.after...)
				copied, refusal := baseline.Copy(&lt.Spec, lt.Status.Steps, before)
				if refusal != nil {
					t.Fatal(refusal)
				}
				lt.Status.Baseline = copied
				got := judgeClimb(lt)
				if optional && (got.Verdict != tc.verdict || got.Message != tc.message) {
					t.Errorf("%s: %s\nwant %s: %s", got.Verdict, got.Message, tc.verdict, tc.message)
				}
				if !optional && tc.inconclusive != "" && (got.Verdict != v1beta1.VerdictInconclusive || !strings.HasPrefix(got.Message, tc.inconclusive)) {
					t.Errorf("not optional: %s: %s\nwant %s", got.Verdict, got.Message, tc.inconclusive)
				}
			}
		})
	}
}

// A level that lacks a step leaves only that step out.
func TestStepThatTheLevelDoesNotHave(t *testing.T) {
	limits := []v1beta1.Threshold{increase("p95", "10%"), atMost("p95", "200ms")}
	for optional, want := range map[bool]string{
		true:  "Passed: Both thresholds were kept. p95 of step 20 was not compared, as spec.baseline.optional allows: fewer than 3 LoadTests of schedule nightly that passed have such a figure in a step of that name and load; let it keep more (spec.successfulRunsHistoryLimit).",
		false: "Inconclusive: p95 of step 20 cannot be compared: fewer than 3 LoadTests of schedule nightly that passed have such a figure in a step of that name and load; let it keep more (spec.successfulRunsHistoryLimit).",
	} {
		lt := climbed(&v1beta1.Baseline{Schedule: "nightly", Optional: optional}, limits, []int32{10, 20}, []float64{10, 15})
		level := &baseline.Level{Schedule: "nightly"}
		for range 3 {
			level.Runs = append(level.Runs, baseline.Read(&lt.Spec, climbed(nil, nil, []int32{10}, []float64{10})))
		}
		copied, refusal := baseline.CopyLevel(&lt.Spec, lt.Status.Steps, level)
		if refusal != nil {
			t.Fatal(refusal)
		}
		lt.Status.Baseline = copied
		if got := judgeClimb(lt); string(got.Verdict)+": "+got.Message != want {
			t.Errorf("optional %t: %s: %s", optional, got.Verdict, got.Message)
		}
	}
}
