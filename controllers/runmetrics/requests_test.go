package runmetrics_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// byRequest are the series of requests.
func byRequest(series map[string]float64) map[string]float64 {
	out := maps.Clone(series)
	maps.DeleteFunc(out, func(key string, _ float64) bool { return !strings.Contains(key, "request=") })
	return out
}

func milliseconds(n int) *metav1.Duration {
	return &metav1.Duration{Duration: time.Duration(n) * time.Millisecond}
}

// shop is a LoadTest in the first of two steps, of two requests.
func shop() v1beta1.LoadTest {
	lt := running("shop")
	lt.Status.Requests = []v1beta1.RequestStatus{{Name: "browse"}, {Name: "buy"}}
	return lt
}

// measured is what workers have measured of both requests of the shop: buy is refused at times.
func measured(step int32, n int64) *exchange.Report {
	m := measure.NewMeasurement(2)
	browse, buy := &m.Requests[0], &m.Requests[1]
	browse.Sent, browse.Expected, browse.Outcomes[measure.Success], browse.Outcomes[measure.Unfinished] = n+1, n, n, 1
	buy.Sent, buy.Expected, buy.Outcomes[measure.RateLimited], buy.Outcomes[measure.ClientError] = n, n/2, n/2, n-n/2
	return &exchange.Report{Step: step, Merged: m}
}

// ended is what the status has of it when its step has ended.
func ended(n int64) *v1beta1.StepResult {
	browse := v1beta1.RequestResult{Name: "browse"}
	browse.Counts = v1beta1.Counts{Sent: n + 1, Expected: n, Failed: 1, Outcomes: v1beta1.Outcomes{Success: n, Unfinished: 1}}
	browse.ResponseTime = &v1beta1.Latency{P50: milliseconds(1), P90: milliseconds(2), P95: milliseconds(3), P99: milliseconds(4), P999: milliseconds(5)}
	buy := v1beta1.RequestResult{Name: "buy"}
	buy.Counts = v1beta1.Counts{Sent: n, Expected: n / 2, Failed: n - n/2, Outcomes: v1beta1.Outcomes{RateLimited: n / 2, ClientError: n - n/2}}
	buy.ResponseTime = &v1beta1.Latency{P50: milliseconds(7)}
	return &v1beta1.StepResult{Requests: []v1beta1.RequestResult{browse, buy}}
}

// afterTen are the series by request of shop in its first step, of which measured(0, 10) came.
var afterTen = map[string]float64{
	"loadtest_request_sent_total{name=shop,request=browse}": 11, "loadtest_request_failed_total{name=shop,request=browse}": 0,
	"loadtest_request_outcomes_total{name=shop,outcome=success,request=browse}": 10,
	"loadtest_request_sent_total{name=shop,request=buy}":                        10, "loadtest_request_failed_total{name=shop,request=buy}": 5,
	"loadtest_request_outcomes_total{name=shop,outcome=rateLimited,request=buy}": 5, "loadtest_request_outcomes_total{name=shop,outcome=clientError,request=buy}": 5,
}

// An outcome has series once it has occurred, and times once their step has ended. They stay
// while the next step runs, so that a scrape sees those of each step.
func TestRequestsAreShownByName(t *testing.T) {
	lt := shop()
	o := newOperator(t, lt)
	same.As(t, "series before the first request", map[string]float64{
		"loadtest_request_sent_total{name=shop,request=browse}": 0, "loadtest_request_failed_total{name=shop,request=browse}": 0,
		"loadtest_request_sent_total{name=shop,request=buy}": 0, "loadtest_request_failed_total{name=shop,request=buy}": 0,
	}, byRequest(o.scrape()))
	o.live[lt.UID] = measured(0, 10)
	same.As(t, "series of the step that runs", afterTen, byRequest(o.scrape()))
	lt.Status.Steps[0].State, lt.Status.Steps[0].Result = v1beta1.StepComplete, ended(20)
	lt.Status.Steps[1].State, lt.Status.Steps[2].State = v1beta1.StepComplete, v1beta1.StepRunning // the pause, and what follows it
	o.list, o.live[lt.UID] = []v1beta1.LoadTest{lt}, measured(2, 4)
	want := map[string]float64{
		"loadtest_request_sent_total{name=shop,request=browse}": 26, "loadtest_request_failed_total{name=shop,request=browse}": 1,
		"loadtest_request_outcomes_total{name=shop,outcome=success,request=browse}": 24, "loadtest_request_outcomes_total{name=shop,outcome=unfinished,request=browse}": 1,
		"loadtest_request_sent_total{name=shop,request=buy}": 24, "loadtest_request_failed_total{name=shop,request=buy}": 12,
		"loadtest_request_outcomes_total{name=shop,outcome=rateLimited,request=buy}": 12, "loadtest_request_outcomes_total{name=shop,outcome=clientError,request=buy}": 12,
		"loadtest_step_request_response_time_seconds{name=shop,percentile=p50,request=browse}":   0.001,
		"loadtest_step_request_response_time_seconds{name=shop,percentile=p90,request=browse}":   0.002,
		"loadtest_step_request_response_time_seconds{name=shop,percentile=p95,request=browse}":   0.003,
		"loadtest_step_request_response_time_seconds{name=shop,percentile=p99,request=browse}":   0.004,
		"loadtest_step_request_response_time_seconds{name=shop,percentile=p99.9,request=browse}": 0.005,
		"loadtest_step_request_response_time_seconds{name=shop,percentile=p50,request=buy}":      0.007,
	}
	same.As(t, "series of two steps", want, byRequest(o.scrape()))
	successor := newOperator(t, lt)
	successor.live = o.live
	same.As(t, "series of another process", want, byRequest(successor.scrape()))
	// It is cut, and its times were never known: those of the step before are not shown for it.
	last := lt.DeepCopy().Status
	last.Verdict, last.Steps[2].State, last.Steps[2].Result = v1beta1.VerdictError, v1beta1.StepCut, &v1beta1.StepResult{}
	o.Finished(lt.UID, &last)
	o.list = []v1beta1.LoadTest{stripped(lt, v1beta1.VerdictError, time.Minute)}
	maps.DeleteFunc(want, func(key string, _ float64) bool { return strings.Contains(key, "percentile") })
	same.As(t, "series of the run that has finished", want, byRequest(o.scrape()))
}

