package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// ladder is a ladder with rests and two thresholds, the second up to 100 users.
func ladder(users ...int32) *v1beta1.LoadTestSpec {
	small := atMost("p95", "500ms")
	small.Name, small.UpToUsers = "fast", ptr(int32(100))
	s := spec(atMost("failureRate", "1%"), small)
	s.Ladder = &v1beta1.Ladder{Users: users, Duration: metav1.Duration{Duration: time.Second}, Rest: &metav1.Duration{Duration: time.Second}}
	return s
}

// done is a status in which all steps of ladder(10, 100, 1000) ran, and all
// thresholds were kept.
func done(edits ...func(*v1beta1.LoadTestStatus)) *v1beta1.LoadTestStatus {
	s := &v1beta1.LoadTestStatus{
		Workers: v1beta1.WorkerCounts{Desired: 4, Ready: 4},
		Thresholds: []v1beta1.ThresholdStatus{
			{Name: "failureRate", State: v1beta1.ThresholdPassed, Step: "1000"},
			{Name: "fast", State: v1beta1.ThresholdPassed, Step: "100"},
		},
	}
	for _, step := range plan.Steps(ladder(10, 100, 1000)) {
		step.State = v1beta1.StepComplete
		if !step.Load.IsPause() {
			step.WorkersReporting = 4
			step.ThresholdState = v1beta1.ThresholdPassed
			step.Result = &v1beta1.StepResult{Generator: &v1beta1.GeneratorStatus{Healthy: true}}
		}
		s.Steps = append(s.Steps, step)
	}
	for _, edit := range edits {
		edit(s)
	}
	return s
}

// setState sets the state of the thresholds in a step.
func setState(s *v1beta1.LoadTestStatus, step string, state v1beta1.ThresholdState) {
	for i := range s.Steps {
		if s.Steps[i].Name == step {
			s.Steps[i].ThresholdState = state
		}
	}
}

func breached(threshold int, step string) func(*v1beta1.LoadTestStatus) {
	return func(s *v1beta1.LoadTestStatus) {
		setState(s, step, v1beta1.ThresholdFailed)
		s.Thresholds[threshold].State = v1beta1.ThresholdFailed
		s.Thresholds[threshold].Step = step
		s.Thresholds[threshold].Message = s.Thresholds[threshold].Name + " is too much in step " + step + "."
	}
}

func doubted(threshold int, step string) func(*v1beta1.LoadTestStatus) {
	return func(s *v1beta1.LoadTestStatus) {
		setState(s, step, v1beta1.ThresholdInconclusive)
		s.Thresholds[threshold].State = v1beta1.ThresholdInconclusive
		s.Thresholds[threshold].Step = step
		s.Thresholds[threshold].Message = s.Thresholds[threshold].Name + " has too few samples in step " + step + "."
	}
}

func skipFrom(i int) func(*v1beta1.LoadTestStatus) {
	return func(s *v1beta1.LoadTestStatus) {
		for ; i < len(s.Steps); i++ {
			s.Steps[i].State, s.Steps[i].Result = v1beta1.StepSkipped, nil
		}
	}
}

func limited(step int) func(*v1beta1.LoadTestStatus) {
	return func(s *v1beta1.LoadTestStatus) {
		s.Steps[step].Result.Generator = &v1beta1.GeneratorStatus{Reason: v1beta1.ReasonCPUThrottled, Message: "Step " + s.Steps[step].Name + " was sent late."}
	}
}

// byDefault is a status that tells of the default thresholds alone.
func byDefault(s *v1beta1.LoadTestStatus) {
	s.Thresholds = []v1beta1.ThresholdStatus{{Name: "failureRate", Metric: "failureRate", Limit: "1%", Default: true, State: v1beta1.ThresholdPassed, Step: "1000"}}
}

