package verdict_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// versus is an accepted run of a ladder of 100 users against v4 and v3, none of whose
// steps has begun.
func versus(t *testing.T, repetitions int, thresholds ...v1beta1.Threshold) *v1beta1.LoadTest {
	t.Helper()
	s := ladder(100)
	s.Repetitions, s.Thresholds, s.Ladder.Rest = int32(repetitions), thresholds, nil
	s.Target = v1beta1.Target{Service: &v1beta1.ServiceReference{Name: "v4"}}
	s.OtherTargets = []v1beta1.OtherTarget{{Name: "v3", Service: &v1beta1.ServiceReference{Name: "shortener"}}}
	s.Versus = &v1beta1.Versus{Target: "v3"}
	lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{UID: "5e1f"}, Spec: *s}
	replan(t, lt)
	return lt
}

func replan(t *testing.T, lt *v1beta1.LoadTest) {
	t.Helper()
	planned, refusal := plan.New(lt, policy.Rules{})
	if refusal != nil {
		t.Fatal(refusal)
	}
	planned.Record(&lt.Status)
	lt.Status.Workers.Desired = 1
	lt.Status.Thresholds = verdict.Thresholds(&lt.Spec, lt.Status.Requests, lt.Status.Steps)
}

// carryOut gives the steps of either side their results in turn, judges each, and edits
// the steps before that; it ends where the run stops.
func carryOut(lt *v1beta1.LoadTest, candidate, control []*v1beta1.StepResult, edit func(*v1beta1.StepStatus)) {
	s := &lt.Status
	for i := range s.Steps {
		step := &s.Steps[i]
		results := &candidate
		if step.Side == v1beta1.SideControl {
			results = &control
		}
		step.State, step.WorkersReporting, step.Result = v1beta1.StepComplete, 1, (*results)[0]
		*results = (*results)[1:]
		if edit != nil {
			edit(step)
		}
		merged := sent(0, 0, slow(1000, 10*ms)).merged
		if p95 := step.Result.ResponseTime.P95; p95 != nil {
			merged = sent(0, 0, slow(1000, p95.Duration)).merged
		}
		judged := verdict.Judge(&lt.Spec, s, i, merged)
		s.Thresholds, s.Steps[judged.At].ThresholdState, s.Steps[judged.At].Repeated = judged.Thresholds, judged.Step, judged.Repeated
		if judged.Stop {
			for n := range s.Steps[i+1:] {
				s.Steps[i+1+n].State = v1beta1.StepSkipped
			}
			return
		}
	}
}

func TestDifferenceToTheControl(t *testing.T) {
	const oneIsNoise = " How much of that is noise cannot be told from 1 repetition: use at least 5 repetitions."
	for name, tc := range map[string]struct {
		threshold          v1beta1.Threshold
		control, candidate times
		state              v1beta1.ThresholdState
		observed           string
		compared, more     string // as comparison has them
	}{
		"one pair, within": {increase("p95", "10%"), times{40}, times{44}, passed, "+10%", "p95 of v4 is 44ms in step 100, 10% above the 40ms", oneIsNoise},
		"one pair, beyond": {increase("p95", "10%"), times{40}, times{45}, broken, "+12.5%", "p95 of v4 is 45ms in step 100, 12.5% above the 40ms", oneIsNoise},
		"two pairs that do not agree": {
			increase("p95", "10%"), times{40, 40}, times{42, 46}, inconclusive, "+9.89%", "p95 of v4 is 44ms in step 100 (2), by the estimate from all pairs of repetitions 9.89% above the 40ms",
			" Over the pairs of 2 repetitions, the change is between +5% and +15%: use at least 5 repetitions.",
		},
		"certainly beyond, on a machine that drifts": {
			increase("p95", "10%"), times{100, 150, 225, 340, 500}, times{121, 180, 270, 408, 600}, broken, "+20%", "p95 of v4 is 270ms in step 100 (5), 20% above the 225ms",
			" Over 5 repetitions, the change is between +20% and +21%.",
		},
		"certainly within": {
			increase("p95", "10%"), times{100, 150, 225, 340, 500}, times{101, 149, 226, 340, 501}, passed, "+0.2%", "p95 of v4 is 226ms in step 100 (5), by the estimate from all pairs of repetitions 0.2% above the 225ms",
			" Over 5 repetitions, the change is between -0.66% and +1%.",
		},
		"five pairs, one of which does not agree": {
			increase("p95", "10%"), times{100, 100, 100, 100, 100}, times{120, 120, 120, 120, 109}, inconclusive, "+20%", "p95 of v4 is 120ms in step 100 (5), 20% above the 100ms",
			" Over 5 repetitions, the change may be anything between +9% and +20%: use more repetitions.",
		},
		"less goodput": {lessGoodput(), times{100}, times{94}, broken, "-6%", "goodput of v4 is 940 in step 100, 6% below the 1000", oneIsNoise},
	} {
		t.Run(name, func(t *testing.T) {
			lt := versus(t, len(tc.control), tc.threshold)
			carryOut(lt, p95s(tc.candidate...), p95s(tc.control...), nil)
			got, want := lt.Status.Thresholds[0], comparison(tc.threshold, tc.compared, "v3", tc.more)
			if got.State != tc.state || got.Observed != tc.observed || got.Message != want {
				t.Errorf("%s, %s: %s\nwant %s, %s: %s", got.State, got.Observed, got.Message, tc.state, tc.observed, want)
			}
			for i := range lt.Status.Steps {
				step := &lt.Status.Steps[i]
				if step.Side == v1beta1.SideControl && step.ThresholdState != "" {
					t.Errorf("step %s of the control is judged: %s", step.Name, step.ThresholdState)
				}
				if last := int(step.Repetition) == len(tc.control) || len(tc.control) == 1; step.Side == v1beta1.SideCandidate && last && step.ThresholdState != tc.state {
					t.Errorf("step %s is %s, want %s as the comparison", step.Name, step.ThresholdState, tc.state)
				}
			}
		})
	}
}

