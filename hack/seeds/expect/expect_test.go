package expect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/expect"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/recordtest"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestAllAsExpected(t *testing.T) {
	all := recordtest.All()
	findings := expect.Judge(all)
	for _, f := range findings {
		if f.Answer != statistics.Yes {
			t.Errorf("%s: %s: %s", f.Name, f.Mark(), f.Found)
		}
		for _, sentence := range []string{f.Found, f.Expected, f.Fails} {
			if !strings.HasSuffix(sentence, ".") {
				t.Errorf("%s has no sentence: %q", f.Name, sentence)
			}
		}
	}
	n := len(experiment.All())
	same.As(t, "the sum", fmt.Sprintf("%d experiments, %d as expected, 0 not decided, 0 unexplained", n, n), expect.Sum(all, findings).String())
}

// surprises are a change of the results for each expectation that refutes it.
var surprises = map[string]func(record.Results){
	"000-nothing-lost":              audit("000-v3", "tiny-bitly-reads"),
	"001-nothing-lost":              audit("001-clicks", "sharded-reads"),
	"002-nothing-lost":              audit("002-v03", "flask-users"),
	"003-nothing-lost":              audit("003-1gb", "events-append"),
	"000-small-rungs-keep":          one("000-v1", "tiny-bitly-writes", 2, func(r *v1beta1.StepResult) { r.Failed++ }),
	"000-unsent-is-shown":           one("000-v1", "tiny-bitly-writes", 3, func(r *v1beta1.StepResult) { r.Expected = r.Due }),
	"000-collapse-is-shown":         goodput("000-v1", "tiny-bitly-writes", 6, "1000"),
	"000-v1-breaks-before-v3":       goodput("000-v3", "tiny-bitly-reads", 3, "100"),
	"000-v1-breaks-before-pool":     each("000-v1", "tiny-bitly-reads", 0, func(r *v1beta1.StepResult) { r.Expected = r.Due }),
	"000-index-changes-nothing":     goodput("000-v2", "tiny-bitly-reads", 3, "100"),
	"000-cache-is-faster-at-100":    p95("000-v4", "tiny-bitly-reads", 1, 10),
	"000-cache-is-faster-at-1000":   p95("000-v4", "tiny-bitly-reads", 2, 100),
	"000-cache-is-faster-at-25000":  p95("000-v4", "tiny-bitly-reads", 4, 1000),
	"000-cache-does-not-hurt":       goodput("000-v4", "tiny-bitly-reads", 4, "1000"),
	"000-more-users-are-not-faster": p95("000-v3", "tiny-bitly-reads", 4, 80),
	"001-no-five-times":             goodput("001-4-workers", "sharded-reads", 1, "9000"),
	"001-replicas-help":             goodput("001-4-workers", "sharded-reads", 1, "500"),
	"001-clicks-cost":               goodput("001-clicks", "sharded-reads", 1, "9000"),
	"001-shards-are-not-linear":     goodput("001-3-shards", "sharded-reads", 1, "9000"),
	"001-cache-is-faster":           each("001-3-shards", "sharded-reads", 1, func(r *v1beta1.StepResult) { r.ResponseTime.P50 = ms(0.01) }),
	"001-sustained-lasts":           one("001-sustained", "sharded-sustained", 1, func(r *v1beta1.StepResult) { r.Expected = r.Due * 98 / 100 }),
	"002-nothing-hangs":             one("002-v02", "flask-users", 4, func(r *v1beta1.StepResult) { r.Outcomes.Unfinished = 20 }),
	"002-no-ceiling":                goodput("002-v01", "flask-users", 4, "79"),
	"002-collisions-do-not-fail":    one("002-v01", "flask-users", 3, func(r *v1beta1.StepResult) { r.Failed = 2 }),
	"002-workers-are-faster": each("002-v02", "flask-users", 4, func(r *v1beta1.StepResult) {
		r.ResponseTime.P50 = ms(20)
	}),
	"002-asynchronous-clicks-are-faster": each("002-v03", "flask-users", 4, func(r *v1beta1.StepResult) {
		r.Types[0].ResponseTime.P50 = ms(20)
	}),
	"003-batches-raise-events": each("003-1gb", "events-batch-500", 1, func(r *v1beta1.StepResult) { r.ItemsPerSecond = "9000" }),
	"003-memory-is-not-it":     each("003-2gb", "events-batch-100", 1, func(r *v1beta1.StepResult) { r.ItemsPerSecond = "130000" }),
	"003-no-ocean":             one("003-1gb", "events-position", 1, func(r *v1beta1.StepResult) { r.ResponseTime.P50 = ms(282) }),
	"003-the-way-is-the-limit": one("003-delay", "events-position", 1, func(r *v1beta1.StepResult) { r.Throughput = "21" }),
	"003-the-rate-lasts":       each("003-1gb", "events-optimal", 1, func(r *v1beta1.StepResult) { r.ItemsPerSecond = "300000" }),
	"004-hash-is-failed":       each("004-hash", "single-client-burst", 1, func(r *v1beta1.StepResult) { r.RateLimit.OverLimitGrants = 0 }),
	"004-lua-is-passed":        func(all record.Results) { all["004-lua"].LoadTests[1].Status.Verdict = v1beta1.VerdictFailed },
	"004-65-is-exact":          one("004-lua", "burst-then-steady", 1, func(r *v1beta1.StepResult) { r.RateLimit.FalseDenials = 1 }),
	"004-transaction-grants-no-more": one("004-transaction", "five-clients", 1, func(r *v1beta1.StepResult) {
		r.RateLimit.FalseDenials = 8
	}),
	"004-published-transaction-denies-falsely": each("004-transaction-429", "five-clients", 1, func(r *v1beta1.StepResult) { r.RateLimit.FalseDenials = 0 }),
	"004-whole-seconds-grant-a-refill":         one("004-lua-seconds", "five-clients", 1, func(r *v1beta1.StepResult) { r.RateLimit.OverLimitGrants = 11 }),
	"004-lua-is-faster-than-hash":              each("004-lua", "single-client-burst", 1, func(r *v1beta1.StepResult) { r.Throughput = "1000" }),
	"004-transaction-is-slower":                p95("004-transaction-429", "single-client-burst", 1, 1),
}

