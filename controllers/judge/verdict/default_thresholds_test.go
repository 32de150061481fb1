package verdict_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// paced is a step whose users have a rate.
func paced(n int32) v1beta1.StepStatus {
	step := users(n)
	step.Load.RatePerUser = ptr(v1beta1.NewDecimal("1"))
	return step
}

// accepted is the status of a run of these steps before the first of them.
func accepted(s *v1beta1.LoadTestSpec, steps ...v1beta1.StepStatus) *v1beta1.LoadTestStatus {
	status := &v1beta1.LoadTestStatus{Workers: v1beta1.WorkerCounts{Desired: 1}, Requests: plan.RequestNames(s), Steps: steps}
	status.Thresholds = verdict.Thresholds(s, status.Requests, steps)
	return status
}

// judged is that status after its steps had these outcomes, and were complete.
func judged(status *v1beta1.LoadTestStatus, s *v1beta1.LoadTestSpec, outcomes ...outcome) *v1beta1.LoadTestStatus {
	for i, o := range outcomes {
		status.Steps[i].Rung = int32(i) + 1
		complete(s, status, i, o)
	}
	return status
}

// complete ends a step with that outcome, and judges it.
func complete(s *v1beta1.LoadTestSpec, status *v1beta1.LoadTestStatus, i int, o outcome) verdict.Judged {
	step := &status.Steps[i]
	step.State, step.Result, step.WorkersReporting = v1beta1.StepComplete, o.result, 1
	j := verdict.Judge(s, status, i, o.merged)
	status.Thresholds, step.ThresholdState, step.Repeated = j.Thresholds, j.Step, j.Repeated
	return j
}

func filtered(t v1beta1.Threshold, requests, types []string, upToUsers *int32) v1beta1.Threshold {
	t.Name, t.Requests, t.Types, t.UpToUsers = "mine", requests, types, upToUsers
	return t
}

func TestDefaultsHoldWhereNoThresholdIsAboutTheirMetric(t *testing.T) {
	const failureRate, unsentRate, downtime = "failureRate at most 1%", "unsentRate at most 1%", "downtime at most 0.5%"
	mine := atMost("failureRate", "5%")
	burst := v1beta1.StepStatus{Name: "burst", Load: v1beta1.StepLoad{Users: 10, RequestsPerUser: 3, Requests: 30}}
	for name, tc := range map[string]struct {
		thresholds []v1beta1.Threshold
		steps      []v1beta1.StepStatus
		want       []string
	}{
		"no threshold":                      {nil, []v1beta1.StepStatus{paced(10)}, []string{failureRate, unsentRate, downtime}},
		"arrivals":                          {nil, []v1beta1.StepStatus{arrivals}, []string{failureRate, unsentRate, downtime}},
		"a burst":                           {nil, []v1beta1.StepStatus{burst}, []string{failureRate, unsentRate, downtime}},
		"users without a rate":              {nil, []v1beta1.StepStatus{users(10)}, []string{failureRate, downtime}},
		"users who think":                   {nil, []v1beta1.StepStatus{{Name: "users", Load: v1beta1.StepLoad{Users: 10, Think: v1beta1.NewThink(time.Second, 3*time.Second)}}}, []string{failureRate, unsentRate, downtime}},
		"one step with a rate":              {nil, []v1beta1.StepStatus{users(10), pause, paced(10)}, []string{failureRate, unsentRate, downtime}},
		"downtime":                          {[]v1beta1.Threshold{atMost("downtime", "10%")}, []v1beta1.StepStatus{paced(10)}, []string{failureRate, unsentRate}},
		"only a pause":                      {nil, []v1beta1.StepStatus{pause}, nil},
		"another metric":                    {[]v1beta1.Threshold{atMost("p95", "1s")}, []v1beta1.StepStatus{paced(10)}, []string{failureRate, unsentRate, downtime}},
		"the metric":                        {[]v1beta1.Threshold{mine}, []v1beta1.StepStatus{paced(10)}, []string{unsentRate, downtime}},
		"the metric, by a minimum":          {[]v1beta1.Threshold{atLeast("failureRate", "0%")}, []v1beta1.StepStatus{paced(10)}, []string{failureRate, unsentRate, downtime}},
		"the metric, by both":               {[]v1beta1.Threshold{atLeast("failureRate", "5%"), mine}, []v1beta1.StepStatus{paced(10)}, []string{unsentRate, downtime}},
		"the metric, beside a baseline's":   {[]v1beta1.Threshold{{Name: "mine", Metric: "failureRate", MaxIncrease: "5%"}}, []v1beta1.StepStatus{users(10)}, []string{failureRate, downtime}},
		"the other metric":                  {[]v1beta1.Threshold{atMost("unsentRate", "9%")}, []v1beta1.StepStatus{paced(10)}, []string{failureRate, downtime}},
		"one of two requests":               {[]v1beta1.Threshold{filtered(mine, []string{"follow"}, nil, nil)}, []v1beta1.StepStatus{users(10)}, []string{failureRate, downtime}},
		"both requests":                     {[]v1beta1.Threshold{filtered(mine, []string{"follow"}, nil, nil), filtered(mine, []string{"create"}, nil, nil)}, []v1beta1.StepStatus{users(10)}, []string{downtime}},
		"both types":                        {[]v1beta1.Threshold{filtered(mine, nil, []string{"Read", "Write"}, nil)}, []v1beta1.StepStatus{users(10)}, []string{downtime}},
		"steps of as many users":            {[]v1beta1.Threshold{filtered(mine, nil, nil, ptr(int32(10)))}, []v1beta1.StepStatus{users(10)}, []string{downtime}},
		"steps of fewer users, and of more": {[]v1beta1.Threshold{filtered(mine, nil, nil, ptr(int32(10)))}, []v1beta1.StepStatus{users(10), users(11)}, []string{failureRate, downtime}},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(tc.thresholds...)
			list := verdict.Thresholds(s, plan.RequestNames(s), tc.steps)
			var got []string
			for i, th := range list {
				if th.State != v1beta1.ThresholdPending || th.Default != (i >= len(tc.thresholds)) {
					t.Errorf("threshold %d is %+v", i, th)
				}
				if th.Default {
					got = append(got, string(th.Metric)+" at most "+th.Limit)
				}
			}
			same.As(t, "defaults", tc.want, got)
		})
	}
}

