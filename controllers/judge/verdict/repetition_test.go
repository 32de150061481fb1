package verdict_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// The letters of a run: the state of the thresholds in one step after another.
var letters = map[rune]v1beta1.ThresholdState{'p': v1beta1.ThresholdPassed, 'f': v1beta1.ThresholdFailed, 'i': v1beta1.ThresholdInconclusive, '-': ""}

// repeats is a status of a ladder with rests. The steps that send load have the
// states of the letters; steps without a letter were skipped.
func repeats(s *v1beta1.LoadTestSpec, states string) *v1beta1.LoadTestStatus {
	status := &v1beta1.LoadTestStatus{Workers: v1beta1.WorkerCounts{Desired: 1}}
	rest := []rune(states)
	for _, step := range plan.Steps(s) {
		step.State = v1beta1.StepSkipped
		if len(rest) > 0 {
			step.State = v1beta1.StepComplete
			if !step.Load.IsPause() {
				step.WorkersReporting, step.Result = 1, &v1beta1.StepResult{}
				step.ThresholdState, rest = letters[rest[0]], rest[1:]
			}
		}
		status.Steps = append(status.Steps, step)
	}
	return status
}

func TestMaxSustainedUsersOverRepetitions(t *testing.T) {
	tests := map[string]struct {
		users       []int32
		repetitions int32
		states      string
		edit        func(*v1beta1.LoadTestStatus)
		want        int32 // 0: none
	}{
		"all kept":                            {[]int32{10, 20, 30}, 2, "pppppp", nil, 30},
		"the last rung broke in the second":   {[]int32{10, 20, 30}, 2, "pppppf", nil, 20},
		"the first rung broke in the second":  {[]int32{10, 20, 30}, 2, "pppfpp", nil, 0},
		"rungs break in turn":                 {[]int32{10, 20, 30}, 2, "ppfpfp", nil, 10},
		"a later breach hides no doubt below": {[]int32{10, 20, 30}, 2, "ppfipp", nil, 0},
		"a doubt in the third":                {[]int32{10, 20}, 3, "pppppi", nil, 10},
		// What was not reached says nothing.
		"stopped in the first":               {[]int32{10, 20, 30}, 3, "ppf", nil, 20},
		"stopped at the first rung":          {[]int32{10, 20, 30}, 3, "f", nil, 0},
		"stopped in the second, lower":       {[]int32{10, 20, 30}, 2, "pppf", nil, 0},
		"stopped in the second, higher":      {[]int32{10, 20, 30}, 3, "ppppf", nil, 10},
		"stopped where the first broke, too": {[]int32{10, 20, 30}, 2, "pfppf", nil, 10},
		"stopped for no breach":              {[]int32{10, 20, 30}, 3, "pppp", nil, 30},
		"nothing ran":                        {[]int32{10}, 2, "", nil, 0},
		"one user":                           {[]int32{1}, 1, "p", nil, 1},
		"a rest of the same rung":            {[]int32{10, 20}, 1, "pp", func(s *v1beta1.LoadTestStatus) { s.Steps[1].Rung = 1 }, 20},
		// What is not whole is no proof.
		"cut in the second":              {[]int32{10, 20}, 2, "pppp", func(s *v1beta1.LoadTestStatus) { s.Steps[6].State = v1beta1.StepCut }, 10},
		"a report missing in the second": {[]int32{10, 20}, 2, "pppp", func(s *v1beta1.LoadTestStatus) { s.Steps[4].WorkersReporting = 0 }, 0},
		"a displaced load in the second": {
			[]int32{10, 20}, 2, "pppp", func(s *v1beta1.LoadTestStatus) {
				s.Steps[6].Result.Generator = &v1beta1.GeneratorStatus{LoadDisplaced: true, Message: "Step 20 (2) was sent late."}
			}, 10,
		},
		"an equal rung is another":   {[]int32{10, 10, 20}, 2, "pppppf", nil, 10},
		"a smaller rung after":       {[]int32{30, 10}, 2, "pppp", nil, 30},
		"a smaller rung after broke": {[]int32{30, 10}, 2, "pppf", nil, 30},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := ladder(tc.users...)
			s.Repetitions = tc.repetitions
			status := repeats(s, tc.states)
			if tc.edit != nil {
				tc.edit(status)
			}
			if got := deref(verdict.Final(s, status).Sustained.Users); got != tc.want {
				t.Errorf("%d users were sustained, want %d", got, tc.want)
			}
		})
	}
}

// Users of a step without a threshold were not sustained, in any repetition.
func TestStepsWithoutThresholdAreNotSustained(t *testing.T) {
	s := ladder(10, 1000)
	s.Repetitions, s.Thresholds = 2, s.Thresholds[1:] // up to 100 users
	for states, want := range map[string]int32{"p-p-": 10, "p-i-": 0, "----": 0} {
		users := verdict.Final(s, repeats(s, states)).Sustained.Users
		same.As(t, states, want, deref(users))
	}
}

func deref(users *int32) int32 {
	if users == nil {
		return 0
	}
	return *users
}