// Each expectation can fail, and is then a surprise.
func TestEveryExpectationCanFail(t *testing.T) {
	for _, e := range expect.All("") {
		change := surprises[e.Name]
		if change == nil {
			t.Errorf("no test refutes %s", e.Name)
			continue
		}
		all := recordtest.All()
		change(all)
		findings := expect.Judge(all)
		f := finding(findings, e.Name)
		if f.Answer != statistics.No {
			t.Errorf("%s: %s: %s", e.Name, f.Mark(), f.Found)
		}
		if sum := expect.Sum(all, findings); sum.Unexplained+sum.Explained == 0 || sum.Expected == sum.Experiments {
			t.Errorf("%s: the sum is %s", e.Name, sum)
		}
	}
}

// counted are the expectations about counts, which are exact however late the generator was.
var counted = []string{
	"000-nothing-lost", "001-nothing-lost", "002-nothing-lost", "003-nothing-lost", "002-nothing-hangs", "002-collisions-do-not-fail",
	"004-hash-is-failed", "004-lua-is-passed", "004-65-is-exact", "004-transaction-grants-no-more", "004-published-transaction-denies-falsely", "004-whole-seconds-grant-a-refill",
}

// What rests on rungs in which the machine was the limit is not decided, whether it would
// be as expected or a surprise. Two repetitions of five do not make it so.
func TestLimitedRepetitionsDecideNothing(t *testing.T) {
	for limited, want := range map[int32]statistics.Answer{2: statistics.Yes, 3: statistics.Unsure, 5: statistics.Unsure} {
		all := recordtest.All()
		limitIn(all, limited)
		for _, f := range expect.Judge(all) {
			if want == statistics.Unsure && slices.Contains(counted, f.Name) {
				if f.Answer != statistics.Yes {
					t.Errorf("%s: %s, though it counts: %s", f.Name, f.Mark(), f.Found)
				}
				continue
			}
			if f.Answer != want {
				t.Errorf("with %d limited repetitions %s: %s: %s", limited, f.Name, f.Mark(), f.Found)
			}
		}
	}
	for name, refute := range surprises {
		all := recordtest.All()
		refute(all)
		limitIn(all, 5)
		f := finding(expect.Judge(all), name)
		if slices.Contains(counted, name) != (f.Answer == statistics.No) {
			t.Errorf("%s with all repetitions limited: %s: %s", name, f.Mark(), f.Found)
		}
		if f.Answer == statistics.Unsure && !strings.Contains(f.Found, "NodeBusy in 5 of 5") {
			t.Errorf("%s does not say why it is not decided: %s", name, f.Found)
		}
	}
}