// cut is a status whose step was cut, for what message says of the plan.
func cut(step int, message string, missing *int64) func(*v1beta1.LoadTestStatus) {
	return func(s *v1beta1.LoadTestStatus) {
		s.Steps[step].State, s.Steps[step].Message, s.Steps[step].MissingAtMost = v1beta1.StepCut, message, missing
	}
}

// growing is a status with a step whose outstanding requests grew.
func growing(step int) func(*v1beta1.LoadTestStatus) {
	return func(s *v1beta1.LoadTestStatus) {
		s.Steps[step].Load.Duration = &metav1.Duration{Duration: 10 * time.Second}
		s.Steps[step].Result.Throughput = "380.0"
		s.Steps[step].Result.Outstanding = &v1beta1.OutstandingResult{Mean: "45.0", Trend: v1beta1.OutstandingGrowing, Growth: "4.0"}
	}
}

// uncertain is a status with a step whose outstanding requests may have grown by the generator's
// fault alone.
func uncertain(step int) func(*v1beta1.LoadTestStatus) {
	return func(s *v1beta1.LoadTestStatus) {
		s.Steps[step].Result.Outstanding = &v1beta1.OutstandingResult{Mean: "45.0", Trend: v1beta1.OutstandingUncertain, Growth: "5.0", WithoutGenerator: "0.0"}
	}
}

// unjudged is a status in which a threshold, of that name, was not judged.
func unjudged(threshold int, name string) func(*v1beta1.LoadTestStatus) {
	return func(s *v1beta1.LoadTestStatus) {
		s.Thresholds[threshold] = v1beta1.ThresholdStatus{Name: name, State: v1beta1.ThresholdPending}
	}
}

// and is a status with another threshold.
func and(threshold v1beta1.ThresholdStatus) func(*v1beta1.LoadTestStatus) {
	return func(s *v1beta1.LoadTestStatus) { s.Thresholds = append(s.Thresholds, threshold) }
}

func lost(n int32) func(*v1beta1.LoadTestStatus) {
	return func(s *v1beta1.LoadTestStatus) { s.Workers.Lost = n }
}