// A run that was held before its first step, or gave its place away, may have other requests when it
// begins again.
func TestRequestsArePlannedAnewUntilTheFirstStep(t *testing.T) {
	lt := shop()
	earlier := *lt.DeepCopy()
	earlier.Status.Requests, earlier.Status.Steps[0].State = []v1beta1.RequestStatus{{Name: "search"}}, v1beta1.StepPending
	o := newOperator(t, earlier)
	o.scrape()
	o.list, o.live[lt.UID] = []v1beta1.LoadTest{lt}, measured(0, 10)
	same.As(t, "series", afterTen, byRequest(o.scrape()))
}

// What the status had no room for was measured.
func TestRequestsThatAreOmittedKeepTheirCounts(t *testing.T) {
	lt := shop()
	o := newOperator(t, lt)
	o.live[lt.UID] = measured(0, 10)
	o.scrape()
	last := lt.DeepCopy().Status
	last.Verdict, last.Steps[0].State, last.Steps[0].Result = v1beta1.VerdictFailed, v1beta1.StepComplete, ended(20)
	last.Steps[0].Result.Requests = last.Steps[0].Result.Requests[1:]
	o.Finished(lt.UID, &last)
	check(t, o.scrape(), map[string]float64{
		"loadtest_request_sent_total{name=shop,request=browse}": 11, "loadtest_request_sent_total{name=shop,request=buy}": 20,
	})
}

// A name is a label as it is fit to be shown. Requests whose labels are equal are added up: two
// series with the same labels would fail the scrape.
func TestNamesOfRequestsBecomeLabels(t *testing.T) {
	long := strings.Repeat("ü", 63)
	lt := shop()
	lt.Status.Requests = []v1beta1.RequestStatus{{Name: "GET /"}, {Name: "GET /"}, {Name: "a\nb\x1b[31m\u202e"}, {Name: long + "1"}, {Name: long + "2"}}
	o := newOperator(t, lt)
	r := &v1beta1.StepResult{}
	for i, of := range lt.Status.Requests {
		one := v1beta1.RequestResult{Name: of.Name}
		one.Sent, one.ResponseTime = int64(i+1), &v1beta1.Latency{P50: milliseconds(i)}
		r.Requests = append(r.Requests, one)
	}
	last := lt.DeepCopy().Status
	last.Verdict, last.Steps[0].State, last.Steps[0].Result = v1beta1.VerdictPassed, v1beta1.StepComplete, r
	o.Finished(lt.UID, &last)
	o.list = []v1beta1.LoadTest{stripped(lt, v1beta1.VerdictPassed, 0)}
	cut := strings.Repeat("ü", 30) + "…" // of 63 bytes
	want := map[string]float64{"loadtest_step_request_response_time_seconds{name=shop,percentile=p50,request=ab[31m}": 0.002}
	for label, sent := range map[string]float64{"GET /": 1 + 2, "ab[31m": 3, cut: 4 + 5} {
		want["loadtest_request_sent_total{name=shop,request="+label+"}"], want["loadtest_request_failed_total{name=shop,request="+label+"}"] = sent, 0
	}
	same.As(t, "series", want, byRequest(o.scrape()))
}

