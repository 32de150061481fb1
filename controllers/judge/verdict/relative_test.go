package verdict_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// slowest is a result whose p95 is that many milliseconds, and whose goodput is ten
// times as many; 0: it has too few samples for a p95.
func slowest(millis float64) *v1beta1.StepResult {
	r := &v1beta1.StepResult{Due: 1000, Goodput: fmt.Sprintf("%.1f", 10*millis), ResponseTime: &v1beta1.Latency{Samples: 1000}}
	r.Sent, r.Expected, r.Completed = 1000, 1000, 1000
	if millis > 0 {
		r.ResponseTime.P95 = &metav1.Duration{Duration: time.Duration(millis * float64(time.Millisecond)).Round(time.Microsecond)}
	}
	return r
}

// repeated is a ladder of 100 users with a threshold, that ran as often as there are
// results.
func repeated(threshold v1beta1.Threshold, results ...*v1beta1.StepResult) (*v1beta1.LoadTestSpec, *v1beta1.LoadTestStatus) {
	s := ladder(100)
	s.Repetitions, s.Thresholds = int32(len(results)), []v1beta1.Threshold{threshold}
	s.Baseline = &v1beta1.Baseline{Name: "before"}
	status := &v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictPassed, Workers: v1beta1.WorkerCounts{Desired: 1}, Requests: plan.RequestNames(s), Steps: plan.Steps(s)}
	status.Thresholds = verdict.Thresholds(s, status.Requests, nil)
	for i := range status.Steps {
		if step := &status.Steps[i]; !step.Load.IsPause() {
			step.State, step.WorkersReporting = v1beta1.StepComplete, 1
			step.Result, results = results[0], results[1:]
		}
	}
	return s, status
}

// compared is the threshold's result after the last repetition, against a baseline whose
// repetitions had these results.
func compared(t *testing.T, threshold v1beta1.Threshold, before, after []*v1beta1.StepResult, beside ...v1beta1.Threshold) (v1beta1.ThresholdStatus, bool) {
	t.Helper()
	earlier := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: "before"}}
	spec, status := repeated(threshold, before...)
	earlier.Spec, earlier.Status = *spec, *status
	spec, status = repeated(threshold, after...)
	spec.Thresholds = append(spec.Thresholds, beside...)
	status.Thresholds = verdict.Thresholds(spec, status.Requests, nil)
	copied, refusal := baseline.Copy(spec, status.Steps, earlier)
	if refusal != nil {
		t.Fatal(refusal)
	}
	status.Baseline = copied
	return judgeRepeated(t, spec, status)
}

func judgeRepeated(t *testing.T, spec *v1beta1.LoadTestSpec, status *v1beta1.LoadTestStatus) (v1beta1.ThresholdStatus, bool) {
	t.Helper()
	stopped := false
	for i := range status.Steps {
		if status.Steps[i].Load.IsPause() {
			continue
		}
		j := verdict.Judge(spec, status, i, sent(100, 0).merged)
		status.Thresholds, stopped = j.Thresholds, stopped || j.Stop
		if j.Generator != nil {
			t.Errorf("a difference says of the generator of step %s: %+v", status.Steps[i].Name, j.Generator)
		}
		if last := i == len(status.Steps)-1; !last && status.Thresholds[0].State != v1beta1.ThresholdPending {
			t.Errorf("%s after step %s, before the last repetition", status.Thresholds[0].State, status.Steps[i].Name)
		}
	}
	return status.Thresholds[0], stopped
}

func p95s(millis ...float64) []*v1beta1.StepResult {
	var list []*v1beta1.StepResult
	for _, m := range millis {
		list = append(list, slowest(m))
	}
	return list
}

func increase(metric v1beta1.Metric, most string) v1beta1.Threshold {
	return v1beta1.Threshold{Metric: metric, MaxIncrease: most}
}

func lessGoodput() v1beta1.Threshold {
	return v1beta1.Threshold{Metric: v1beta1.MetricGoodput, MaxDecrease: "5%"}
}