// answered404 turns all responses into ones that were not expected, as fast as before.
func answered404(o *outcome) {
	for i := range o.merged.Requests {
		r := &o.merged.Requests[i]
		r.Outcomes[measure.ClientError], r.Outcomes[measure.Success] = r.Sent, 0
		r.Expected, r.ExpectedInWindow = 0, 0
	}
}

// redirected turns all responses to create into redirects, of which n have another status.
func redirected(n int64) func(*outcome) {
	return func(o *outcome) {
		r := &o.merged.Requests[0]
		r.Outcomes[measure.UnexpectedStatus], r.Outcomes[measure.Success] = r.Sent, 0
		r.Expected, r.ExpectedInWindow = 0, 0
		r.CountStatus(308, r.Sent-n)
		if n > 0 {
			r.CountStatus(200, n)
		}
	}
}

// unsent adds requests that were due and not sent.
func unsent(n int64) func(*outcome) {
	return func(o *outcome) {
		o.merged.Due += n
		o.merged.Unsent += n
	}
}

func TestVerdictByDefault(t *testing.T) {
	limited := atMost("failureRate", "5%")
	limited.Types = []string{"Write"}
	for name, tc := range map[string]struct {
		thresholds []v1beta1.Threshold
		step       v1beta1.StepStatus
		outcome    outcome
		want       v1beta1.Verdict
		message    string
	}{
		"all is well":             {nil, paced(10), sent(50, 50), v1beta1.VerdictPassed, "All 3 thresholds were kept, defaults included."},
		"every response is a 404": {[]v1beta1.Threshold{atMost("p95", "500ms")}, paced(10), sent(50, 50, answered404), v1beta1.VerdictFailed, "failureRate is 100% in step burst; at most 1% is allowed by default. Failed: create 50 of 50 (clientError), follow 50 of 50 (clientError)."},
		"one response, to a request of which no threshold is": {
			[]v1beta1.Threshold{onRequest(atMost("failureRate", "100%"), "create")}, paced(10), sent(50, 1, answered404), v1beta1.VerdictFailed,
			"failureRate of follow is 100% in step burst; at most 1% is allowed by default.",
		},
		"every response is a redirect": {
			nil, users(10), sent(100, 100, redirected(0)), v1beta1.VerdictFailed,
			"failureRate is 50% in step burst; at most 1% is allowed by default. Every response to request create was a redirect (308), which was not followed: set http.followRedirects, add that status to expect.status, or send to the address that it names.",
		},
		"one redirect is expected": {nil, users(10), sent(100, 100, redirected(0), func(o *outcome) { o.merged.Requests[0].Expected = 1 }), v1beta1.VerdictFailed, "failureRate is 49.5% in step burst; at most 1% is allowed by default. Failed: create 99 of 100 (308)."},
		"every response but one":   {nil, users(10), sent(100, 100, redirected(1)), v1beta1.VerdictFailed, "failureRate is 50% in step burst; at most 1% is allowed by default. Failed: create 100 of 100 (308)."},
		"redirects of others": {[]v1beta1.Threshold{filtered(atMost("failureRate", "5%"), []string{"create"}, nil, nil)}, users(10), sent(100, 100, redirected(0), func(o *outcome) {
			o.merged.Requests[0], o.merged.Requests[1] = o.merged.Requests[1], o.merged.Requests[0]
		}), v1beta1.VerdictFailed, "failureRate of follow is 100% in step burst; at most 1% is allowed by default. Every response to request follow was a redirect (308), which was not followed: set http.followRedirects, add that status to expect.status, or send to the address that it names."},
		"redirects that a threshold allows": {[]v1beta1.Threshold{onRequest(atMost("failureRate", "100%"), "create")}, users(10), sent(100, 100, redirected(0), func(o *outcome) {
			o.merged.Requests[1].Outcomes[measure.Success], o.merged.Requests[1].Outcomes[measure.Timeout], o.merged.Requests[1].Expected = 0, 100, 0
		}), v1beta1.VerdictFailed, "failureRate of follow is 100% in step burst; at most 1% is allowed by default."},
		"404s without a threshold":          {nil, users(10), sent(50, 50, answered404), v1beta1.VerdictFailed, "failureRate is 100% in step burst; at most 1% is allowed by default. Failed: create 50 of 50 (clientError), follow 50 of 50 (clientError)."},
		"a threshold that allows them":      {[]v1beta1.Threshold{atMost("failureRate", "100%")}, users(10), sent(50, 50, answered404), v1beta1.VerdictPassed, "Both thresholds were kept, defaults included."},
		"404s, and a minimum":               {[]v1beta1.Threshold{atLeast("failureRate", "0%")}, users(10), sent(50, 50, answered404), v1beta1.VerdictFailed, "failureRate is 100% in step burst; at most 1% is allowed by default. Failed: create 50 of 50 (clientError), follow 50 of 50 (clientError)."},
		"a hundredth fails":                 {nil, users(10), sent(100, 0, failed(1)), v1beta1.VerdictPassed, "Both thresholds were kept, defaults included."},
		"writes may fail, and reads do not": {[]v1beta1.Threshold{limited}, users(10), sent(100, 100, failed(4)), v1beta1.VerdictPassed, "All 3 thresholds were kept, defaults included."},
		"writes may fail, and reads do":     {[]v1beta1.Threshold{limited}, users(10), sent(100, 100, answered404), v1beta1.VerdictFailed, "failureRate of Write is 100% in step burst; at most 5% is allowed. One more threshold was breached."},
		"only writes are sent":              {[]v1beta1.Threshold{limited}, users(10), sent(100, 0, failed(4)), v1beta1.VerdictPassed, "Both thresholds were kept, defaults included."},
		"a fiftieth remains unsent":         {nil, paced(10), sent(490, 490, unsent(20)), v1beta1.VerdictFailed, "unsentRate is 2% in step burst; at most 1% is allowed by default."},
		"by the generator's fault":          {nil, paced(10), sent(490, 490, unsent(20), displaced), v1beta1.VerdictInconclusive, "The load was displaced."},
		"nothing is sent":                   {nil, paced(10), sent(0, 0, unsent(20)), v1beta1.VerdictInconclusive, "failureRate of step burst cannot be judged: no request was sent."},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(tc.thresholds...)
			got := verdict.Final(s, judged(accepted(s, tc.step), s, tc.outcome))
			if got.Verdict != tc.want || tc.want != v1beta1.VerdictInconclusive && got.Message != tc.message {
				t.Errorf("%s: %s; want %s: %s", got.Verdict, got.Message, tc.want, tc.message)
			}
		})
	}
}

