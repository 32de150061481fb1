package outcome_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/demo/outcome"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// good are the results of a demo that came out as it should.
func good() []outcome.Result {
	return []outcome.Result{
		{Strategy: "hash", Scenario: "single-client-burst", Audited: true, Granted: 154, Denied: 46, OverLimitGrants: 104, P95: 28 * time.Millisecond, Skew: 380 * time.Microsecond, Verdict: v1beta1.VerdictFailed},
		{Strategy: "hash", Scenario: "five-clients", Audited: true, Granted: 150, P95: 11 * time.Millisecond, Skew: time.Millisecond, Verdict: v1beta1.VerdictPassed},
		{Strategy: "hash", Scenario: "burst-then-steady", Audited: true, Granted: 135, OverLimitGrants: 55, P95: 5100 * time.Microsecond, Skew: 2 * time.Millisecond, Verdict: v1beta1.VerdictFailed},
		{Strategy: "lua", Scenario: "single-client-burst", Audited: true, Granted: 50, Denied: 150, P95: 22 * time.Millisecond, Skew: 500 * time.Microsecond, Verdict: v1beta1.VerdictPassed},
		{Strategy: "lua", Scenario: "five-clients", Audited: true, Granted: 150, P95: 9 * time.Millisecond, Skew: time.Millisecond, Verdict: v1beta1.VerdictPassed},
		{Strategy: "lua", Scenario: "burst-then-steady", Audited: true, Granted: 65, Denied: 70, P95: 4 * time.Millisecond, Skew: time.Millisecond, Verdict: v1beta1.VerdictPassed},
	}
}

func TestOutcomesAreJudgedByTheirVerdicts(t *testing.T) {
	tests := map[string]struct {
		change func([]outcome.Result) []outcome.Result
		want   string
		ok     bool
	}{
		"as it should be": {
			want: "lua Passed 3 of 3; hash Failed single-client-burst with 104 over-limit grants", ok: true,
		},
		"hash lucky in the other scenarios": {
			change: func(r []outcome.Result) []outcome.Result {
				r[1].Verdict, r[2].Verdict, r[2].OverLimitGrants = v1beta1.VerdictFailed, v1beta1.VerdictPassed, 0
				return r
			},
			want: "lua Passed 3 of 3; hash Failed single-client-burst with 104 over-limit grants", ok: true,
		},
		"in any order": {
			change: func(r []outcome.Result) []outcome.Result { return append(r[3:], r[:3]...) },
			want:   "lua Passed 3 of 3; hash Failed single-client-burst with 104 over-limit grants", ok: true,
		},
		"hash passed the burst": {
			change: func(r []outcome.Result) []outcome.Result {
				r[0].Verdict, r[0].OverLimitGrants = v1beta1.VerdictPassed, 0
				return r
			},
			want: "lua Passed 3 of 3; hash Passed single-client-burst with 0 over-limit grants",
		},
		"hash failed for another reason": {
			change: func(r []outcome.Result) []outcome.Result { r[0].OverLimitGrants = 0; return r },
			want:   "lua Passed 3 of 3; hash Failed single-client-burst with 0 over-limit grants",
		},
		"hash could not be judged": {
			change: func(r []outcome.Result) []outcome.Result { r[0].Verdict = v1beta1.VerdictInconclusive; return r },
			want:   "lua Passed 3 of 3; hash Inconclusive single-client-burst with 104 over-limit grants",
		},
		"lua failed once": {
			change: func(r []outcome.Result) []outcome.Result { r[4].Verdict = v1beta1.VerdictFailed; return r },
			want:   "lua Passed 2 of 3; hash Failed single-client-burst with 104 over-limit grants",
		},
		"lua did not finish": {
			change: func(r []outcome.Result) []outcome.Result { r[5].Verdict = ""; return r },
			want:   "lua Passed 2 of 3; hash Failed single-client-burst with 104 over-limit grants",
		},
		"the burst of lua is not that of hash": {
			change: func(r []outcome.Result) []outcome.Result { return r[1:] },
			want:   "lua Passed 3 of 3; hash not run single-client-burst with 0 over-limit grants",
		},
		"nothing ran": {
			change: func([]outcome.Result) []outcome.Result { return nil },
			want:   "lua Passed 0 of 3; hash not run single-client-burst with 0 over-limit grants",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			list := good()
			if test.change != nil {
				list = test.change(list)
			}
			got, ok := outcome.Judge(list)
			if got != test.want || ok != test.ok {
				t.Errorf("Judge() = %q, %t\n   want %q, %t", got, ok, test.want, test.ok)
			}
		})
	}
}

func TestOutcomesAreShownInATable(t *testing.T) {
	list := append(good(), outcome.Result{Strategy: "lua", Scenario: "never-began"})
	golden.Check(t, "testdata/table.txt", outcome.Table(list))
}

func TestOutcomesAreReadFromLoadTests(t *testing.T) {
	ms := func(n int) *metav1.Duration {
		return &metav1.Duration{Duration: time.Duration(n) * time.Millisecond}
	}
	step := func(skew, p95 *metav1.Duration, audit *v1beta1.RateLimitStatus) v1beta1.StepStatus {
		return v1beta1.StepStatus{StartSkew: skew, Result: &v1beta1.StepResult{
			ResponseTime: &v1beta1.Latency{P95: p95}, RateLimit: audit,
		}}
	}
	tests := map[string]struct {
		steps []v1beta1.StepStatus
		want  outcome.Result
	}{
		"no steps": {want: outcome.Result{}},
		"a pause":  {steps: []v1beta1.StepStatus{{Name: "fill"}}, want: outcome.Result{}},
		"no audit and no latency": {
			steps: []v1beta1.StepStatus{{Result: &v1beta1.StepResult{}}},
			want:  outcome.Result{},
		},
		"sums, and the worst of the steps": {
			steps: []v1beta1.StepStatus{
				{Name: "fill"},
				step(ms(3), ms(40), &v1beta1.RateLimitStatus{Granted: 50, Denied: 70, OverLimitGrants: 1, FalseDenials: 2}),
				step(ms(4), ms(10), &v1beta1.RateLimitStatus{Granted: 15, Denied: 5, OverLimitGrants: 3, FalseDenials: 4}),
				step(nil, nil, nil),
			},
			want: outcome.Result{
				Audited: true, Granted: 65, Denied: 75, OverLimitGrants: 4, FalseDenials: 6,
				P95: 40 * time.Millisecond, Skew: 4 * time.Millisecond,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			lt := &v1beta1.LoadTest{
				ObjectMeta: metav1.ObjectMeta{Name: "burst"},
				Status:     v1beta1.LoadTestStatus{Steps: test.steps, Verdict: v1beta1.VerdictPassed},
			}
			test.want.Strategy, test.want.Scenario, test.want.Verdict = "lua", "burst", v1beta1.VerdictPassed
			same.As(t, "Of()", test.want, outcome.Of("lua", lt))
		})
	}
}