const tellNoise = " How much of that is noise cannot be told from 1 repetition and 1 of the baseline: use at least 3 repetitions of both."

// times are p95s in milliseconds.
type times []float64

// comparison is what is said of a threshold in comparison with another run or target, and after it.
func comparison(t v1beta1.Threshold, compared, with, more string) string {
	switch {
	case compared == "":
		return more
	case t.MaxIncrease != "":
		return compared + " of " + with + "; at most " + t.MaxIncrease + " above is allowed." + more
	}
	return compared + " of " + with + "; at most " + t.MaxDecrease + " below is allowed." + more
}

func TestDifferenceToTheBaseline(t *testing.T) {
	for name, tc := range map[string]struct {
		threshold     v1beta1.Threshold
		before, after times
		state         v1beta1.ThresholdState
		observed      string
		compared      string // what is said before " of LoadTest before"; empty: message is all
		message       string
	}{
		"one of each, within": {increase("p95", "10%"), times{40}, times{44}, passed, "+10%", "p95 is 44ms in step 100, 10% above the 40ms", tellNoise},
		"one of each, a microsecond beyond": {
			increase("p95", "10%"), times{40}, times{44.001}, broken, "+10.01%", "p95 is 44.001ms in step 100, 10.01% above the 40ms", tellNoise,
		},
		"faster is no increase": {increase("p95", "0%"), times{40}, times{30}, passed, "-25%", "p95 is 30ms in step 100, 25% below the 40ms", tellNoise},
		"the same":              {increase("p95", "0%"), times{40}, times{40}, passed, "0%", "p95 is 40ms in step 100, as much as the 40ms", tellNoise},
		"less goodput":          {lessGoodput(), times{100}, times{94}, broken, "-6%", "goodput is 940 in step 100, 6% below the 1000", tellNoise},
		"a little less goodput": {lessGoodput(), times{100}, times{95}, passed, "-5%", "goodput is 950 in step 100, 5% below the 1000", tellNoise},
		"a decrease is rounded towards the breach": {lessGoodput(), times{30}, times{28.49}, broken, "-5.04%", "goodput is 284.9 in step 100, 5.04% below the 300", tellNoise},
		"certainly beyond": {
			increase("p95", "10%"), times{100, 101, 102, 103, 104}, times{120, 121, 122, 123, 124}, broken, "+19.61%", "p95 is 122ms in step 100 (5), 19.61% above the 102ms",
			" Over 5 repetitions and 5 of the baseline, the change is between +17.48% and +21.79%.",
		},
		"certainly within": {
			increase("p95", "10%"), times{100, 101, 102, 103, 104}, times{101, 100, 103, 102, 105}, passed, "0%", "p95 is 102ms in step 100 (5), as much as the 102ms",
			" Over 5 repetitions and 5 of the baseline, the change is between -1.94% and +2%.",
		},
		"not to be said": {
			increase("p95", "10%"), times{100, 120, 140, 110, 130}, times{150, 115, 125, 160, 121}, inconclusive, "+13.64%", "p95 is 125ms in step 100 (5), by the median of all pairs of repetitions 13.64% above the 120ms",
			" Over 5 repetitions and 5 of the baseline, the change may be anything between -6.92% and +33.34%: use more repetitions.",
		},
		"two of each that disagree": {
			increase("p95", "10%"), times{100, 130}, times{125, 118}, inconclusive, "+7.08%", "p95 is 121.5ms in step 100 (2), by the median of all pairs of repetitions 7.08% above the 115ms",
			" Over the pairs of 2 repetitions and 2 of the baseline, the change is between -9.23% and +25%: use at least 3 repetitions of both.",
		},
		"an outlier among five leaves it open": {increase("p95", "10%"), times{100, 101, 102, 103, 104}, times{100, 101, 102, 103, 900}, inconclusive, "0%", "", ""},
		"no failure before and after":          {increase("failureRate", "10%"), times{1}, times{1}, passed, "0%", "failureRate is 0% in step 100, as much as the 0%", tellNoise},
		"too few samples": {increase("p95", "10%"), times{1}, times{0}, inconclusive, "", "",
			"p95 of step 100 cannot be compared: step 100 has no such figure: it had too few samples."},
		"too few samples of a request": {
			onRequest(increase("p95", "10%"), "create"), times{1}, times{1}, inconclusive, "", "",
			"p95 of create of step 100 cannot be compared: LoadTest before has no such figure in its step 100: it had too few samples of request create, or no room for its result, or too many requests that were not sent or not answered.",
		},
		"a bound that cannot be read": {v1beta1.Threshold{Metric: v1beta1.MetricGoodput, MaxDecrease: "much"}, times{1}, times{1}, inconclusive, "", "",
			`The bound of goodput cannot be read: "much" is not a percentage such as 1%.`},
		"too few samples before": {
			increase("p95", "10%"), times{0, 1}, times{1}, inconclusive, "", "",
			"p95 of step 100 cannot be compared: LoadTest before has no such figure in its step 100: it had too few samples, or too many requests that were not sent or not answered.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, stopped := compared(t, tc.threshold, p95s(tc.before...), p95s(tc.after...))
			if got.State != tc.state || got.Observed != tc.observed || got.WithoutGenerator != "" || stopped {
				t.Errorf("%s with %s observed, stopped %t; want %s with %s: %s", got.State, got.Observed, stopped, tc.state, tc.observed, got.Message)
			}
			if want := comparison(tc.threshold, tc.compared, "LoadTest before", tc.message); want != "" && got.Message != want {
				t.Errorf("message\n%s\nwant\n%s", got.Message, want)
			}
		})
	}
}