// judgeAll judges the steps of a spec that send load, each with what came of it.
func judgeAll(s *v1beta1.LoadTestSpec, outcomes ...outcome) (steps []v1beta1.ThresholdState, thresholds []v1beta1.ThresholdStatus, stopped bool) {
	status := &v1beta1.LoadTestStatus{Requests: plan.RequestNames(s), Steps: plan.Steps(s)}
	status.Thresholds = verdict.Thresholds(s, status.Requests, nil)
	for i := range status.Steps {
		if status.Steps[i].Load.IsPause() || len(outcomes) == 0 {
			continue
		}
		o := outcomes[0]
		outcomes = outcomes[1:]
		status.Steps[i].Result = o.result
		judged := verdict.Judge(s, status, i, o.merged)
		steps, status.Thresholds, stopped = append(steps, judged.Step), judged.Thresholds, stopped || judged.Stop
	}
	return steps, status.Thresholds, stopped
}

func TestTheWorstRepetitionCounts(t *testing.T) {
	good := sent(0, 0, slow(100, 10*ms))
	near := sent(0, 0, slow(100, 900*ms))
	slowly := sent(0, 0, slow(100, 2*time.Second))
	slower := sent(0, 0, slow(100, 3*time.Second))
	few := sent(1, 0)
	tests := map[string]struct {
		outcomes []outcome // of two rungs, one repetition after another
		state    v1beta1.ThresholdState
		step     string
	}{
		"a breach in the second":                    {[]outcome{good, good, good, slowly}, v1beta1.ThresholdFailed, "20 (2)"},
		"a breach in the first only":                {[]outcome{good, slowly, good, good}, v1beta1.ThresholdFailed, "20"},
		"of two breaches the lower rung's":          {[]outcome{good, slowly, slower, good}, v1beta1.ThresholdFailed, "10 (2)"},
		"of two breaches of a rung the first":       {[]outcome{good, slowly, good, slower}, v1beta1.ThresholdFailed, "20"},
		"of a lower breach and a higher the lower":  {[]outcome{slowly, good, good, slower}, v1beta1.ThresholdFailed, "10"},
		"of two doubts the lower rung's":            {[]outcome{good, few, few, good}, v1beta1.ThresholdInconclusive, "10 (2)"},
		"a breach over a doubt at a lower rung":     {[]outcome{good, slowly, few, good}, v1beta1.ThresholdFailed, "20"},
		"of passes the narrowest, at a higher rung": {[]outcome{good, near, good, good}, v1beta1.ThresholdPassed, "20"},
		"of passes the narrowest":                   {[]outcome{good, good, near, good}, v1beta1.ThresholdPassed, "10 (2)"},
		"the third":                                 {[]outcome{good, good, good, good, slowly, good}, v1beta1.ThresholdFailed, "10 (3)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := ladder(10, 20)
			s.Repetitions, s.Thresholds = int32(len(tc.outcomes)/2), []v1beta1.Threshold{atMost("p95", "1s")}
			_, got, _ := judgeAll(s, tc.outcomes...)
			if got[0].State != tc.state || got[0].Step != tc.step {
				t.Errorf("%s in step %s, want %s in step %s", got[0].State, got[0].Step, tc.state, tc.step)
			}
		})
	}
}

// Each step says how the thresholds states in it alone, whatever came before.
func TestEachStepHasItsWorstThresholdState(t *testing.T) {
	s := ladder(10, 1000)
	s.Repetitions = 2
	s.Thresholds = []v1beta1.Threshold{atMost("failureRate", "1%"), atMost("p95", "1s")}
	s.Thresholds[0].UpToUsers, s.Thresholds[1].UpToUsers = ptr(int32(100)), ptr(int32(100))
	good, bad, few := sent(100, 0), sent(100, 0, failed(50)), sent(1, 0)
	steps, _, _ := judgeAll(s, bad, bad, few, good)
	want := []v1beta1.ThresholdState{v1beta1.ThresholdFailed, "", v1beta1.ThresholdInconclusive, ""}
	same.As(t, "states", want, steps)
	steps, _, _ = judgeAll(s, good, good, sent(1, 0, failed(1)), good)
	want = []v1beta1.ThresholdState{v1beta1.ThresholdPassed, "", v1beta1.ThresholdFailed, ""}
	same.As(t, "states, the worse of two thresholds", want, steps)
}

func TestABreachInALaterRepetitionStops(t *testing.T) {
	s := ladder(10, 20)
	s.Repetitions, s.Thresholds = 2, []v1beta1.Threshold{atMost("failureRate", "1%")}
	good, bad := sent(100, 0), sent(100, 0, failed(50))
	for _, stop := range []bool{false, true} {
		s.Ladder.StopOnBreach = stop
		if _, _, got := judgeAll(s, good, good, bad); got != stop {
			t.Errorf("stopOnBreach %t: stop is %t", stop, got)
		}
	}
}