func TestFinal(t *testing.T) {
	healthy := &verdict.Generator{Healthy: true, Reason: v1beta1.ReasonHealthy, Message: "The generator was not the limit in any step."}
	of := func(v v1beta1.Verdict, met metav1.ConditionStatus, reason, message string, users int32) verdict.Judgement {
		j := verdict.Judgement{Verdict: v, ThresholdsMet: met, Reason: reason, Message: message, Generator: healthy}
		if users > 0 {
			j.Sustained.Users = &users
		}
		return j
	}
	failed := func(message string, users int32) verdict.Judgement {
		return of(v1beta1.VerdictFailed, metav1.ConditionFalse, v1beta1.ReasonThresholdBreached, message, users)
	}
	inconclusive := func(message string, users int32) verdict.Judgement {
		return of(v1beta1.VerdictInconclusive, metav1.ConditionUnknown, v1beta1.ReasonInconclusive, message, users)
	}
	passed := func(message string, users int32) verdict.Judgement {
		return of(v1beta1.VerdictPassed, metav1.ConditionTrue, v1beta1.ReasonThresholdsKept, message, users)
	}
	because := func(reason string, j verdict.Judgement) verdict.Judgement {
		j.Reason = reason
		return j
	}
	sick := func(j verdict.Judgement, message string) verdict.Judgement {
		j.Generator = &verdict.Generator{Reason: v1beta1.ReasonCPUThrottled, Message: message}
		return j
	}
	one := func(s *v1beta1.LoadTestSpec) { s.Thresholds = s.Thresholds[:1] }
	none := func(s *v1beta1.LoadTestSpec) { s.Thresholds = nil }

	tests := map[string]struct {
		edit   func(*v1beta1.LoadTestSpec)
		status *v1beta1.LoadTestStatus
		want   verdict.Judgement
	}{
		"all kept":              {status: done(), want: passed("Both thresholds were kept.", 1000)},
		"the only one kept":     {edit: one, status: done(func(s *v1beta1.LoadTestStatus) { s.Thresholds = s.Thresholds[:1] }), want: passed("The threshold was kept.", 1000)},
		"only the default kept": {edit: none, status: done(byDefault), want: passed("The threshold was kept.", 1000)},
		"a default kept, too": {status: done(and(v1beta1.ThresholdStatus{Name: "unsentRate", Default: true, State: v1beta1.ThresholdPassed})),
			want: passed("All 3 thresholds were kept, defaults included.", 1000)},
		"a default that is about nothing that was sent": {status: done(and(v1beta1.ThresholdStatus{Name: "failureRate", Default: true, State: v1beta1.ThresholdPending})),
			want: passed("Both thresholds were kept.", 1000)},
		"breached":                   {status: done(breached(0, "1000")), want: failed("failureRate is too much in step 1000.", 100)},
		"breached in the first step": {status: done(breached(0, "10"), skipFrom(1)), want: failed("failureRate is too much in step 10.", 0)},
		"two breached": {status: done(breached(0, "1000"), breached(1, "100")),
			want: failed("failureRate is too much in step 1000. One more threshold was breached.", 10)},
		"three breached": {
			edit:   func(s *v1beta1.LoadTestSpec) { s.Thresholds = append(s.Thresholds, atMost("longest", "1s")) },
			status: done(breached(0, "1000"), breached(1, "1000"), and(v1beta1.ThresholdStatus{State: v1beta1.ThresholdFailed, Step: "1000"})),
			want:   failed("failureRate is too much in step 1000. 2 more thresholds were breached.", 100),
		},
		"a breach outweighs every doubt": {
			status: done(doubted(0, "100"), breached(1, "100"), lost(2), func(s *v1beta1.LoadTestStatus) { s.Thresholds[0].Reason = v1beta1.ReasonLoadDisplaced }),
			want:   failed("fast is too much in step 100.", 10),
		},
		"in doubt":            {status: done(doubted(1, "10")), want: inconclusive("fast has too few samples in step 10.", 0)},
		"in doubt at the top": {status: done(doubted(0, "1000")), want: inconclusive("failureRate has too few samples in step 1000.", 100)},
		"the generator was the limit": {status: done(limited(4), doubted(0, "1000")),
			want: sick(inconclusive("failureRate has too few samples in step 1000.", 100), "Step 1000 was sent late.")},
		"the generator was late, and it does not matter": {status: done(limited(4)), want: sick(passed("Both thresholds were kept.", 1000), "Step 1000 was sent late.")},
		"the load was displaced": {status: done(limited(4), doubted(0, "1000"), func(s *v1beta1.LoadTestStatus) { s.Thresholds[0].Reason = v1beta1.ReasonLoadDisplaced }),
			want: sick(because(v1beta1.ReasonLoadDisplaced, inconclusive("failureRate has too few samples in step 1000.", 100)), "Step 1000 was sent late.")},
		"the generator was the limit before the breach": {status: done(limited(2), breached(0, "1000")),
			want: sick(failed("failureRate is too much in step 1000.", 100), "Step 100 was sent late.")},
		"a worker lost": {
			status: done(lost(1), cut(4, "only 2608 of the 8000 planned requests came due.", ptr(int64(1234))), limited(4)),
			want: sick(because(v1beta1.ReasonWorkerLost, inconclusive("1 of 4 workers was lost; at most 1234 requests are missing from the result. "+
				"Step 1000 did not run as planned: only 2608 of the 8000 planned requests came due.", 100)), "Step 1000 was sent late."),
		},
		"a worker lost, one request missing": {
			status: done(lost(1), cut(4, "only 7 of the 8 planned requests came due.", ptr(int64(1)))),
			want: because(v1beta1.ReasonWorkerLost, inconclusive("1 of 4 workers was lost; at most 1 request is missing from the result. "+
				"Step 1000 did not run as planned: only 7 of the 8 planned requests came due.", 100)),
		},
		"a worker lost that had reported all it sent": {
			status: done(lost(1), cut(4, "only 7 of the 8 planned requests came due.", ptr(int64(0)))),
			want: because(v1beta1.ReasonWorkerLost, inconclusive("1 of 4 workers was lost; no sent request is missing from the result. "+
				"Step 1000 did not run as planned: only 7 of the 8 planned requests came due.", 100)),
		},
		"workers lost where no bound is known": {
			status: done(lost(3), cut(2, "only 1 of 4 workers completed it.", nil), cut(4, "no worker began it.", ptr(int64(7)))),
			want: because(v1beta1.ReasonWorkerLost, inconclusive("3 of 4 workers were lost; the result may lack requests that were sent, and it is not known how many. "+
				"Step 100 did not run as planned: only 1 of 4 workers completed it.", 10)),
		},
		"workers lost in a rest": {status: done(lost(3), cut(3, "", nil), skipFrom(4)),
			want: because(v1beta1.ReasonWorkerLost, inconclusive("3 of 4 workers were lost; no sent request is missing from the result.", 100))},
		"a step whose plan was not carried out": {
			status: done(cut(2, "9000 requests came due, but only 8000 were planned.", nil)),
			want:   because(v1beta1.ReasonStepCut, inconclusive("Step 100 did not run as planned: 9000 requests came due, but only 8000 were planned.", 10)),
		},
		"a report missing": {
			status: done(func(s *v1beta1.LoadTestStatus) {
				s.Steps[2].WorkersReporting, s.Steps[2].Message = 3, "It took its time."
			}),
			want: because(v1beta1.ReasonStepCut, inconclusive("Step 100 has the measurements of 3 of 4 workers.", 10)),
		},
		"a threshold that no step is small enough for": {
			edit:   func(s *v1beta1.LoadTestSpec) { s.Thresholds[1].UpToUsers = ptr(int32(5)) },
			status: done(unjudged(1, "fast")),
			want:   inconclusive("Threshold fast was not judged: no step that ran has at most 5 users (upToUsers).", 1000),
		},
		"such a threshold before one that the generator decides": {
			edit: func(s *v1beta1.LoadTestSpec) { s.Thresholds[0].UpToUsers = ptr(int32(5)) },
			status: done(func(s *v1beta1.LoadTestStatus) {
				s.Thresholds[0] = v1beta1.ThresholdStatus{Name: "fast", State: v1beta1.ThresholdPending}
				s.Thresholds[1] = v1beta1.ThresholdStatus{Name: "slow", State: v1beta1.ThresholdInconclusive, Reason: v1beta1.ReasonLoadDisplaced}
			}),
			want: inconclusive("Threshold fast was not judged: no step that ran has at most 5 users (upToUsers).", 100),
		},
		"a threshold whose step did not run": {
			edit:   func(s *v1beta1.LoadTestSpec) { s.Thresholds[1].Steps = []string{"peak"} },
			status: done(unjudged(1, "fast")),
			want:   inconclusive("Threshold fast was not judged: none of its steps ran.", 1000),
		},
		"a threshold of each step, before the first": {status: done(unjudged(0, "failureRate")),
			want: inconclusive("Threshold failureRate was not judged: no step ran.", 1000)},
		"a delay of which no step has the generator": {
			status: done(doubted(0, "1000"), func(s *v1beta1.LoadTestStatus) {
				s.Thresholds[0].Reason = v1beta1.ReasonGeneratorUncertain
				for i := range s.Steps {
					if s.Steps[i].Result != nil {
						s.Steps[i].Result.Generator = nil
					}
				}
			}),
			want: verdict.Judgement{
				Verdict: v1beta1.VerdictInconclusive, ThresholdsMet: metav1.ConditionUnknown, Reason: v1beta1.ReasonGeneratorUncertain,
				Message: "failureRate has too few samples in step 1000.", Sustained: verdict.Sustained{Users: ptr(int32(100))},
			},
		},
		"a status without thresholds": {status: done(func(s *v1beta1.LoadTestStatus) { s.Thresholds = nil }),
			want: inconclusive("No threshold was judged: no step ran.", 1000)},
		"a threshold that the spec does not have": {status: done(and(v1beta1.ThresholdStatus{Name: "other", State: v1beta1.ThresholdPending})),
			want: passed("Both thresholds were kept.", 1000)},
		"users that no threshold is about are not sustained": {
			edit:   func(s *v1beta1.LoadTestSpec) { s.Thresholds[0].UpToUsers = ptr(int32(100)) },
			status: done(func(s *v1beta1.LoadTestStatus) { setState(s, "1000", "") }),
			want:   passed("Both thresholds were kept.", 100),
		},
		"users that only a default is about are not sustained": {
			edit:   func(s *v1beta1.LoadTestSpec) { s.Thresholds[0].UpToUsers = ptr(int32(100)) },
			status: done(),
			want:   passed("Both thresholds were kept.", 100),
		},
		"a step that was cut": {status: done(cut(4, "", nil)), want: because(v1beta1.ReasonStepCut, inconclusive("Step 1000 was cut before its end.", 100))},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := ladder(10, 100, 1000)
			if tc.edit != nil {
				tc.edit(s)
			}
			before := tc.status.DeepCopy()
			same.As(t, "judgement", tc.want, verdict.Final(s, tc.status))
			same.As(t, "Final changed its argument", before, tc.status)
		})
	}
}

