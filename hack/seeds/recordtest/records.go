package recordtest

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/manifest"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// All has a record of each experiment, in which everything is as expected.
func All() record.Results {
	all := record.Results{}
	for _, e := range experiment.All() {
		r := &record.Record{About: record.About{
			Experiment: e.Name, Hash: "0123", Factor: manifest.TwoCores, Command: "make seeds",
			Date: metav1.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC),
			Environment: record.Environment{
				Machine: "2 x Processor, 24 GiB", Kernel: "Linux 6.1", Go: "go1.26", Cluster: "3 nodes on the machine",
				Kubernetes: "v1.35.0", Commit: "0123456789ab",
			},
		}}
		for _, test := range e.Tests {
			r.LoadTests = append(r.LoadTests, loadTest(e.Name, test))
		}
		all[e.Name] = r
	}
	return all
}

// loadTest is one as it ended.
func loadTest(name, test string) v1beta1.LoadTest {
	lt := v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: test}}
	lt.TypeMeta = metav1.TypeMeta{APIVersion: v1beta1.GroupVersion.String(), Kind: "LoadTest"}
	lt.Status.Phase, lt.Status.Verdict = v1beta1.PhaseFinished, v1beta1.VerdictPassed
	lt.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionTargetVerified, Status: metav1.ConditionTrue, Reason: "PreflightPassed"}}
	switch name[:3] {
	case "000":
		users := []int32{10, 100, 1000, 2500}
		if test == "tiny-bitly-writes" {
			users = append(users, 5000, 10000)
		}
		for _, u := range users {
			lt.Status.Steps = append(lt.Status.Steps, scheduled(u, 6*int64(u), served(name, u)))
		}
	case "001":
		rate := map[string]int64{"001-1-worker": 3000, "001-4-workers": 3200, "001-clicks": 2500}[name]
		lt.Status.Steps = []v1beta1.StepStatus{closed(5, 5*rate)}
	case "002":
		for _, u := range []int32{1, 2, 10, 20} {
			step := scheduled(u, 33*12*int64(u), 1)
			median := map[string]time.Duration{"002-v03": 900 * time.Microsecond}[name]
			if median == 0 {
				median = 2 * time.Millisecond
			}
			step.Result.Types = []v1beta1.TypeResult{{Name: "Redirect", PartResult: v1beta1.PartResult{ResponseTime: times(int64(u), median)}}}
			lt.Status.Steps = append(lt.Status.Steps, step)
		}
	case "003":
		lt.Status.Steps = events(test)
	case "004":
		limiter(&lt, name, test)
	}
	if name[:3] != "004" && (name[:3] != "001" || name == "001-clicks") {
		lt.Status.Audits = []v1beta1.AuditStatus{{
			Name: "stored", State: v1beta1.AuditPassed, Acknowledged: 100, Change: new(int64(101)), Unknown: new(int64(2)),
		}}
	}
	return lt
}

// served is the share of the due requests that a version of seed 000 answers.
func served(name string, users int32) float64 {
	most := map[string]int32{"000-v1": 100, "000-v2": 100}[name]
	if most == 0 {
		most = 1000
	}
	if users <= most {
		return 1
	}
	return 0.5
}

// scheduled is a step of users with a rate.
func scheduled(users int32, due int64, share float64) v1beta1.StepStatus {
	expected := int64(share * float64(due))
	unsent := (due - expected) / 2
	failed := due - expected - unsent
	step := v1beta1.StepStatus{Name: fmt.Sprintf("%d users", users), State: v1beta1.StepComplete}
	step.Load = v1beta1.StepLoad{Users: users, Requests: due, Duration: &metav1.Duration{Duration: 6 * time.Second}}
	step.Result = &v1beta1.StepResult{Due: due, Unsent: unsent, Goodput: fmt.Sprintf("%.1f", float64(expected)/6)}
	step.Result.Sent, step.Result.Expected, step.Result.Failed = due-unsent, expected, failed
	step.Result.Outcomes = v1beta1.Outcomes{Success: expected, ServerError: failed}
	step.Result.ResponseTime = times(due-unsent, time.Duration(users)*100*time.Microsecond)
	step.Result.Generator = &v1beta1.GeneratorStatus{Healthy: share == 1, Reason: map[bool]string{false: "BusyNode"}[share == 1]}
	return step
}

// closed is a step of users without a rate, with a histogram.
func closed(users int32, requests int64) v1beta1.StepStatus {
	step := scheduled(users, requests, 1)
	step.Load.Requests = 0
	h := measure.NewHistogram()
	for i := range 1000 {
		h.Record(time.Duration(i+1) * 10 * time.Microsecond)
	}
	step.Result.Histogram, _ = h.Encode() // what was just filled can be
	return step
}

// times is a distribution around a median.
func times(samples int64, median time.Duration) *v1beta1.Latency {
	at := func(factor float64) *metav1.Duration {
		return &metav1.Duration{Duration: time.Duration(factor * float64(median)).Round(time.Microsecond)}
	}
	return &v1beta1.Latency{Samples: samples, Min: at(0.5), Mean: at(1.1), P50: at(1), P75: at(1.3), P90: at(1.6), P95: at(2), P99: at(3), Longest: at(5)}
}

func events(test string) []v1beta1.StepStatus {
	perRequest := map[string]int64{"events-batch-10": 10, "events-batch-100": 100, "events-batch-500": 500, "events-batch-1000": 1000}[test]
	if perRequest == 0 {
		steps := []v1beta1.StepStatus{closed(5, 6000)}
		if test == "events-append" {
			steps = append(steps, v1beta1.StepStatus{Name: "rest", State: v1beta1.StepComplete, Load: v1beta1.StepLoad{Pause: &metav1.Duration{Duration: time.Second}}}, closed(2, 5000))
		}
		return steps
	}
	step := closed(5, 6000/(1+perRequest/400))
	step.Result.ItemsPerSecond = fmt.Sprint(perRequest * step.Result.Expected / 6)
	return []v1beta1.StepStatus{step}
}

// limiter is a scenario against a strategy.
func limiter(lt *v1beta1.LoadTest, name, test string) {
	lt.Spec.Audits = []v1beta1.Audit{{Name: "contract", RateLimit: &v1beta1.RateLimit{Capacity: 50}}}
	step := closed(50, 200)
	audit := &v1beta1.RateLimitStatus{Clients: 1, Granted: 50, Denied: 150}
	switch {
	case name == "004-hash" && test == "single-client-burst":
		audit.Granted, audit.Denied, audit.OverLimitGrants = 200, 0, 150
		lt.Status.Verdict = v1beta1.VerdictFailed
	case name == "004-transaction-429" && test == "five-clients":
		audit.FalseDenials = 8
		lt.Status.Verdict = v1beta1.VerdictFailed
	}
	step.Result.RateLimit = audit
	lt.Status.Steps = []v1beta1.StepStatus{step}
}