// finished has the operator know a finished LoadTest with so many failures of each request, of
// which 10 were sent at least.
func (o *operator) finished(name string, after time.Duration, failures ...int64) {
	lt := running(name)
	last := lt.DeepCopy().Status
	last.Verdict, last.Steps[0].State, last.Steps[0].Result = v1beta1.VerdictFailed, v1beta1.StepComplete, &v1beta1.StepResult{}
	last.Requests = nil
	for i, failed := range failures {
		of := v1beta1.RequestResult{Name: fmt.Sprint(i)}
		of.Sent, of.Failed, of.Outcomes.Timeout = 10+failed, failed, failed
		last.Requests = append(last.Requests, v1beta1.RequestStatus{Name: of.Name})
		last.Steps[0].Result.Requests = append(last.Steps[0].Result.Requests, of)
	}
	o.Finished(lt.UID, &last)
	o.list = append(o.list, stripped(lt, v1beta1.VerdictFailed, after))
}

// Failures come first, those of each LoadTest in turn, and then requests of runs that go on.
func TestOrderOfRequests(t *testing.T) {
	o := newOperator(t, running("calm"), shop())
	o.live["uid-of-shop"] = measured(0, 10) // of which 5 of buy failed
	o.finished("old", time.Minute, 700, 900, 800)
	o.finished("good", time.Minute, 0)
	o.finished("new", time.Hour, 2, 0, 1)
	want := []string{"old 1", "shop buy", "new 0", "old 2", "new 2", "old 0", "calm browse", "shop browse", "good 0", "new 1"}
	for most := -1; most <= len(want)+1; most++ {
		o.MostRequests = most
		series := o.scrape()
		var shown []string
		for key := range series {
			if labels, ok := strings.CutPrefix(key, "loadtest_request_sent_total{name="); ok {
				shown = append(shown, strings.Replace(strings.TrimSuffix(labels, "}"), ",request=", " ", 1))
			}
		}
		n := min(max(most, 0), len(want))
		same.As(t, fmt.Sprintf("the requests of at most %d", most), slices.Sorted(slices.Values(want[:n])), slices.Sorted(slices.Values(shown)))
		check(t, series, map[string]float64{"loadtest_metrics_requests_left_out{}": float64(len(want) - n)})
	}
}

// However many requests there are and whatever comes of them, their series are no more than 23
// for each that has series; and each LoadTest has the one of which the most failed.
func TestSeriesOfRequestsAreBounded(t *testing.T) {
	const tests, each = 1000, 32
	whole := v1beta1.Latency{P50: milliseconds(1), P90: milliseconds(1), P95: milliseconds(1), P99: milliseconds(1), P999: milliseconds(1)}
	outcomes := v1beta1.Outcomes{Success: 1, RateLimited: 1, ClientError: 1, ServerError: 1, UnexpectedStatus: 1, Timeout: 1, Refused: 1, Reset: 1, DNS: 1, TLS: 1, BadResponse: 1, Unfinished: 1, Other: 1, BrokenOff: 1, Stalled: 1, EndedEarly: 1}
	o := newOperator(t)
	o.Most, o.MostRequests = tests, tests
	for i := range tests {
		lt := running(fmt.Sprint(i))
		last := v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictFailed, Steps: lt.Status.Steps}
		last.Steps[0].State, last.Steps[0].Result = v1beta1.StepComplete, &v1beta1.StepResult{}
		for j := range each {
			of := v1beta1.RequestResult{Name: fmt.Sprint(j)}
			of.Counts, of.ResponseTime = v1beta1.Counts{Sent: 100, Failed: int64(10 + (j+i)%each), Outcomes: outcomes}, &whole
			last.Requests = append(last.Requests, v1beta1.RequestStatus{Name: of.Name})
			last.Steps[0].Result.Requests = append(last.Steps[0].Result.Requests, of)
		}
		o.Finished(lt.UID, &last)
		o.list = append(o.list, stripped(lt, v1beta1.VerdictFailed, 0))
	}
	// It is what administrators read where they set the number of requests.
	for _, file := range []string{"../../docs/metrics.md", "../../cmd/options.go", "../../charts/loadtest-operator/values.yaml"} {
		text := strings.Join(strings.Fields(strings.ReplaceAll(string(must.ReadFile(t, file)), "# ", "")), " ")
		if !strings.Contains(text, "at most 23 each") {
			t.Errorf("%s does not say that a request has at most 23 series", file)
		}
	}
	for most, want := range map[int]int{0: 0, 10: 230, tests: 23 * tests, 2 * tests: 46 * tests} {
		o.MostRequests = most
		series := o.scrape()
		if n := len(byRequest(series)); n != want {
			t.Errorf("of at most %d requests there are %d series, want %d", most, n, want)
		}
		check(t, series, map[string]float64{"loadtest_metrics_requests_left_out{}": float64(tests*each - most), "loadtest_metrics_left_out{}": 0})
		if most != tests {
			continue
		}
		for i := range tests {
			worst := (each - 1 - i%each)
			if n := series[fmt.Sprintf("loadtest_request_failed_total{name=%d,request=%d}", i, worst)]; n != 10+each-1 {
				t.Errorf("LoadTest %d: %v failures of request %d are shown, want %d", i, n, worst, 10+each-1)
			}
		}
	}
}