// Repetitions that overlap decide nothing, and neither does a single one.
func TestNoiseDecidesNothing(t *testing.T) {
	all := recordtest.All()
	steps := record.Rungs(all["001-clicks"].LoadTest("sharded-reads"))[0].Repetitions
	steps[0].Result.Goodput, steps[1].Result.Goodput, steps[2].Result.Goodput = "9000", "8000", "7000"
	findings := expect.Judge(all)
	if f := finding(findings, "001-clicks-cost"); f.Answer != statistics.Unsure {
		t.Errorf("two sides that overlap: %s: %s", f.Mark(), f.Found)
	}
	if got := expect.Sum(all, findings); got.NotDecided != 2 || got.Unexplained != 0 {
		t.Errorf("the sum is %s", got)
	}
	all = recordtest.All()
	for _, r := range all {
		for i := range r.LoadTests {
			lt := &r.LoadTests[i]
			lt.Spec.Repetitions = 1
			lt.Status.Steps = slices.DeleteFunc(lt.Status.Steps, func(s v1beta1.StepStatus) bool { return s.Repetition != 1 })
		}
	}
	if f := finding(expect.Judge(all), "001-clicks-cost"); f.Answer != statistics.Unsure {
		t.Errorf("one repetition: %s: %s", f.Mark(), f.Found)
	}
}

// What is no number decides nothing.
func TestFiguresThatAreNoNumbersDecideNothing(t *testing.T) {
	for _, text := range []string{"NaN", "+Inf", "", "many"} {
		all := recordtest.All()
		goodput("001-clicks", "sharded-reads", 1, text)(all)
		if f := finding(expect.Judge(all), "001-clicks-cost"); f.Answer != statistics.Unsure {
			t.Errorf("goodput %q: %s: %s", text, f.Mark(), f.Found)
		}
	}
}