// Each rung is compared with itself, and its state is the candidate's.
func TestEachRungIsComparedWithItsOwnControl(t *testing.T) {
	for seed := range int64(4) { // in either order
		lt := versus(t, 1, increase("p95", "10%"), lessGoodput())
		lt.Spec.Ladder.Users, lt.Spec.RandomSeed = []int32{100, 200}, &seed
		replan(t, lt)
		if limits := lt.Status.Thresholds; limits[0].Limit != "+10%" || limits[1].Limit != "-5%" {
			t.Errorf("the limits are %s and %s", limits[0].Limit, limits[1].Limit)
		}
		carryOut(lt, p95s(45, 80), p95s(40, 80), nil)
		for _, step := range lt.Status.Steps {
			want := map[string]v1beta1.ThresholdState{"1 Candidate": broken, "2 Candidate": passed}[fmt.Sprint(step.Rung, " ", step.Side)]
			if step.ThresholdState != want {
				t.Errorf("step %s of the %s is %s, want %s", step.Name, step.Side, step.ThresholdState, want)
			}
		}
	}
}

// The control's steps are no repetitions of the candidate's.
func TestRepetitionsOfTheCandidateAreCounted(t *testing.T) {
	limit := atMost("p95", "50ms")
	limit.InRepetitions = ptr(int32(1))
	for seed := range int64(4) {
		lt := versus(t, 2, limit)
		lt.Spec.RandomSeed = &seed
		replan(t, lt)
		carryOut(lt, p95s(60, 40), p95s(70, 70), nil)
		const want = "p95 was kept in 1 of 2 repetitions of step 100, and must be kept in 1; at most 50ms is allowed. It is 60.031ms in repetition 1."
		if got := lt.Status.Thresholds[0]; got.State != passed || got.Message != want {
			t.Errorf("%s: %s\nwant %s", got.State, got.Message, want)
		}
	}
}