func TestFinalOfARunWithoutResults(t *testing.T) {
	got := verdict.Final(ladder(10), &v1beta1.LoadTestStatus{})
	want := verdict.Judgement{
		Verdict: v1beta1.VerdictInconclusive, ThresholdsMet: metav1.ConditionUnknown, Reason: v1beta1.ReasonInconclusive,
		Message: "No threshold was judged: no step ran.",
	}
	same.As(t, "judgement", want, got)
}

// A step that keeps its thresholds for its own time and would not for longer is Passed, and
// the sentence says what comes: 45 are outstanding in the mean, and so 23 at first; there are
// 380 that take the second of p99's limit after 89 s, and 190 that take half a second after
// 42 s.
func TestAGrowingStepSaysWhatComes(t *testing.T) {
	const first = "The threshold was kept. Outstanding requests grew by 4/s in step 1000"
	half := metav1.Duration{Duration: 500 * time.Millisecond}
	onTime := atLeast("onTimeRate", "99%")
	onTime.Within = &half
	ofOne, ofType := atMost("p99", "1s"), atMost("p99", "1s")
	ofOne.Requests, ofType.Types = []string{"a"}, []string{"Read"}
	ofExpected, sinceSent, gaps := atMost("p99", "1s"), atMost("p99", "1s"), atMost("p99", "1s")
	ofExpected.Of, sinceSent.Time, gaps.Time = v1beta1.LatencyOfExpected, v1beta1.ServiceTime, v1beta1.BetweenEventsTime
	responses := atMost("p99", "1s")
	responses.Of, responses.Time = v1beta1.LatencyOfAll, v1beta1.ResponseTime
	ofBoth, onTimeOfOne := filtered(ofOne, []string{"a"}, []string{"Read"}, nil), onRequest(onTime, "a")
	for name, tc := range map[string]struct {
		spec *v1beta1.LoadTestSpec
		want string
	}{
		"no limit on times":        {spec(atMost("failureRate", "1%")), first + ". Step 1000 does not count as kept."},
		"a percentile":             {spec(atMost("p99", "1s")), first + "; at that rate p99 passes 1s after 89s of this load. Step 1000 does not count as kept."},
		"the one that comes first": {spec(atMost("p99", "1s"), onTime), first + "; at that rate response times pass 500ms after 42s of this load. Step 1000 does not count as kept."},
		"in another order":         {spec(onTime, atMost("p99", "1s")), first + "; at that rate response times pass 500ms after 42s of this load. Step 1000 does not count as kept."},
		"a limit that is no time":  {spec(atMost("p99", "soon")), first + ". Step 1000 does not count as kept."},
		"a limit of a part of them": {
			spec(ofOne, ofType, ofBoth, onTimeOfOne, ofJourneys(atMost("p99", "1s"), "a"), upTo(5, atMost("p99", "1s"))), first + ". Step 1000 does not count as kept.",
		},
		"a limit of other times":                        {spec(ofExpected, sinceSent, gaps), first + ". Step 1000 does not count as kept."},
		"a limit of response times":                     {spec(responses), first + "; at that rate p99 passes 1s after 89s of this load. Step 1000 does not count as kept."},
		"a minimum, and a limit that is passed already": {spec(atLeast("p99", "1s"), atMost("p99", "1ms")), first + ". Step 1000 does not count as kept."},
		"two that come together":                        {spec(atMost("p99", "1s"), atMost("p95", "1s")), first + "; at that rate p99 passes 1s after 89s of this load. Step 1000 does not count as kept."},
	} {
		t.Run(name, func(t *testing.T) {
			got := verdict.Final(tc.spec, done(growing(4), func(s *v1beta1.LoadTestStatus) { s.Thresholds = s.Thresholds[:1] }))
			if got.Verdict != v1beta1.VerdictPassed || got.Message != tc.want {
				t.Errorf("%s (-want +got):\n%s", got.Verdict, cmp.Diff(tc.want, got.Message))
			}
		})
	}
}