// A result that is wrong in itself is no finding: the run failed.
func TestWrongResultsAreBroken(t *testing.T) {
	if c := expect.Check(recordtest.All(), ""); len(c.Broken) > 0 || c.Tests == 0 || c.Steps == 0 {
		t.Errorf("the results are broken: %q", c.Broken)
	}
	for want, change := range map[string]func(record.Results){
		"000-v4 tiny-bitly-reads: its target is not verified":                                           func(all record.Results) { all["000-v4"].LoadTests[0].Status.Conditions = nil },
		"000-v1 tiny-bitly-writes step 10 users: 50 were planned, 51 due, 50 sent and 1 unsent":         one("000-v1", "tiny-bitly-writes", 1, func(r *v1beta1.StepResult) { r.Due, r.Unsent = r.Due+1, r.Unsent+1 }),
		"001-clicks sharded-reads step 5 users: 0 were planned, 7500 due, 7500 sent and 1 unsent":       one("001-clicks", "sharded-reads", 1, func(r *v1beta1.StepResult) { r.Unsent++ }),
		"000-v1 tiny-bitly-writes step 10 users: 50 were sent, and 49 are in a class of outcomes":       one("000-v1", "tiny-bitly-writes", 1, func(r *v1beta1.StepResult) { r.Outcomes.Success-- }),
		"000-v1 tiny-bitly-writes step 10 users: of 50 that were sent 50 were as expected and 1 failed": one("000-v1", "tiny-bitly-writes", 1, func(r *v1beta1.StepResult) { r.Failed++ }),
		"001-4-workers sharded-reads step 5 users: 15000 ended, and the distribution has 10000 times":   one("001-4-workers", "sharded-reads", 1, func(r *v1beta1.StepResult) { r.ResponseTime.Samples = 10000 }),
		"003-1gb events-position step 5 users: the quantiles are not in order, or the mean is above what they allow": one("003-1gb", "events-position", 1, func(r *v1beta1.StepResult) {
			*r.ResponseTime = v1beta1.Latency{Samples: r.ResponseTime.Samples, P50: ms(256.39), P75: ms(256.5), P99: ms(256.6), Mean: ms(282.43), Longest: ms(700.06)}
		}),
	} {
		all := recordtest.All()
		change(all)
		if c := expect.Check(all, ""); len(c.Broken) != 1 || c.Broken[0] != want {
			t.Errorf("broken are %q, want %q", c.Broken, want)
		}
		if c := expect.Check(all, "002"); len(c.Broken) > 0 {
			t.Errorf("seed 002 has %q", c.Broken)
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
		if about := slices.Contains(f.About, "000-v3"); about != (f.Answer == statistics.No) {
			t.Errorf("%s: %s: %s", f.Name, f.Mark(), f.Found)
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
			if slices.Contains(x.About, e.Name) && x.Name[4:] != "nothing-lost" {
				own++
			}
		}
		if own == 0 {
			t.Errorf("nothing is expected of %s", e.Name)
		}
	}
}

func finding(list []expect.Finding, name string) *expect.Finding {
	return &list[slices.IndexFunc(list, func(f expect.Finding) bool { return f.Name == name })]
}

// each changes all repetitions of a rung, or of all rungs if it is 0.
func each(name, test string, rung int, change func(*v1beta1.StepResult)) func(record.Results) {
	return func(all record.Results) {
		for i, r := range record.Rungs(all[name].LoadTest(test)) {
			for _, step := range r.Repetitions {
				if rung == 0 || i+1 == rung {
					change(step.Result)
				}
			}
		}
	}
}

// one changes the first repetition of a rung alone.
func one(name, test string, rung int, change func(*v1beta1.StepResult)) func(record.Results) {
	return func(all record.Results) {
		change(record.Rungs(all[name].LoadTest(test))[rung-1].Repetitions[0].Result)
	}
}

func goodput(name, test string, rung int, rate string) func(record.Results) {
	return each(name, test, rung, func(r *v1beta1.StepResult) { r.Goodput = rate })
}

func p95(name, test string, rung int, milliseconds float64) func(record.Results) {
	return each(name, test, rung, func(r *v1beta1.StepResult) { r.ResponseTime.P95 = ms(milliseconds) })
}

func audit(name, test string) func(record.Results) {
	return func(all record.Results) {
		all[name].LoadTest(test).Status.Audits[0].State = v1beta1.AuditFailed
	}
}

// limitIn makes the machine the limit in so many repetitions of each step.
func limitIn(all record.Results, repetitions int32) {
	for _, r := range all {
		for i := range r.LoadTests {
			for s := range r.LoadTests[i].Status.Steps {
				if step := &r.LoadTests[i].Status.Steps[s]; step.Result != nil && step.Repetition <= repetitions {
					step.Result.Generator = &v1beta1.GeneratorStatus{Reason: v1beta1.ReasonNodeBusy}
				}
			}
		}
	}
}

func ms(v float64) *metav1.Duration {
	return &metav1.Duration{Duration: time.Duration(v * float64(time.Millisecond))}
}
