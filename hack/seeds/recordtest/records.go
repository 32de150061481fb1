package recordtest

import (
	"cmp"
	"fmt"
	"math"
	"strings"
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

// repetitions is how often each step ran.
const repetitions = 5

// noise is by what factor times of a repetition are longer, and rates less.
var noise = [repetitions]float64{1, 0.97, 1.02, 0.99, 1.03}

// loadTest is one as it ended.
func loadTest(name, test string) v1beta1.LoadTest {
	lt := v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: test}}
	lt.TypeMeta = metav1.TypeMeta{APIVersion: v1beta1.GroupVersion.String(), Kind: "LoadTest"}
	lt.Spec.Repetitions = repetitions
	lt.Status.Phase, lt.Status.Verdict = v1beta1.PhaseFinished, v1beta1.VerdictPassed
	lt.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionTargetVerified, Status: metav1.ConditionTrue, Reason: "PreflightPassed"}}
	for i, factor := range noise {
		for rung, step := range steps(name, test, factor) {
			step.Repetition, step.Rung, step.State = int32(i+1), int32(rung+1), v1beta1.StepComplete
			if i > 0 {
				step.Name += fmt.Sprintf(" (%d)", i+1)
			}
			lt.Status.Steps = append(lt.Status.Steps, step)
		}
	}
	switch {
	case name[:3] == "004":
		lt.Spec.Audits = []v1beta1.Audit{{Name: "contract", RateLimit: &v1beta1.RateLimit{Capacity: 50}}}
		if name == "004-hash" && test != "five-clients" || name == "004-transaction-429" && test == "five-clients" {
			lt.Status.Verdict = v1beta1.VerdictFailed
		}
	case name[:3] != "001" || name == "001-clicks":
		lt.Status.Audits = []v1beta1.AuditStatus{{
			Name: "stored", State: v1beta1.AuditPassed, Acknowledged: 100, Change: new(int64(101)), Unknown: new(int64(2)),
		}}
	}
	return lt
}

// steps are those of a repetition.
func steps(name, test string, noise float64) (list []v1beta1.StepStatus) {
	switch name[:3] {
	case "000":
		users := []int32{10, 100, 1000, 2500}
		if test == "tiny-bitly-writes" {
			users = append(users, 5000, 10000)
		}
		for _, u := range users {
			step := scheduled(u, 5*int64(u), served(name, test, u), noise)
			step.Result.ResponseTime = times(step.Result.Sent, noise*map[bool]float64{false: 1, true: 0.5}[name == "000-v4"]*float64(u)*1e-4)
			if name == "000-v3" && u == 2500 { // a spread that can be seen
				step.Result.ResponseTime = times(step.Result.Sent, math.Pow(noise, 12)*float64(u)*1e-4)
			}
			if name == "000-v2" && u == 2500 {
				step.Result.Generator = &v1beta1.GeneratorStatus{Reason: v1beta1.ReasonNodeBusy}
			}
			list = append(list, step)
		}
	case "001":
		if test == "sharded-sustained" {
			step := scheduled(0, 600, 1, noise)
			step.Load.Rate = new(v1beta1.NewDecimal("120"))
			step.Result.ResponseTime = times(600, noise*1e-3)
			return []v1beta1.StepStatus{pause("settle"), step}
		}
		list = []v1beta1.StepStatus{closed(5, 5, map[string]float64{"001-1-worker": 800, "001-clicks": 1500, "001-1-shard": 1900, "001-3-shards": 2000}[name], 3000, noise)}
		if list[0].Result.ResponseTime = times(list[0].Result.Sent, noise*1e-3); strings.Contains(name, "shard") {
			list[0].Result.ResponseTime = times(list[0].Result.Sent, noise*2e-3)
		}
	case "002":
		for _, u := range []int32{1, 2, 10, 20} {
			median := map[string]float64{"002-v01": 3e-3, "002-v02": 2e-3, "002-v03": 1e-3}[name]
			step := closed(u, 6, 30*float64(u), 0, noise)
			step.Result.ResponseTime = times(step.Result.Sent, 2*noise*median)
			step.Result.Types = []v1beta1.TypeResult{{Name: "Redirect", PartResult: v1beta1.PartResult{ResponseTime: times(step.Result.Sent, noise*median)}}}
			list = append(list, step)
		}
	case "003":
		list = events(test, map[bool]float64{true: 1 / 0.015, false: 1}[name == "003-delay"]*noise)
	case "004":
		list = limiter(name, test, noise)
	}
	return list
}

// served is the share of the due requests that a version of seed 000 answers.
func served(name, test string, users int32) float64 {
	most := map[string]int32{"000-v1": 100, "000-v2": 100}[name]
	if most == 0 {
		most = 2500
	}
	switch {
	case users <= most:
		return 1
	case test == "tiny-bitly-writes":
		return 500 / (float64(users) + float64(users)*float64(users)/1000)
	}
	return 0.5
}