// Something where there was nothing is beyond any percentage. As many as before are no change, though the share
// of the baseline is rounded.
func TestChangeOfFailures(t *testing.T) {
	failing := func(failed, sent int64) []*v1beta1.StepResult {
		r := slowest(1)
		r.Due, r.Sent, r.Completed, r.Failed, r.Expected = sent, sent, sent, failed, sent-failed
		return []*v1beta1.StepResult{r}
	}
	for most, tc := range map[string]struct {
		before, after []*v1beta1.StepResult
		state         v1beta1.ThresholdState
		compared      string
	}{
		"500%": {failing(0, 1000), failing(5, 1000), broken, "failureRate is 0.5% in step 100, beyond any percentage above the 0%"},
		"0%":   {failing(1, 300), failing(1, 300), passed, "failureRate is 0.34% in step 100, as much as the 0.34%"},
	} {
		threshold := increase("failureRate", most)
		got, _ := compared(t, threshold, tc.before, tc.after)
		if want := comparison(threshold, tc.compared, "LoadTest before", tellNoise); got.State != tc.state || got.Message != want {
			t.Errorf("%s: %s\nwant %s: %s", got.State, got.Message, tc.state, want)
		}
	}
}

// A change that the generator's own delay decides is charged to no side.
func TestChangeThatTheGeneratorDecides(t *testing.T) {
	delayed := func(ideal float64) []*v1beta1.StepResult {
		after := p95s(20, 20, 20)
		for i := range after {
			after[i].WithoutGenerator = p95s(ideal)[0].ResponseTime
			after[i].Undecided, after[i].Generator = 1, &v1beta1.GeneratorStatus{Healthy: true}
		}
		return after
	}
	for name, tc := range map[string]struct {
		ideal                    float64
		state                    v1beta1.ThresholdState
		reason, withoutGenerator string
	}{
		"no change without it":          {10, v1beta1.ThresholdInconclusive, v1beta1.ReasonGeneratorUncertain, "0%"},
		"too large a change either way": {15, v1beta1.ThresholdFailed, "", "+50%"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := compared(t, increase("p95", "10%"), p95s(10, 10, 10), delayed(tc.ideal))
			if got.State != tc.state || got.Reason != tc.reason || got.Observed != "+100%" || got.WithoutGenerator != tc.withoutGenerator {
				t.Errorf("%+v", got)
			}
			if uncertain := strings.HasSuffix(got.Message, " Without the generator's own delay, the change is 0%, so this decides."); uncertain != (tc.reason != "") {
				t.Errorf("the sentence is %q", got.Message)
			}
		})
	}
}