// Of 300,000 requests that 10,000 users owed, a slow target took 166,850.
func TestUsersWhoseRequestsWereNotSentAreNotSustained(t *testing.T) {
	s := spec(atMost("failureRate", "50%"))
	few := sent(100, 0)
	many := sent(0, 0, func(o *outcome) {
		r := &o.merged.Requests[1]
		r.Sent, r.Expected, r.Outcomes[measure.Success] = 166_850, 166_850, 166_850
		r.Response.Record(8 * time.Second)
		o.merged.Due, o.merged.Unsent = 300_000, 133_150
	})
	got := verdict.Final(s, judged(accepted(s, paced(1000), paced(10_000)), s, few, many))
	want := verdict.Judgement{
		Verdict: v1beta1.VerdictFailed, ThresholdsMet: metav1.ConditionFalse, Reason: v1beta1.ReasonThresholdBreached,
		Message:   "unsentRate is 44.39% in step burst; at most 1% is allowed by default.",
		Generator: &verdict.Generator{Healthy: true, Reason: v1beta1.ReasonHealthy, Message: "The generator was not the limit in any step."},
		Sustained: verdict.Sustained{Users: ptr(int32(1000))},
	}
	same.As(t, "judgement", want, got)
}

// What stands in the status is judged by, whatever the defaults are by now.
func TestDefaultsAreThoseOfTheStatus(t *testing.T) {
	s := spec()
	status := accepted(s, users(10))
	status.Thresholds[0].Limit = "30%"
	if got := verdict.Final(s, judged(status, s, sent(10, 0, failed(3)))); got.Verdict != v1beta1.VerdictPassed {
		t.Errorf("verdict %s: %s; want Passed by the 30%% that were accepted", got.Verdict, got.Message)
	}
	status = accepted(s, users(10))
	status.Thresholds = nil
	if got := verdict.Final(s, judged(status, s, sent(10, 0))); got.Verdict != v1beta1.VerdictInconclusive {
		t.Errorf("verdict %s: %s; want Inconclusive where nothing was to be judged", got.Verdict, got.Message)
	}
}

