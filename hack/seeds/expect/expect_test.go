package expect_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/expect"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/recordtest"
)

func TestAllAsExpected(t *testing.T) {
	all := recordtest.All()
	findings := expect.Judge(all)
	for _, f := range findings {
		if !f.Holds {
			t.Errorf("%s does not hold: %s", f.Name, f.Found)
		}
		if !strings.HasSuffix(f.Found, ".") || !strings.HasSuffix(f.Expected, ".") {
			t.Errorf("%s has no sentence: %q, %q", f.Name, f.Expected, f.Found)
		}
	}
	if got, want := expect.Sum(all, findings).String(), "18 experiments, 18 as expected, 0 unexplained"; got != want {
		t.Errorf("the sum is %q, want %q", got, want)
	}
}

// surprises are a change of the results for each expectation after which it does not
// hold.
var surprises = map[string]func(record.Results){
	"000-variant-verified":       unverified("000-v4", "tiny-bitly-reads"),
	"001-variant-verified":       unverified("001-clicks", "sharded-reads"),
	"002-variant-verified":       unverified("002-v01", "flask-users"),
	"003-variant-verified":       unverified("003-2gb", "events-batch-100"),
	"004-variant-verified":       unverified("004-lua", "five-clients"),
	"000-nothing-unaccounted":    step("000-v1", "tiny-bitly-writes", 5, func(r *v1beta1.StepResult) { r.Outcomes.ServerError-- }),
	"001-nothing-unaccounted":    step("001-clicks", "sharded-reads", 0, func(r *v1beta1.StepResult) { r.Unsent++ }),
	"002-nothing-unaccounted":    step("002-v03", "flask-users", 1, func(r *v1beta1.StepResult) { r.Due, r.Unsent = r.Due+1, r.Unsent+1 }),
	"003-nothing-unaccounted":    step("003-1gb", "events-append", 2, func(r *v1beta1.StepResult) { r.Sent++ }),
	"004-nothing-unaccounted":    step("004-hash", "burst-then-steady", 0, func(r *v1beta1.StepResult) { r.Outcomes.Timeout++ }),
	"000-nothing-lost":           audit("000-v3", "tiny-bitly-reads"),
	"001-nothing-lost":           audit("001-clicks", "sharded-reads"),
	"002-nothing-lost":           audit("002-v03", "flask-users"),
	"003-nothing-lost":           audit("003-1gb", "events-append"),
	"000-small-rungs-keep":       step("000-v1", "tiny-bitly-writes", 1, func(r *v1beta1.StepResult) { r.Failed++ }),
	"000-unsent-is-shown":        step("000-v1", "tiny-bitly-writes", 5, func(r *v1beta1.StepResult) { r.Expected = r.Due }),
	"000-v1-breaks-before-v3":    lose("000-v3", 2),
	"000-v1-breaks-before-pool":  lose("000-v3-pool", 0),
	"000-index-changes-nothing":  lose("000-v2", 0),
	"000-cache-does-not-hurt":    step("000-v4", "tiny-bitly-reads", 3, func(r *v1beta1.StepResult) { r.Goodput = "1000" }),
	"001-replicas-are-not-cores": step("001-4-workers", "sharded-reads", 0, func(r *v1beta1.StepResult) { r.Goodput = "9000" }),
	"001-clicks-cost":            step("001-clicks", "sharded-reads", 0, func(r *v1beta1.StepResult) { r.Goodput = "9000" }),
	"001-quantiles-of-all":       step("001-4-workers", "sharded-reads", 0, func(r *v1beta1.StepResult) { r.ResponseTime.Samples = 10000 }),
	"002-nothing-hangs":          step("002-v02", "flask-users", 3, func(r *v1beta1.StepResult) { r.Outcomes.Unfinished = 200 }),
	"002-no-ceiling":             step("002-v01", "flask-users", 3, func(r *v1beta1.StepResult) { r.Goodput = "400" }),
	"002-collisions-do-not-fail": step("002-v01", "flask-users", 2, func(r *v1beta1.StepResult) { r.Failed = 2 }),
	"002-asynchronous-clicks-are-faster": step("002-v03", "flask-users", 3, func(r *v1beta1.StepResult) {
		r.Types[0].ResponseTime.P50 = &metav1.Duration{Duration: 2 * time.Millisecond}
	}),
	"003-batches-raise-events": step("003-1gb", "events-batch-500", 0, func(r *v1beta1.StepResult) { r.ItemsPerSecond = "90000" }),
	"003-memory-is-not-it":     step("003-2gb", "events-batch-100", 0, func(r *v1beta1.StepResult) { r.ItemsPerSecond = "130000" }),
	"003-no-ocean": step("003-1gb", "events-position", 0, func(r *v1beta1.StepResult) {
		r.ResponseTime.P50 = &metav1.Duration{Duration: 282 * time.Millisecond}
	}),
	"003-quantiles-in-order": step("003-1gb", "events-position", 0, func(r *v1beta1.StepResult) {
		*r.ResponseTime = v1beta1.Latency{P50: ms(256.39), P75: ms(256.5), P99: ms(256.6), Mean: ms(282.43), Longest: ms(700.06)}
	}),
	"004-hash-is-failed":                       step("004-hash", "single-client-burst", 0, func(r *v1beta1.StepResult) { r.RateLimit.OverLimitGrants = 0 }),
	"004-lua-is-passed":                        func(all record.Results) { all["004-lua"].LoadTests[1].Status.Verdict = v1beta1.VerdictInconclusive },
	"004-65-is-exact":                          step("004-lua", "burst-then-steady", 0, func(r *v1beta1.StepResult) { r.RateLimit.FalseDenials = 1 }),
	"004-transaction-grants-no-more":           step("004-transaction", "five-clients", 0, func(r *v1beta1.StepResult) { r.RateLimit.FalseDenials = 8 }),
	"004-published-transaction-denies-falsely": step("004-transaction-429", "five-clients", 0, func(r *v1beta1.StepResult) { r.RateLimit.FalseDenials = 0 }),
	"004-whole-seconds-grant-a-refill":         step("004-lua-seconds", "five-clients", 0, func(r *v1beta1.StepResult) { r.RateLimit.OverLimitGrants = 11 }),
}