// A percentile of all that were due is higher by as many ranks as requests have no time: a change that these ranks
// decide is not certain.
func TestChangeThatRequestsWithoutATimeDecide(t *testing.T) {
	unanswered := func(n int64, withHistogram bool, longest time.Duration) []*v1beta1.StepResult {
		r, h := slowest(40), measure.NewHistogram()
		h.RecordN(40*ms, 960)
		h.RecordN(longest, 40)
		r.ResponseTime.P99, r.ResponseTime.Longest = &metav1.Duration{Duration: longest}, &metav1.Duration{Duration: longest}
		if r.Outcomes.Unfinished, r.Failed, r.Sent, r.Due = n, n, r.Sent+n, r.Due+n; withHistogram {
			encoded, err := h.Encode()
			must.Succeed(t, err)
			r.Histogram = encoded
		}
		return []*v1beta1.StepResult{r}
	}
	const decide = " If the requests that were not sent or not answered had taken longer than all others, the change would be %s, so these decide."
	waive := atMost("failureRate", "10%")
	for name, tc := range map[string]struct {
		before, after []*v1beta1.StepResult
		state         v1beta1.ThresholdState
		suffix        string
	}{
		"of this run":              {unanswered(0, true, 300*ms), unanswered(30, true, 300*ms), v1beta1.ThresholdInconclusive, fmt.Sprintf(decide, "+650.08%")},
		"of the other":             {unanswered(30, true, 300*ms), unanswered(0, true, 300*ms), v1beta1.ThresholdPassed, ""},
		"of both":                  {unanswered(30, true, 300*ms), unanswered(30, true, 300*ms), v1beta1.ThresholdPassed, ""},
		"too few to decide":        {unanswered(0, true, 300*ms), unanswered(9, true, 300*ms), v1beta1.ThresholdPassed, ""},
		"not longer than others":   {unanswered(0, true, 300*ms), unanswered(30, true, 42*ms), v1beta1.ThresholdPassed, ""},
		"without a histogram":      {unanswered(0, false, 300*ms), unanswered(9, false, 300*ms), v1beta1.ThresholdInconclusive, fmt.Sprintf(decide, "+650%")},
		"none, without one either": {unanswered(0, false, 300*ms), unanswered(0, false, 300*ms), v1beta1.ThresholdPassed, ""},
	} {
		got, _ := compared(t, increase("p95", "10%"), tc.before, tc.after, waive)
		lt := versus(t, 1, increase("p95", "10%"), waive)
		carryOut(lt, tc.after, tc.before, nil)
		for to, got := range map[string]v1beta1.ThresholdStatus{"a baseline": got, "a control": lt.Status.Thresholds[0]} {
			if got.State != tc.state || got.Reason != "" || !strings.HasSuffix(got.Message, tc.suffix) {
				t.Errorf("%s, to %s: %s (%s): %s", name, to, got.State, got.Reason, got.Message)
			}
		}
	}
}