// What a step says nothing of its target, of either side, is compared with nothing.
func TestSpoiledPairsAreNotCompared(t *testing.T) {
	failing := func(of *v1beta1.StepResult, n int64) { of.Failed, of.Expected = n, of.Sent-n }
	for name, tc := range map[string]struct {
		edit func(*v1beta1.StepStatus)
		want string
	}{
		"a control that is cut": {func(s *v1beta1.StepStatus) { s.State = v1beta1.StepCut }, "step 100 on v3 (2) did not run with all workers"},
		"a control that is rolled out": {func(s *v1beta1.StepStatus) {
			s.Environment = &v1beta1.StepEnvironment{Changes: []v1beta1.EnvironmentChange{{Spoils: v1beta1.SpoiledStep}}}
		}, "the target changed in step 100 on v3 (2)"},
		"a worker is missing":                 {func(s *v1beta1.StepStatus) { s.WorkersReporting = 0 }, "step 100 on v3 (2) did not run with all workers"},
		"a control of a displaced load":       {func(s *v1beta1.StepStatus) { s.Result.Generator = &v1beta1.GeneratorStatus{LoadDisplaced: true} }, "the generator did not send the planned load of step 100 on v3 (2)"},
		"a control that is fast with 404":     {func(s *v1beta1.StepStatus) { failing(s.Result, 1000) }, "failureRate is 100% in step 100 on v3 (2); a control may have at most 1%"},
		"a control that fails a little":       {func(s *v1beta1.StepStatus) { failing(s.Result, 11) }, "failureRate is 1.1% in step 100 on v3 (2); a control may have at most 1%"},
		"a control that fails as much as may": {func(s *v1beta1.StepStatus) { failing(s.Result, 10) }, ""},
		"a control that keeps load unsent":    {func(s *v1beta1.StepStatus) { s.Result.Unsent = 100 }, "unsentRate is 10% in step 100 on v3 (2); a control may have at most 1%"},
		"a control that was down":             {func(s *v1beta1.StepStatus) { s.Result.Downtime = "94%" }, "downtime is 94% in step 100 on v3 (2); a control may have at most 0.5%"},
		"a control that was down a little":    {func(s *v1beta1.StepStatus) { s.Result.Downtime = "0.5%" }, ""},
		"a control whose journeys fail": {func(s *v1beta1.StepStatus) {
			s.Result.Journeys = []v1beta1.JourneyResult{{Name: "buy", Completed: 50, Failed: 40}, {Name: "browse", Completed: 110}}
		}, "failureRate of journeys is 20% in step 100 on v3 (2); a control may have at most 1%"},
		"too few samples": {func(s *v1beta1.StepStatus) { s.Result.ResponseTime.P95 = nil }, "step 100 on v3 (2) has no such figure: it had too few samples"},
	} {
		t.Run(name, func(t *testing.T) {
			lt := versus(t, 5, increase("p95", "10%"))
			carryOut(lt, p95s(200, 200, 200, 200, 200), p95s(100, 100, 100, 100, 100), func(s *v1beta1.StepStatus) {
				if s.Side == v1beta1.SideControl && s.Repetition == 2 {
					tc.edit(s)
				}
			})
			got, want := lt.Status.Thresholds[0], "p95 of step 100 (5) cannot be compared: "+tc.want+"."
			if tc.want == "" && got.State != v1beta1.ThresholdFailed || tc.want != "" && (got.State != v1beta1.ThresholdInconclusive || got.Message != want) {
				t.Errorf("%s: %s\nwant %s", got.State, got.Message, want)
			}
		})
	}
}

// The spec says what failures are to be expected, of both alike.
func TestControlMayFailAsTheSpecAllows(t *testing.T) {
	for name, tc := range map[string]struct {
		allowed v1beta1.Threshold
		state   v1beta1.ThresholdState
	}{
		"of all":               {atMost("failureRate", "50%"), v1beta1.ThresholdPassed},
		"less":                 {atMost("failureRate", "20%"), v1beta1.ThresholdInconclusive},
		"of one request":       {v1beta1.Threshold{Metric: "failureRate", Max: atMost("failureRate", "50%").Max, Requests: []string{"health"}}, v1beta1.ThresholdInconclusive},
		"of another load":      {v1beta1.Threshold{Metric: "failureRate", Max: atMost("failureRate", "50%").Max, UpToUsers: ptr(int32(10))}, v1beta1.ThresholdInconclusive},
		"of another metric":    {atMost("unsentRate", "50%"), v1beta1.ThresholdInconclusive},
		"of a journey":         {v1beta1.Threshold{Metric: "failureRate", Max: atMost("failureRate", "50%").Max, Journeys: []string{"buy"}}, v1beta1.ThresholdInconclusive},
		"no less than default": {atMost("failureRate", "0%"), v1beta1.ThresholdInconclusive},
	} {
		lt := versus(t, 1, increase("p95", "10%"), tc.allowed)
		carryOut(lt, p95s(100), p95s(100), func(s *v1beta1.StepStatus) {
			if s.Side == v1beta1.SideControl {
				s.Result.Failed = 400
			}
		})
		if got := lt.Status.Thresholds[0]; got.State != tc.state {
			t.Errorf("%s: %s: %s", name, got.State, got.Message)
		}
	}
}