func TestGrowthOfTheControlIsNotSaid(t *testing.T) {
	got := verdict.Final(spec(atMost("p99", "1s")), done(growing(4), func(s *v1beta1.LoadTestStatus) {
		s.Thresholds, s.Steps[4].Side = s.Thresholds[:1], v1beta1.SideControl
	}))
	if got.Message != "The threshold was kept." {
		t.Error(got.Message)
	}
}

// What may be the generator's growth is said at both ends.
func TestAStepThatMayGrowSaysSo(t *testing.T) {
	const want = "The threshold was kept. Outstanding requests grew by 5/s in step 1000, and by 0/s without the generator's own delay. Step 1000 does not count as kept."
	got := verdict.Final(spec(atMost("p99", "1s")), done(uncertain(4), func(s *v1beta1.LoadTestStatus) { s.Thresholds = s.Thresholds[:1] }))
	if got.Verdict != v1beta1.VerdictPassed || got.Message != want {
		t.Errorf("%s (-want +got):\n%s", got.Verdict, cmp.Diff(want, got.Message))
	}
}

// A smaller step after a larger one does not lower what was sustained.
func TestTheLargestSustainedStepCounts(t *testing.T) {
	got := verdict.Final(ladder(1000, 10, 100), done(func(s *v1beta1.LoadTestStatus) {
		s.Steps[0].Load, s.Steps[2].Load, s.Steps[4].Load = s.Steps[4].Load, s.Steps[0].Load, s.Steps[2].Load
	}))
	if got.Sustained.Users == nil || *got.Sustained.Users != 1000 {
		t.Errorf("max sustained users is %v, want 1000", got.Sustained.Users)
	}
}