// A step that was cut says nothing of rates, and nothing of what was in flight then.
func TestCutStepAccusesTheTargetOfNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		threshold v1beta1.Threshold
		outcome   outcome
		cut, full v1beta1.ThresholdState
	}{
		"goodput":                   {atLeast("goodput", "100"), sent(10, 0), v1beta1.ThresholdInconclusive, v1beta1.ThresholdFailed},
		"what was not sent":         {atMost("unsentRate", "1%"), sent(10, 0, unsent(5)), v1beta1.ThresholdInconclusive, v1beta1.ThresholdFailed},
		"what was in flight":        {atMost("failureRate", "1%"), sent(10, 0, unfinished(5)), v1beta1.ThresholdInconclusive, v1beta1.ThresholdFailed},
		"what failed":               {atMost("failureRate", "1%"), sent(10, 0, failed(5), unfinished(5)), v1beta1.ThresholdFailed, v1beta1.ThresholdFailed},
		"what took long":            {atMost("p50", "1ms"), sent(10, 0), v1beta1.ThresholdFailed, v1beta1.ThresholdFailed},
		"nothing, if all was right": {atMost("failureRate", "1%"), sent(10, 0), v1beta1.ThresholdPassed, v1beta1.ThresholdPassed},
	} {
		for state, want := range map[v1beta1.StepState]v1beta1.ThresholdState{v1beta1.StepCut: tc.cut, v1beta1.StepComplete: tc.full} {
			step := paced(10)
			step.State = state
			same.As(t, name+", in a step that is "+string(state), want, judge(spec(tc.threshold), nil, step, tc.outcome).Step)
		}
	}
}