// Each expectation can fail, and is then a surprise without an explanation.
func TestEveryExpectationCanFail(t *testing.T) {
	for _, e := range expect.All("") {
		change := surprises[e.Name]
		if change == nil {
			t.Errorf("no test has %s fail", e.Name)
			continue
		}
		all := recordtest.All()
		change(all)
		findings := expect.Judge(all)
		i := slices.IndexFunc(findings, func(f expect.Finding) bool { return f.Name == e.Name })
		if findings[i].Holds {
			t.Errorf("%s holds: %s", e.Name, findings[i].Found)
		}
		if sum := expect.Sum(all, findings); sum.Unexplained+sum.Explained == 0 || sum.Expected == sum.Experiments {
			t.Errorf("%s: the sum is %s", e.Name, sum)
		}
	}
}

// A result that lacks a step is a surprise, and no reason to panic.
func TestIncompleteResultsAreNoSurprise(t *testing.T) {
	all := recordtest.All()
	all["000-v3"].LoadTests[0].Status.Steps[2].Result = nil
	delete(all, "001-clicks")
	findings := expect.Judge(all)
	for _, f := range findings {
		if about := slices.Contains(f.About, "000-v3"); about == f.Holds {
			t.Errorf("%s holds: %t: %s", f.Name, f.Holds, f.Found)
		}
		if slices.Contains(f.About, "001-clicks") {
			t.Errorf("%s was judged without a result", f.Name)
		}
	}
	if sum := expect.Sum(all, findings); sum.Missing != 1 || sum.Unexplained == 0 {
		t.Errorf("the sum is %s", sum)
	}
}

// Each experiment is expected to show something besides what is expected of all.
func TestEachExperimentHasAnExpectation(t *testing.T) {
	for _, e := range experiment.All() {
		own := 0
		for _, x := range expect.All(e.Seed()) {
			if slices.Contains(x.About, e.Name) && x.Name[4:] != "variant-verified" && x.Name[4:] != "nothing-unaccounted" && x.Name[4:] != "nothing-lost" {
				own++
			}
		}
		if own == 0 {
			t.Errorf("nothing is expected of %s", e.Name)
		}
	}
}

func unverified(name, test string) func(record.Results) {
	return func(all record.Results) { all[name].LoadTest(test).Status.Conditions = nil }
}

func step(name, test string, i int, change func(*v1beta1.StepResult)) func(record.Results) {
	return func(all record.Results) { change(all[name].LoadTest(test).Status.Steps[i].Result) }
}

func audit(name, test string) func(record.Results) {
	return func(all record.Results) {
		all[name].LoadTest(test).Status.Audits[0].State = v1beta1.AuditFailed
	}
}

// lose has a rung of the reads lose a tenth of what was due.
func lose(name string, rung int) func(record.Results) {
	return step(name, "tiny-bitly-reads", rung, func(r *v1beta1.StepResult) { r.Expected = r.Due * 9 / 10 })
}

func ms(v float64) *metav1.Duration {
	return &metav1.Duration{Duration: time.Duration(v * float64(time.Millisecond))}
}