// The same holds of the requests of one type, and of one request.
func TestChangeOfATypeThatTheGeneratorDecides(t *testing.T) {
	of := func(measured, ideal float64) []*v1beta1.StepResult {
		r := slowest(1)
		part := v1beta1.PartResult{Counts: r.Counts, ResponseTime: slowest(measured).ResponseTime, WithoutGenerator: slowest(ideal).ResponseTime}
		r.Types, r.Requests = []v1beta1.TypeResult{{Name: "Write", PartResult: part}}, []v1beta1.RequestResult{{Name: "create", PartResult: part}}
		return []*v1beta1.StepResult{r}
	}
	threshold, ofRequest := increase("p95", "10%"), increase("p95", "10%")
	threshold.Types, ofRequest.Requests = []string{"Write"}, []string{"create"}
	for name, tc := range map[string]struct {
		before, after []*v1beta1.StepResult
		state         v1beta1.ThresholdState
	}{
		"no change without it":          {of(10, 10), of(20, 10), v1beta1.ThresholdInconclusive},
		"a change without it":           {of(20, 10), of(20, 20), v1beta1.ThresholdInconclusive},
		"too large a change either way": {of(10, 10), of(20, 15), v1beta1.ThresholdFailed},
		"no change either way":          {of(20, 10), of(20, 10), v1beta1.ThresholdPassed},
	} {
		for _, threshold := range []v1beta1.Threshold{threshold, ofRequest} {
			if got, _ := compared(t, threshold, tc.before, tc.after); got.State != tc.state {
				t.Errorf("%s: %s: %s", name, got.State, got.Message)
			}
		}
		lt := versus(t, 1, threshold)
		if carryOut(lt, tc.after, tc.before, nil); lt.Status.Thresholds[0].State != tc.state {
			t.Errorf("%s, to a control: %s: %s", name, lt.Status.Thresholds[0].State, lt.Status.Thresholds[0].Message)
		}
	}
}

// Requests that one side sent later than the other came together at its target, and may have
// waited for one another there: a throttled worker makes no target slower, and hides nothing.
func TestChangeThatLateRequestsMayHaveMade(t *testing.T) {
	of := func(p95, late float64) []*v1beta1.StepResult {
		list := p95s(p95, p95, p95, p95, p95)
		for _, r := range list {
			r.LateTogether = slowest(late).ResponseTime
		}
		list[4].LateTogether = slowest(50).ResponseTime // in one repetition of each, all are late
		return list
	}
	const came = " Requests of %s were up to %dms later than requests of %s, reached the target together, and may have waited for one another: without that, the change is %s."
	for name, tc := range map[string]struct {
		before, after []*v1beta1.StepResult
		state         v1beta1.ThresholdState
		change        string
	}{
		"of the judged target":    {of(10, 1), of(20, 13), v1beta1.ThresholdInconclusive, fmt.Sprintf(came, "v4", 12, "v3", "-20%")},
		"by more than they took":  {of(10, 1), of(20, 33), v1beta1.ThresholdInconclusive, fmt.Sprintf(came, "v4", 32, "v3", "-100%")},
		"of what it is held to":   {of(20, 13), of(20, 1), v1beta1.ThresholdInconclusive, fmt.Sprintf(came, "v3", 12, "v4", "+150%")},
		"alike on both sides":     {of(10, 13), of(20, 13), v1beta1.ThresholdFailed, ""},
		"alike, and no change":    {of(20, 13), of(20, 13), v1beta1.ThresholdPassed, ""},
		"by too little to decide": {of(10, 1), of(20, 9), v1beta1.ThresholdFailed, ""},
		"not known":               {of(10, 0), of(20, 0), v1beta1.ThresholdFailed, ""},
	} {
		lt := versus(t, 5, increase("p95", "10%"))
		carryOut(lt, slices.Clone(tc.after), slices.Clone(tc.before), nil)
		if got := lt.Status.Thresholds[0]; got.State != tc.state || !strings.HasSuffix(got.Message, tc.change) || (tc.change != "") != (got.Reason == v1beta1.ReasonGeneratorUncertain) {
			t.Errorf("%s, to a control: %s (%s): %s", name, got.State, got.Reason, got.Message)
		}
		got, _ := compared(t, increase("p95", "10%"), tc.before, tc.after)
		if want := strings.NewReplacer("v4", "this run", "v3", "LoadTest before").Replace(tc.change); got.State != tc.state || !strings.HasSuffix(got.Message, want) {
			t.Errorf("%s: %s: %s", name, got.State, got.Message)
		}
	}
}