func TestArrivalsSustainARate(t *testing.T) {
	s := spec(atMost("failureRate", "1%"))
	got := verdict.Final(s, done(func(status *v1beta1.LoadTestStatus) {
		status.Steps, status.Thresholds = status.Steps[:1], status.Thresholds[:1]
		status.Steps[0].Load = arrivals.Load
	}))
	if want := (verdict.Sustained{Rate: "5"}); got.Sustained != want || got.Verdict != v1beta1.VerdictPassed {
		t.Errorf("verdict %s with %v, want Passed with %v", got.Verdict, got.Sustained, want)
	}
}

// The rates of a ladder are sustained by the same rule as its users.
func TestMaxSustainedRate(t *testing.T) {
	tests := map[string]struct {
		edit func(*v1beta1.LoadTestStatus)
		want string
	}{
		"all kept":                       {func(*v1beta1.LoadTestStatus) {}, "1000"},
		"compared as numbers":            {func(s *v1beta1.LoadTestStatus) { s.Steps[0].Load.Rate = rateOf("99.5") }, "1000"},
		"the lowest first is not needed": {func(s *v1beta1.LoadTestStatus) { s.Steps[0].Load.Rate = rateOf("1000.5") }, "1000.5"},
		"the first of equal ones":        {func(s *v1beta1.LoadTestStatus) { s.Steps[0].Load.Rate = rateOf("1000.0") }, "1000.0"},
		"breached at the last":           {breached(0, "1000"), "100"},
		"doubted at the last":            {doubted(0, "1000"), "100"},
		"the generator was late":         {limited(4), "1000"},
		"the load was displaced": {func(s *v1beta1.LoadTestStatus) {
			s.Steps[4].Result.Generator = &v1beta1.GeneratorStatus{LoadDisplaced: true}
		}, "100"},
		"cut":                             {cut(4, "a worker was late.", nil), "100"},
		"outstanding requests grew":       {growing(4), "100"},
		"they may have grown":             {uncertain(4), "100"},
		"breached at the first":           {breached(0, "10"), ""},
		"a ramp has no one rate":          {func(s *v1beta1.LoadTestStatus) { s.Steps[4].Load.RampTo = rateOf("2000") }, "100"},
		"users and rates, of a mixed run": {func(s *v1beta1.LoadTestStatus) { s.Steps[0].Load = v1beta1.StepLoad{Users: 7} }, "1000"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status := done(func(s *v1beta1.LoadTestStatus) {
				for i, rate := range map[int]string{0: "10", 2: "100", 4: "1000"} {
					s.Steps[i].Load = v1beta1.StepLoad{Rate: rateOf(rate)}
				}
			}, tc.edit)
			same.As(t, "sustained rate", tc.want, verdict.Final(spec(atMost("failureRate", "1%")), status).Sustained.Rate)
		})
	}
}