// Journeys may fail as often as the spec allows for them, and for no others.
func TestJourneysOfTheControlMayFailAsTheSpecAllows(t *testing.T) {
	half := func(metric v1beta1.Metric, journeys ...string) v1beta1.Threshold {
		return v1beta1.Threshold{Metric: metric, Max: atMost("failureRate", "50%").Max, Journeys: journeys}
	}
	small := half("failureRate", "buy")
	small.UpToUsers = ptr(int32(10))
	none := "p95 of step 100 cannot be compared: failureRate of journeys is 10.5% in step 100 on v3; a control may have at most 1%."
	for name, tc := range map[string]struct {
		allowed []v1beta1.Threshold
		want    string // empty: it is compared
	}{
		"by default":           {nil, none},
		"of it":                {[]v1beta1.Threshold{half("failureRate", "buy")}, ""},
		"of it and another":    {[]v1beta1.Threshold{half("failureRate", "browse", "buy")}, ""},
		"of another":           {[]v1beta1.Threshold{half("failureRate", "browse")}, strings.Replace(none, "10.5%", "20%", 1)},
		"of requests":          {[]v1beta1.Threshold{half("failureRate")}, none},
		"of another metric":    {[]v1beta1.Threshold{half("unsentRate")}, none},
		"of another load":      {[]v1beta1.Threshold{small}, none},
		"less than it did":     {[]v1beta1.Threshold{{Metric: "failureRate", Max: atMost("failureRate", "10%").Max, Journeys: []string{"buy"}}}, "p95 of step 100 cannot be compared: failureRate of buy is 20% in step 100 on v3; a control may have at most 10%."},
		"no less than default": {[]v1beta1.Threshold{{Metric: "failureRate", Max: atMost("failureRate", "0%").Max, Journeys: []string{"browse"}}, half("failureRate", "buy")}, ""},
	} {
		lt := versus(t, 1, append([]v1beta1.Threshold{increase("p95", "10%")}, tc.allowed...)...)
		carryOut(lt, p95s(100), p95s(100), func(s *v1beta1.StepStatus) {
			if s.Side == v1beta1.SideControl {
				s.Result.Journeys = []v1beta1.JourneyResult{{Name: "buy", Completed: 400, Failed: 100}, {Name: "browse", Completed: 495, Failed: 5}}
			}
		})
		switch got := lt.Status.Thresholds[0]; {
		case tc.want == "" && got.State != v1beta1.ThresholdPassed, tc.want != "" && (got.State != v1beta1.ThresholdInconclusive || got.Message != tc.want):
			t.Errorf("%s: %s: %s\nwant %s", name, got.State, got.Message, tc.want)
		}
	}
}

// Where a type of requests is compared, failures of another one do not matter, and what the
// spec allows is what it allows for all requests of that type.
func TestControlIsHeldToTheTypeThatIsCompared(t *testing.T) {
	half := func(requests, types []string) v1beta1.Threshold {
		return v1beta1.Threshold{Metric: "failureRate", Max: atMost("failureRate", "50%").Max, Requests: requests, Types: types}
	}
	for name, tc := range map[string]struct {
		failing string
		allowed v1beta1.Threshold
		state   v1beta1.ThresholdState
	}{
		"another type fails":                    {"Write", atMost("p99", "1h"), v1beta1.ThresholdPassed},
		"the type fails":                        {"Read", atMost("p99", "1h"), v1beta1.ThresholdInconclusive},
		"the type fails as is allowed":          {"Read", half(nil, []string{"Read"}), v1beta1.ThresholdPassed},
		"as is allowed for another type":        {"Read", half(nil, []string{"Write"}), v1beta1.ThresholdInconclusive},
		"as is allowed for one of its requests": {"Read", half([]string{"health"}, []string{"Read"}), v1beta1.ThresholdInconclusive},
	} {
		reads := increase("p95", "10%")
		reads.Types = []string{"Read"}
		lt := versus(t, 1, reads, tc.allowed)
		carryOut(lt, p95s(100), p95s(100), func(s *v1beta1.StepStatus) {
			r := s.Result
			for _, name := range []string{"Read", "Write"} {
				of := v1beta1.TypeResult{Name: name, PartResult: v1beta1.PartResult{Counts: r.Counts, ResponseTime: r.ResponseTime}}
				if s.Side == v1beta1.SideControl && name == tc.failing {
					of.Failed = 400
				}
				r.Types = append(r.Types, of)
			}
			if s.Side == v1beta1.SideControl {
				r.Failed = 400
			}
		})
		if got := lt.Status.Thresholds[0]; got.State != tc.state {
			t.Errorf("%s: %s: %s", name, got.State, got.Message)
		}
	}
}