// A measurement of fewer requests than the spec has: the default is about those that
// were measured.
func TestRequestsThatWereNotMeasuredHaveNoDefault(t *testing.T) {
	s := spec(filtered(atMost("failureRate", "5%"), []string{"create"}, nil, nil))
	o := sent(10, 0)
	o.merged.Requests = o.merged.Requests[:1]
	for _, got := range judged(accepted(s, users(10)), s, o).Thresholds {
		if want := map[bool]v1beta1.ThresholdState{false: passed, true: v1beta1.ThresholdPending}[got.Default && got.Metric == "failureRate"]; got.State != want {
			t.Errorf("%s, default %v: %s, want %s", got.Name, got.Default, got.State, want)
		}
	}
}

// The results of thresholds that the spec does not have stay as they are.
func TestThresholdsThatTheSpecDoesNotHaveAreNotJudged(t *testing.T) {
	before := []v1beta1.ThresholdStatus{{Name: "failureRate", State: v1beta1.ThresholdPending}, {Name: "other", State: v1beta1.ThresholdPending}}
	got := judge(spec(atMost("failureRate", "1%")), before, users(10), sent(10, 0)).Thresholds
	if got[0].State != passed || got[1].State != v1beta1.ThresholdPending {
		t.Errorf("the threshold of the spec is %s and the other %s, want Passed and Pending", got[0].State, got[1].State)
	}
}

// A threshold may be about some steps alone; a default holds in the others.
func TestThresholdsOfSteps(t *testing.T) {
	own := atMost("failureRate", "60%")
	own.Steps = []string{"peak", "burst"}
	s := spec(own)
	for step, want := range map[string]string{"burst": "Passed, nil", "peak": "Passed, nil", "steady": "Pending, Failed"} {
		at := users(10)
		at.Name = step
		list := judge(s, verdict.Thresholds(s, plan.RequestNames(s), []v1beta1.StepStatus{at, users(10), arrivals}), at, sent(100, 100, failed(50))).Thresholds
		got := string(list[0].State) + ", nil"
		if list[1].State != v1beta1.ThresholdPending {
			got = string(list[0].State) + ", " + string(list[1].State)
		}
		if got != want {
			t.Errorf("in step %s: %s, want %s", step, got, want)
		}
	}
}

// A threshold without a name of its own has one that says what it is about, and that no other has.
func TestNamesOfThresholds(t *testing.T) {
	named := func(t v1beta1.Threshold, edit func(*v1beta1.Threshold)) v1beta1.Threshold {
		edit(&t)
		return t
	}
	p95 := atMost("p95", "1s")
	long := strings.Repeat("x", 60)
	for _, tc := range []struct {
		threshold v1beta1.Threshold
		want      string
	}{
		{p95, "p95"},
		{p95, "p95 (2)"},
		{named(p95, func(t *v1beta1.Threshold) { t.Name = "own" }), "own"},
		{named(p95, func(t *v1beta1.Threshold) { t.Requests, t.Steps = []string{"follow"}, []string{"peak"} }), "p95 of follow in peak"},
		{named(p95, func(t *v1beta1.Threshold) { t.Types, t.UpToUsers = []string{"Read"}, ptr(int32(100)) }), "p95 of Read up to 100 users"},
		{named(p95, func(t *v1beta1.Threshold) { t.Steps = []string{"a", "b", "c", "d"} }), "p95 in 4 steps"},
		{named(p95, func(t *v1beta1.Threshold) { t.Max, t.MaxIncrease = nil, "5%" }), "increase of p95"},
		{named(p95, func(t *v1beta1.Threshold) { t.Metric, t.Max, t.MaxDecrease = "goodput", nil, "5%" }), "decrease of goodput"},
		{named(p95, func(t *v1beta1.Threshold) { t.Requests = []string{long} }), "p95 of " + strings.Repeat("x", 53) + "…"},
		{named(p95, func(t *v1beta1.Threshold) { t.Requests = []string{long} }), "p95 of " + strings.Repeat("x", 49) + "… (2)"},
	} {
		s := spec(tc.threshold)
		all := append([]v1beta1.Threshold{}, tc.threshold)
		if strings.HasSuffix(tc.want, "(2)") {
			all = append(all, tc.threshold)
		}
		s.Thresholds = all
		list := verdict.Thresholds(s, plan.RequestNames(s), nil)
		if got := list[len(all)-1].Name; got != tc.want || len(got) > 63 {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