// What had waited for less than its timeout at the end of a step is neither a failure nor none.
func TestChangeThatUndecidedRequestsDecide(t *testing.T) {
	failing := func(failed, undecided int64) []*v1beta1.StepResult {
		r := slowest(10)
		r.Failed, r.Expected, r.Undecided, r.Outcomes.Unfinished = failed, r.Sent-failed, undecided, undecided
		return []*v1beta1.StepResult{r}
	}
	const decide = " Without failures that the generator caused, and undecided requests, the change is %s, so this decides."
	for name, tc := range map[string]struct {
		control, candidate []*v1beta1.StepResult
		state              v1beta1.ThresholdState
		suffix             string
	}{
		"of the candidate":     {failing(5, 0), failing(50, 45), v1beta1.ThresholdInconclusive, fmt.Sprintf(decide, "0%")},
		"of the control":       {failing(10, 9), failing(10, 0), v1beta1.ThresholdInconclusive, fmt.Sprintf(decide, "+900%")},
		"too few to decide":    {failing(5, 0), failing(50, 40), v1beta1.ThresholdFailed, ""},
		"one of the candidate": {failing(5, 0), failing(6, 1), v1beta1.ThresholdInconclusive, fmt.Sprintf(decide, "0%")},
		"as many of either":    {failing(9, 4), failing(9, 4), v1beta1.ThresholdPassed, ""},
		"a control with many":  {failing(50, 45), failing(50, 45), v1beta1.ThresholdInconclusive, "failureRate is between 0.5% and 5% in step 100 on v3; a control may have at most 1%."},
	} {
		lt := versus(t, 1, increase("failureRate", "10%"))
		carryOut(lt, tc.candidate, tc.control, nil)
		if got := lt.Status.Thresholds[0]; got.State != tc.state || got.Reason != "" || !strings.HasSuffix(got.Message, tc.suffix) {
			t.Errorf("%s: %s (%s): %s", name, got.State, got.Reason, got.Message)
		}
	}
}

func TestBreachOfADifferenceStopsInTheLastRepetition(t *testing.T) {
	threshold := increase("p95", "10%")
	threshold.OnBreach = v1beta1.BreachStopLadder
	if got, stopped := compared(t, threshold, p95s(10, 10, 10), p95s(20, 20, 20)); !stopped {
		t.Errorf("%s, and the run goes on", got.State)
	}
}