// A ramp of users names no number of users, neither that of its end nor that with which it
// begins.
func TestARampOfUsersSustainsNone(t *testing.T) {
	for name, last := range map[string]string{"up": "5000", "down": "1"} {
		got := verdict.Final(ladder(10, 100, 1000), done(func(s *v1beta1.LoadTestStatus) { s.Steps[4].Load.RampTo = rateOf(last) }))
		if got.Sustained.Users == nil || *got.Sustained.Users != 100 {
			t.Errorf("%s: max sustained users is %v, want 100", name, got.Sustained.Users)
		}
	}
}

func rateOf(text string) *v1beta1.Decimal { return ptr(v1beta1.NewDecimal(text)) }

// A run in which the target was changed is of no one target. A restart alone is: what
// failed then counts.
func TestChangedTargetIsInconclusive(t *testing.T) {
	for spoils, want := range map[v1beta1.Spoiled]v1beta1.Verdict{v1beta1.SpoiledRun: v1beta1.VerdictInconclusive, "": v1beta1.VerdictPassed} {
		s := done(func(s *v1beta1.LoadTestStatus) {
			s.Steps[0].Environment = &v1beta1.StepEnvironment{Changes: []v1beta1.EnvironmentChange{{Spoils: spoils, Message: "The image changed."}}}
		})
		j := verdict.Final(ladder(10, 100, 1000), s)
		if j.Verdict != want || (spoils != "") != strings.Contains(j.Message, "The image changed.") {
			t.Errorf("spoils %q: %s: %s", spoils, j.Verdict, j.Message)
		}
	}
}