// Only the candidate is held to absolute thresholds, its own or default ones.
func TestControlBreachesNothing(t *testing.T) {
	lt := versus(t, 3, atMost("p95", "50ms"), increase("p95", "10%"))
	lt.Spec.Thresholds[0].OnBreach = v1beta1.BreachStopLadder
	carryOut(lt, p95s(40, 40, 40), p95s(400, 400, 400), nil)
	for _, got := range lt.Status.Thresholds[:2] {
		if got.State != v1beta1.ThresholdPassed || strings.Contains(got.Step, "v3") {
			t.Errorf("%s in step %s: %s", got.State, got.Step, got.Message)
		}
	}
	if j := verdict.Final(&lt.Spec, &lt.Status); j.Verdict != v1beta1.VerdictPassed || j.Sustained.Users == nil || *j.Sustained.Users != 100 {
		t.Errorf("%s, sustained %v: %s", j.Verdict, j.Sustained.Users, j.Message)
	}
}

// What the target allowed is not what the control did.
func TestSustainedLoadIsTheCandidates(t *testing.T) {
	lt := versus(t, 1, atMost("p95", "50ms"))
	carryOut(lt, p95s(60), p95s(10), nil)
	if j := verdict.Final(&lt.Spec, &lt.Status); j.Verdict != v1beta1.VerdictFailed || j.Sustained.Users != nil {
		t.Errorf("%s, sustained %v: %s", j.Verdict, j.Sustained.Users, j.Message)
	}
}

// A run stops after the pair in which a threshold was breached, whichever side was first.
func TestBreachStopsAfterThePair(t *testing.T) {
	orders := map[v1beta1.Side]bool{}
	for seed := range int64(8) {
		lt := versus(t, 2, atMost("p95", "50ms"))
		lt.Spec.RandomSeed, lt.Spec.Ladder.Users, lt.Spec.Ladder.StopOnBreach = &seed, []int32{100, 200}, seed%2 == 0
		if seed%2 == 1 {
			lt.Spec.Thresholds[0].OnBreach = v1beta1.BreachStopLadder
		}
		replan(t, lt)
		carryOut(lt, p95s(60, 40, 40, 40), p95s(10, 10, 10, 10), nil)
		orders[lt.Status.Steps[0].Side] = true
		for i, step := range lt.Status.Steps {
			if want := map[bool]v1beta1.StepState{true: v1beta1.StepComplete, false: v1beta1.StepSkipped}[i < 2]; step.State != want {
				t.Errorf("seed %d: step %s is %s, want %s", seed, step.Name, step.State, want)
			}
		}
	}
	if len(orders) != 2 {
		t.Errorf("the breach was in the first step of a pair or in the second, not in both: %v", orders)
	}
}

// A generator that was late in a step of the control decides nothing about the candidate.
func TestLateGeneratorOfTheControlDecidesNothing(t *testing.T) {
	lt := versus(t, 1, atMost("p95", "50ms"))
	carryOut(lt, p95s(40), p95s(10), func(s *v1beta1.StepStatus) {
		if s.Side == v1beta1.SideControl {
			s.Result.Generator = &v1beta1.GeneratorStatus{Reason: v1beta1.ReasonScheduleLag, Message: "Step 100 on v3 was late."}
		}
	})
	if j := verdict.Final(&lt.Spec, &lt.Status); j.Verdict != v1beta1.VerdictPassed || j.Generator.Message != "Step 100 on v3 was late." {
		t.Errorf("%s: %s", j.Verdict, j.Message)
	}
}

// Each repetition of a step has a name of its own, and so has the step of the control. A threshold names
// the step as the plan does.
func TestADifferenceInAStepIsOfItsRepetitions(t *testing.T) {
	allowed, more := atMost("failureRate", "50%"), increase("p95", "10%")
	allowed.Steps, more.Steps = []string{"100"}, []string{"100"}
	lt := versus(t, 3, more)
	carryOut(lt, p95s(100, 100, 100), p95s(100, 100, 100), nil)
	if got := lt.Status.Thresholds[0]; got.State != v1beta1.ThresholdPassed {
		t.Errorf("%s: %s", got.State, verdict.Final(&lt.Spec, &lt.Status).Message)
	}
	lt = versus(t, 1, increase("p95", "10%"), allowed)
	carryOut(lt, p95s(100), p95s(100), func(s *v1beta1.StepStatus) { s.Result.Failed = 400 })
	if got := lt.Status.Thresholds[0]; got.State != v1beta1.ThresholdPassed {
		t.Errorf("%s: %s", got.State, got.Message)
	}
}