// What the generator limited, or was not carried out, is compared with nothing.
func TestOnlyWholeStepsAreCompared(t *testing.T) {
	for name, edit := range map[string]func(*v1beta1.StepStatus){
		"a displaced load": func(s *v1beta1.StepStatus) { s.Result.Generator = &v1beta1.GeneratorStatus{LoadDisplaced: true} },
		"a cut step":       func(s *v1beta1.StepStatus) { s.State = v1beta1.StepCut },
		"a missing worker": func(s *v1beta1.StepStatus) { s.WorkersReporting = 0 },
		"another version": func(s *v1beta1.StepStatus) {
			s.Environment = &v1beta1.StepEnvironment{Changes: []v1beta1.EnvironmentChange{{Spoils: v1beta1.SpoiledStep}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec, status := repeated(increase("p95", "10%"), slowest(99))
			status.Baseline = &v1beta1.BaselineStatus{Name: "before", Steps: []v1beta1.BaselineStep{{Rung: 1, Figures: []v1beta1.Figure{{Metric: "p95", Value: "10ms"}}}}}
			edit(&status.Steps[0])
			got, _ := judgeRepeated(t, spec, status)
			want := "p95 of step 100 cannot be compared: it did not run with all workers and the planned load."
			if got.State != v1beta1.ThresholdInconclusive || got.Message != want {
				t.Errorf("%s: %s", got.State, got.Message)
			}
		})
	}
}

func TestStepWithoutACounterpart(t *testing.T) {
	for name, tc := range map[string]struct {
		copied *v1beta1.BaselineStatus
		want   string
	}{
		"another rung": {&v1beta1.BaselineStatus{Name: "before", Steps: []v1beta1.BaselineStep{{Rung: 2, Figures: []v1beta1.Figure{{Metric: "p95", Value: "10ms"}}}}},
			"LoadTest before has no step of that name and load"},
		"a figure that cannot be read": {
			&v1beta1.BaselineStatus{Name: "before", Steps: []v1beta1.BaselineStep{{Rung: 1, Name: "100", Figures: []v1beta1.Figure{{Metric: "p95", Value: "soon"}}}}},
			"LoadTest before has no such figure in its step 100",
		},
		"nothing was copied": {nil, "the status has no figures of the baseline."},
	} {
		t.Run(name, func(t *testing.T) {
			spec, status := repeated(increase("p95", "10%"), slowest(10))
			status.Baseline = tc.copied
			got, _ := judgeRepeated(t, spec, status)
			if got.State != v1beta1.ThresholdInconclusive || !strings.Contains(got.Message, tc.want) {
				t.Errorf("%s: %s", got.State, got.Message)
			}
		})
	}
}

// A run that ends before the last repetition is no proof.
func TestDifferenceThatWasNotJudged(t *testing.T) {
	spec, status := repeated(increase("p95", "10%"), slowest(10), slowest(10))
	status.Steps[len(status.Steps)-1] = v1beta1.StepStatus{Name: "100 (2)", State: v1beta1.StepSkipped, Load: status.Steps[0].Load, Rung: 1}
	j := verdict.Final(spec, status)
	want := "Threshold increase of p95 was not judged: no matching step completed all its repetitions."
	if j.Verdict != v1beta1.VerdictInconclusive || j.Message != want {
		t.Errorf("%s: %s", j.Verdict, j.Message)
	}
}

// The worst rung counts, and of those that passed the one nearest to its limit.
func TestDifferencesOfSeveralSteps(t *testing.T) {
	for name, tc := range map[string]struct {
		low, high float64
		step      string
		state     v1beta1.ThresholdState
	}{
		"narrower below": {108, 101, "100", v1beta1.ThresholdPassed},
		"narrower above": {101, 108, "200", v1beta1.ThresholdPassed},
		"both decreased": {80, 90, "200", v1beta1.ThresholdPassed},
		"breach above":   {108, 120, "200", v1beta1.ThresholdFailed},
		"both":           {120, 130, "100", v1beta1.ThresholdFailed},
	} {
		t.Run(name, func(t *testing.T) {
			spec := ladder(100, 200)
			spec.Thresholds = []v1beta1.Threshold{increase("p95", "10%")}
			status := &v1beta1.LoadTestStatus{Workers: v1beta1.WorkerCounts{Desired: 1}, Steps: plan.Steps(spec), Requests: plan.RequestNames(spec)}
			status.Thresholds = verdict.Thresholds(spec, status.Requests, nil)
			status.Baseline = &v1beta1.BaselineStatus{Name: "before"}
			values := []float64{tc.low, tc.high}
			for i := range status.Steps {
				step := &status.Steps[i]
				if step.Load.IsPause() {
					continue
				}
				status.Baseline.Steps = append(status.Baseline.Steps, v1beta1.BaselineStep{Rung: step.Rung, Figures: []v1beta1.Figure{{Metric: "p95", Value: "100ms"}}})
				step.State, step.WorkersReporting = v1beta1.StepComplete, 1
				step.Result, values = slowest(values[0]), values[1:]
				status.Thresholds = verdict.Judge(spec, status, i, sent(1, 0).merged).Thresholds
			}
			if got := status.Thresholds[0]; got.State != tc.state || got.Step != tc.step {
				t.Errorf("%s in step %s, want %s in step %s", got.State, got.Step, tc.state, tc.step)
			}
		})
	}
}