// scheduled is a step of users with a rate, of 5 s.
func scheduled(users int32, due int64, share, noise float64) v1beta1.StepStatus {
	expected := due
	if share < 1 {
		expected = int64(share / noise * float64(due))
	}
	unsent := (due - expected) / 2
	failed := due - expected - unsent
	step := v1beta1.StepStatus{Name: fmt.Sprintf("%d users", users), Window: &metav1.Duration{Duration: 5 * time.Second}}
	step.Load = v1beta1.StepLoad{Users: users, Requests: due, Duration: step.Window}
	step.Result = &v1beta1.StepResult{Due: due, Unsent: unsent, Goodput: fmt.Sprintf("%.1f", float64(expected)/5)}
	step.Result.Throughput = fmt.Sprintf("%.1f", float64(due-unsent)/5)
	step.Result.Sent, step.Result.Completed, step.Result.Expected, step.Result.Failed = due-unsent, due-unsent, expected, failed
	step.Result.Outcomes = v1beta1.Outcomes{Success: expected, ServerError: failed}
	if failed > 0 {
		step.Result.Requests = []v1beta1.RequestResult{{Name: "follow", PartResult: v1beta1.PartResult{Counts: step.Result.Counts}}}
	}
	step.Result.ResponseTime = times(due-unsent, noise*float64(users)*1e-4)
	step.Result.Generator = &v1beta1.GeneratorStatus{Healthy: true}
	return step
}

// closed is a step of users without a rate, with a histogram: of so many requests a
// second, or as many as others have.
func closed(users int32, seconds, rate, others, noise float64) v1beta1.StepStatus {
	step := scheduled(users, int64(seconds*cmp.Or(rate, others)/noise), 1, noise)
	step.Load.Requests = 0
	step.Result.Histogram = histograms[min(noise, 1.03)] // a delay has the last one

	return step
}

// histograms are those of a repetition by its noise.
var histograms = func() map[float64]string {
	all := map[float64]string{}
	for _, factor := range noise {
		h := measure.NewHistogram()
		for i := range 1000 {
			h.Record(time.Duration(float64(i+1) * 10000 * factor))
		}
		all[factor], _ = h.Encode() // what was just filled can be
	}
	return all
}()

// times is a distribution around a median, in seconds.
func times(samples int64, median float64) *v1beta1.Latency {
	at := func(factor float64) *metav1.Duration {
		return &metav1.Duration{Duration: time.Duration(factor * median * float64(time.Second)).Round(time.Microsecond)}
	}
	return &v1beta1.Latency{Samples: samples, Min: at(0.5), Mean: at(1.1), P50: at(1), P75: at(1.3), P90: at(1.6), P95: at(2), P99: at(3), P999: at(4), Longest: at(5)}
}

// pause is a step that sends nothing.
func pause(name string) v1beta1.StepStatus {
	return v1beta1.StepStatus{Name: name, Load: v1beta1.StepLoad{Pause: &metav1.Duration{Duration: time.Second}}}
}

func events(test string, noise float64) []v1beta1.StepStatus {
	perRequest := map[string]float64{"events-batch-10": 10, "events-batch-100": 100, "events-optimal": 100, "events-batch-500": 500, "events-batch-1000": 1000}[test]
	if perRequest == 0 {
		list := []v1beta1.StepStatus{pause("settle"), closed(5, 5, 1200, 0, noise)}
		if test == "events-append" {
			list = append(list, pause("rest"), closed(2, 5, 1000, 0, noise))
		}
		return list
	}
	step := closed(5, 5, 1200/(1+perRequest/400), 0, noise)
	step.Result.ItemsPerSecond = fmt.Sprintf("%.1f", perRequest*float64(step.Result.Expected)/5)
	return []v1beta1.StepStatus{pause("settle"), step}
}

// limiter is a scenario against a strategy.
func limiter(name, test string, noise float64) []v1beta1.StepStatus {
	size, rate := int64(200), map[string]float64{"004-hash": 3000, "004-lua": 4000, "004-lua-seconds": 4000}[name]
	switch test {
	case "five-clients":
		size = 150
	case "burst-then-steady":
		size = 120
	}
	step := func(size int64, audit v1beta1.RateLimitStatus) v1beta1.StepStatus {
		step := closed(50, 1, float64(size)*noise, 0, noise)
		r := step.Result
		r.Outcomes = v1beta1.Outcomes{Success: audit.Granted, RateLimited: audit.Denied}
		r.Throughput = fmt.Sprintf("%.1f", cmp.Or(rate, 2000)/noise)
		r.Goodput = r.Throughput
		r.RateLimit = &audit
		if name[4:] == "transaction-429" || name[4:] == "transaction" {
			r.ResponseTime = times(size, 0.03*noise)
		}
		return step
	}
	audit := v1beta1.RateLimitStatus{Clients: 1, Granted: 50, Denied: size - 50}
	switch {
	case test == "five-clients":
		audit = v1beta1.RateLimitStatus{Clients: 5, Granted: size}
		if name == "004-transaction-429" {
			audit.Granted, audit.Denied, audit.FalseDenials = size-8, 8, 8
		}
	case name == "004-hash":
		audit.Granted, audit.Denied, audit.OverLimitGrants = size, 0, size-50
	}
	list := []v1beta1.StepStatus{pause("fill"), step(size, audit)}
	if test == "burst-then-steady" {
		list = append(list, pause("refill"), step(15, v1beta1.RateLimitStatus{Clients: 1, Granted: 15}))
	}
	return list
}