// What the generator decides in repetitions has its reason, both values and its cause.
func TestRepetitionsThatTheGeneratorDecides(t *testing.T) {
	const rule = "p95 was kept in 0 of 2 repetitions of step 10, and must be kept in 2; at most 15ms is allowed."
	stopped := func(o *outcome) {
		o.merged.Health.StalledMax = 10 * ms
		o.merged.ReadLateness.Record(10 * ms)
	}
	for name, tc := range map[string]struct {
		edits   []func(*outcome)
		reason  string
		ideally string
		message string
	}{
		"uncertain": {
			[]func(*outcome){ideally(10 * ms), stopped}, v1beta1.ReasonGeneratorUncertain, "10.007ms",
			rule + " It is 20.015ms (10.007ms without the generator's own delay) in repetition 1 and 20.015ms (10.007ms without the generator's own delay) in repetition 2. In step 10 a worker stood still for 10ms, because it was stopped or its node is busy. Run it again, and keep other load off the workers' nodes; more workers on the same nodes do not help.",
		},
		"of a generator that is not known": {
			[]func(*outcome){ideally(10 * ms), func(o *outcome) { o.result.Generator = nil }}, v1beta1.ReasonGeneratorUncertain, "10.007ms",
			rule + " It is 20.015ms (10.007ms without the generator's own delay) in repetition 1 and 20.015ms (10.007ms without the generator's own delay) in repetition 2.",
		},
		"displaced":          {[]func(*outcome){displaced}, v1beta1.ReasonLoadDisplaced, "", rule + " It is unknown in repetitions 1 and 2. The load was displaced."},
		"late and displaced": {[]func(*outcome){displaced, ideally(10 * ms)}, v1beta1.ReasonLoadDisplaced, "10.007ms", rule + " It is unknown in repetitions 1 and 2. The load was displaced."},
	} {
		t.Run(name, func(t *testing.T) {
			s := ladder(10)
			s.Repetitions, s.Thresholds = 2, []v1beta1.Threshold{atMost("p95", "15ms")}
			s.Thresholds[0].InRepetitions = ptr(int32(2))
			status := &v1beta1.LoadTestStatus{Requests: plan.RequestNames(s), Steps: plan.Steps(s), Workers: v1beta1.WorkerCounts{Desired: 1}}
			status.Thresholds = verdict.Thresholds(s, status.Requests, status.Steps)
			for i := range status.Steps {
				step, o := &status.Steps[i], sent(50, 50, tc.edits...)
				if step.State = v1beta1.StepComplete; step.Load.IsPause() {
					continue
				}
				before := o.result.Generator
				j := complete(s, status, i, o)
				if step.Result.Generator != before {
					t.Error("the result of the step is changed")
				}
				if _, why, _ := strings.Cut(tc.message, "repetition 2."); !strings.HasSuffix(j.Thresholds[0].Message, why) {
					t.Errorf("step %s: %s, want %s", step.Name, j.Thresholds[0].Message, why)
				}
				if j.Generator != nil {
					step.Result.Generator = j.Generator
				}
			}
			want := v1beta1.ThresholdStatus{
				Name: "p95", Metric: "p95", Limit: "15ms", State: inconclusive, Step: "10", Observed: "20.015ms",
				Reason: tc.reason, WithoutGenerator: tc.ideally, Message: tc.message,
			}
			same.As(t, "threshold", want, status.Thresholds[0])
			if got := verdict.Final(s, status); got.Reason != tc.reason {
				t.Errorf("%s: %s, want reason %s", got.Reason, got.Message, tc.reason)
			}
		})
	}
}

// peak is a step with that name, and what it comes to in as many repetitions as there are outcomes.
func peak(thresholds []v1beta1.Threshold, outcomes ...outcome) verdict.Judgement {
	s := spec(thresholds...)
	s.Repetitions = int32(len(outcomes))
	s.Steps = []v1beta1.Step{{Name: "peak", Users: ptr(int32(10)), Duration: &metav1.Duration{Duration: time.Second}}}
	st := accepted(s, plan.Steps(s)...)
	for i, o := range outcomes {
		complete(s, st, i, o)
	}
	return verdict.Final(s, st)
}

// The step is called peak (2) and peak (3) in the later repetitions.
func TestAThresholdOfAStepIsOfItsRepetitions(t *testing.T) {
	good, slowly, bad := sent(1000, 0), sent(0, 0, slow(1000, 2*time.Second)), sent(1000, 0, failed(30))
	p95, failures := atMost("p95", "500ms"), atMost("failureRate", "5%")
	p95.Steps, failures.Steps = []string{"peak"}, []string{"peak"}
	if j := peak([]v1beta1.Threshold{p95}, good, slowly, slowly); j.Verdict != v1beta1.VerdictFailed {
		t.Errorf("p95 was 10ms, 2s and 2s: %s: %s", j.Verdict, j.Message)
	}
	if j := peak([]v1beta1.Threshold{failures}, bad, bad); j.Verdict != v1beta1.VerdictPassed {
		t.Errorf("3%% failed, and 5%% may: %s: %s", j.Verdict, j.Message)
	}
	p95.InRepetitions = ptr(int32(2))
	if j := peak([]v1beta1.Threshold{p95}, good, good, good); j.Verdict != v1beta1.VerdictPassed {
		t.Errorf("kept in 3 of 3: %s: %s", j.Verdict, j.Message)
	}
}