// What failed by the generator's doing might have been answered, and in time.
func TestFailuresOfTheGeneratorAreNoDifference(t *testing.T) {
	for _, threshold := range []v1beta1.Threshold{increase("failureRate", "10%"), lessGoodput(), increase("p95", "10%")} {
		for name, edit := range map[string]func(*v1beta1.StepResult){
			"timeouts that are excused": func(r *v1beta1.StepResult) {
				r.Outcomes.Timeout, r.Excused = 100, 100
				r.ResponseTime = &v1beta1.Latency{Samples: 1000, P95: &metav1.Duration{Duration: time.Second}}
			},
			"no port was left": func(r *v1beta1.StepResult) {
				r.Outcomes.Other, r.Generator = 100, &v1beta1.GeneratorStatus{Reason: v1beta1.ReasonPortsExhausted, PortsExhausted: 100}
			},
		} {
			lt := versus(t, 1, threshold)
			carryOut(lt, p95s(100), p95s(100), func(s *v1beta1.StepStatus) {
				if s.Side == v1beta1.SideCandidate {
					s.Result.Expected, s.Result.Outcomes.Success, s.Result.Failed, s.Result.Goodput = 900, 900, 100, "900.0"
					edit(s.Result)
				}
			})
			if got := lt.Status.Thresholds[0]; got.State == v1beta1.ThresholdFailed || got.State == v1beta1.ThresholdInconclusive && got.Reason != v1beta1.ReasonGeneratorUncertain {
				t.Errorf("%s: %s (%s): %s", name, got.State, got.Reason, got.Message)
			}
		}
	}
}

// A limit on p99.9 counts 90 requests that were never sent with the time that they had waited. Without
// them, the p99.9 of the others is no figure to compare.
func TestUnsentRequestsAreInADifference(t *testing.T) {
	lt := versus(t, 5, increase("p99.9", "10%"), atMost("p99.9", "30ms"))
	lt.Spec.Ladder.RatePerUser, lt.Spec.Ladder.Duration.Duration = ptr(v1beta1.NewDecimal("10")), 10*time.Second
	replan(t, lt)
	st := &lt.Status
	for i := range st.Steps {
		step, unsent := &st.Steps[i], int64(90) // of 10,000 that were due
		if step.Side == v1beta1.SideControl {
			unsent = 0
		}
		o := sent(10_000-unsent, 0, unsentOf(unsent, 0))
		o.merged.Requests[0].Service.RecordN(10*ms, 10_000-unsent)
		result, err := results.StepResult(lt, step, o.merged, -1)
		must.Succeed(t, err)
		step.State, step.WorkersReporting, step.Result = v1beta1.StepComplete, 1, result
		judged := verdict.Judge(&lt.Spec, st, i, o.merged)
		st.Thresholds, st.Steps[judged.At].ThresholdState = judged.Thresholds, judged.Step
	}
	const want = "p99.9 of step 100 (5) cannot be compared: in step 100 90 of the 10000 requests that were due were not sent or not answered, which is too many for p99.9."
	relative, absolute := st.Thresholds[0], st.Thresholds[1]
	if relative.State != v1beta1.ThresholdInconclusive || relative.Message != want || relative.Reason != "" || absolute.State != v1beta1.ThresholdFailed {
		t.Errorf("two sentences of one status:\n%s (%s): %s\n%s: %s", relative.State, relative.Reason, relative.Message, absolute.State, absolute.Message)
	}
}

// The target is not to blame for what the generator did not send.
func TestUnsentRequestsOfTheGeneratorAreInDoubt(t *testing.T) {
	lt := versus(t, 1, increase("p95", "10%"), atMost("unsentRate", "10%"))
	carryOut(lt, p95s(100), p95s(100), func(s *v1beta1.StepStatus) { s.Result.Unsent, s.Result.UnsentByGenerator = 60, 20 })
	const want = "p95 of step 100 cannot be compared: in step 100 60 of the 1000 requests that were due were not sent or not answered, which is too many for p95: the generator may have left 20 unsent."
	if got := lt.Status.Thresholds[0]; got.State != v1beta1.ThresholdInconclusive || got.Reason != v1beta1.ReasonGeneratorUncertain || got.Message != want {
		t.Errorf("%s (%s): %s", got.State, got.Reason, got.Message)
	}
}
