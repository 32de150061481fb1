package runmetrics_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/runmetrics"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var noon = metav1.NewTime(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))

// operator is what a collector asks: LoadTests as the cache has them, and what workers
// have measured.
type operator struct {
	t    *testing.T
	list []v1beta1.LoadTest
	live map[types.UID]*exchange.Report
	err  error
	*runmetrics.Collector
	registry *prometheus.Registry
}

func newOperator(t *testing.T, list ...v1beta1.LoadTest) *operator {
	o := &operator{t: t, list: list, live: map[types.UID]*exchange.Report{}, registry: prometheus.NewPedanticRegistry()}
	leads := make(chan struct{})
	close(leads)
	o.Collector = &runmetrics.Collector{
		Leads: leads, Most: 100, MostRequests: 100,
		List:    func() ([]v1beta1.LoadTest, error) { return slices.Clone(o.list), o.err },
		Observe: func(uid types.UID) *exchange.Report { return o.live[uid] },
	}
	o.registry.MustRegister(o.Collector)
	return o
}

// scrape returns the values of all series by name and labels, histograms by their
// count and sum.
func (o *operator) scrape() map[string]float64 {
	o.t.Helper()
	families, err := o.registry.Gather()
	must.Succeed(o.t, err)
	series := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			key := f.GetName() + labels(m)
			switch {
			case m.Histogram != nil:
				series[key+" count"], series[key+" sum"] = float64(m.Histogram.GetSampleCount()), m.Histogram.GetSampleSum()
			case m.Counter != nil:
				series[key] = m.Counter.GetValue()
			default:
				series[key] = m.Gauge.GetValue()
			}
		}
	}
	return series
}

// labels are those beside namespace, as text.
func labels(m *dto.Metric) string {
	var out []string
	for _, l := range m.Label {
		if l.GetName() != "namespace" {
			out = append(out, l.GetName()+"="+l.GetValue())
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}

// of are the series of a LoadTest.
func of(name string, series map[string]float64) map[string]float64 {
	out := maps.Clone(series)
	maps.DeleteFunc(out, func(key string, _ float64) bool {
		return !strings.Contains(key, "{name="+name+"}") && !strings.Contains(key, "{name="+name+",")
	})
	return out
}

// running is a LoadTest in the first of two steps, of one request.
func running(name string) v1beta1.LoadTest {
	lt := v1beta1.LoadTest{Status: v1beta1.LoadTestStatus{
		Phase: v1beta1.PhaseRunning, StartTime: &noon, Workers: v1beta1.WorkerCounts{Desired: 4, Ready: 3, Silent: 1},
		Requests: []v1beta1.RequestStatus{{Name: "browse", Type: "Read"}},
		Steps: []v1beta1.StepStatus{
			{Name: "users-100", State: v1beta1.StepRunning, Load: v1beta1.StepLoad{Users: 100}},
			{Name: "rest", State: v1beta1.StepPending, Load: v1beta1.StepLoad{Pause: &metav1.Duration{Duration: time.Second}}},
			{Name: "rate-50", State: v1beta1.StepPending, Load: v1beta1.StepLoad{Rate: decimal("50.5")}},
		},
	}}
	lt.Namespace, lt.Name, lt.UID, lt.CreationTimestamp = "shop", name, types.UID("uid-of-"+name), noon
	return lt
}

func decimal(text string) *v1beta1.Decimal {
	d := v1beta1.NewDecimal(text)
	return &d
}

// report is of n requests that were answered in 5 ms, one that failed and one in flight.
func report(step int32, n int64) *exchange.Report {
	m := measure.NewMeasurement(1)
	m.Due = n + 3
	r := &m.Requests[0]
	r.Sent, r.Expected, r.Late = n+2, n, 1
	r.Outcomes[measure.Success], r.Outcomes[measure.Timeout], r.Outcomes[measure.Unfinished] = n, 1, 1
	r.Response.RecordN(5*time.Millisecond, n)
	r.Response.Record(2 * time.Second)
	return &exchange.Report{Step: step, Merged: m}
}

// result is what the status has of the same measurement when its step has ended.
func result(t *testing.T, n int64) *v1beta1.StepResult {
	t.Helper()
	m := report(0, n).Merged
	r := &v1beta1.StepResult{Due: m.Due, Late: 1, Goodput: "12.5"}
	r.Sent, r.Expected, r.Failed = n+2, n, 2
	r.Outcomes = v1beta1.Outcomes{Success: n, Timeout: 1, Unfinished: 1}
	var err error
	r.Histogram, err = m.Requests[0].Response.Encode()
	must.Succeed(t, err)
	r.ResponseTime = &v1beta1.Latency{P95: &metav1.Duration{Duration: 5 * time.Millisecond}}
	r.Requests = []v1beta1.RequestResult{{Name: "browse", PartResult: v1beta1.PartResult{Counts: r.Counts, ResponseTime: r.ResponseTime}}}
	r.Generator = &v1beta1.GeneratorStatus{SendLatenessP99: &metav1.Duration{Duration: 3 * time.Millisecond}, CPUThrottled: "<0.01%", RunQueueWait: "120%"}
	return r
}

// stripped is a finished LoadTest as the cache has it.
func stripped(lt v1beta1.LoadTest, verdict v1beta1.Verdict, after time.Duration) v1beta1.LoadTest {
	end := metav1.NewTime(noon.Add(after))
	lt.Status.Phase, lt.Status.Verdict, lt.Status.CompletionTime, lt.Status.Steps = v1beta1.PhaseFinished, verdict, &end, nil
	return lt
}

func check(t *testing.T, series map[string]float64, want map[string]float64) {
	t.Helper()
	got := map[string]float64{}
	for key := range want {
		value, ok := series[key]
		if !ok {
			value = math.Inf(-1)
		}
		got[key] = value
	}
	same.As(t, "series", want, got)
}

func TestCountersBeginAtZero(t *testing.T) {
	o := newOperator(t, running("a"))
	series := o.scrape()
	check(t, series, map[string]float64{
		"loadtest_requests_due_total{name=a}": 0, "loadtest_requests_sent_total{name=a}": 0, "loadtest_requests_expected_total{name=a}": 0,
		"loadtest_requests_late_total{name=a}": 0, "loadtest_response_time_seconds{name=a} count": 0, "loadtest_step{name=a}": 1, "loadtest_steps{name=a}": 2,
	})
	for outcome := range measure.Outcome(measure.NumOutcomes) {
		check(t, series, map[string]float64{fmt.Sprintf("loadtest_requests_total{name=a,outcome=%s}", outcome): 0})
	}
}

func TestRunningStepIsShownAsItIsMeasured(t *testing.T) {
	o := newOperator(t, running("a"))
	o.live["uid-of-a"] = report(0, 100)
	check(t, o.scrape(), map[string]float64{
		"loadtest_requests_due_total{name=a}": 103, "loadtest_requests_sent_total{name=a}": 102, "loadtest_requests_expected_total{name=a}": 100,
		"loadtest_requests_late_total{name=a}": 1, "loadtest_requests_total{name=a,outcome=success}": 100,
		"loadtest_requests_total{name=a,outcome=timeout}": 1, "loadtest_requests_total{name=a,outcome=unfinished}": 0,
		"loadtest_response_time_seconds{name=a} count": 101, "loadtest_response_time_seconds{name=a} sum": 100*0.0050015 + 2.0003835, // the means of their slots
		"loadtest_users{name=a}": 100, "loadtest_planned_requests_per_second{name=a}": 0,
		"loadtest_workers{name=a,state=desired}": 4, "loadtest_workers{name=a,state=silent}": 1,
		"loadtest_phase{name=a,phase=Running}": 1, "loadtest_phase{name=a,phase=Finished}": 0, "loadtest_verdict{name=a,verdict=Passed}": 0,
	})
}

// A step that has ended counts once, whether it is known from the status or was measured.
func TestStepsAddUp(t *testing.T) {
	lt := running("a")
	o := newOperator(t, lt)
	o.live["uid-of-a"] = report(0, 100)
	o.scrape()
	lt.Status.Steps[0].State, lt.Status.Steps[0].Result = v1beta1.StepComplete, result(t, 120)
	o.list = []v1beta1.LoadTest{lt} // the workers' measurement of it is still there
	want := map[string]float64{
		"loadtest_requests_sent_total{name=a}": 122, "loadtest_requests_total{name=a,outcome=success}": 120, "loadtest_requests_total{name=a,outcome=unfinished}": 1,
		"loadtest_response_time_seconds{name=a} count": 121, "loadtest_users{name=a}": 0,
		"loadtest_step_goodput_requests_per_second{name=a}": 12.5, "loadtest_step_response_time_seconds{name=a,percentile=p95}": 0.005,
		"loadtest_step_send_lateness_p99_seconds{name=a}": 0.003, "loadtest_step_cpu_throttled_ratio{name=a}": 0.0001, "loadtest_step_run_queue_wait_ratio{name=a}": 1.2,
	}
	check(t, o.scrape(), want)
	lt.Status.Steps[1].State, lt.Status.Steps[2].State = v1beta1.StepComplete, v1beta1.StepRunning
	o.live["uid-of-a"] = report(2, 10)
	check(t, o.scrape(), map[string]float64{
		"loadtest_requests_sent_total{name=a}": 134, "loadtest_response_time_seconds{name=a} count": 132, "loadtest_step{name=a}": 2,
		"loadtest_planned_requests_per_second{name=a}": 50.5,
	})
	lt.Status.Steps[2].Load.Sessions = new(int64) // each sends several requests
	check(t, o.scrape(), map[string]float64{"loadtest_planned_requests_per_second{name=a}": 0})
	// Another process has the ended step from the status alone.
	successor := newOperator(t, lt)
	successor.live["uid-of-a"] = report(2, 10)
	check(t, successor.scrape(), of("a", o.scrape()))
}

// What is shown of a finished run is what its last status has.
func TestFinishedRunKeepsItsLoad(t *testing.T) {
	lt := running("a")
	o := newOperator(t, lt)
	o.live["uid-of-a"] = report(0, 100)
	o.scrape()
	last := lt.DeepCopy().Status
	last.Verdict, last.Phase = v1beta1.VerdictFailed, v1beta1.PhaseFinished
	for i := range last.Steps {
		last.Steps[i].State = v1beta1.StepSkipped
	}
	last.Steps[0].State, last.Steps[0].Result = v1beta1.StepComplete, result(t, 200)
	o.Finished(lt.UID, &last)
	want := map[string]float64{
		"loadtest_requests_sent_total{name=a}": 202, "loadtest_response_time_seconds{name=a} count": 201,
		"loadtest_step_response_time_seconds{name=a,percentile=p95}": 0.005, "loadtest_users{name=a}": 0,
	}
	check(t, o.scrape(), want) // the cache is behind
	delete(o.live, lt.UID)
	o.list = []v1beta1.LoadTest{stripped(lt, v1beta1.VerdictFailed, time.Minute)}
	want["loadtest_verdict{name=a,verdict=Failed}"], want["loadtest_verdict{name=a,verdict=Passed}"] = 1, 0
	want["loadtest_completion_timestamp_seconds{name=a}"] = float64(noon.Unix() + 60)
	check(t, o.scrape(), want)
	if successor := of("a", newOperator(t, o.list...).scrape()); successor["loadtest_verdict{name=a,verdict=Failed}"] != 1 {
		t.Errorf("another process does not show the verdict:\n%v", successor)
	} else if _, ok := successor["loadtest_requests_sent_total{name=a}"]; ok {
		t.Error("another process shows the load of a run that it did not see")
	}
}

// A status may have less than was measured: no histogram, or nothing at all.
func TestCountersNeverFall(t *testing.T) {
	lt := running("a")
	o := newOperator(t, lt)
	o.live["uid-of-a"] = report(0, 100)
	last := o.scrape()
	poor := result(t, 50)
	poor.Histogram, poor.Requests = "", nil
	for i, change := range []func(){
		func() { o.live["uid-of-a"] = &exchange.Report{Err: errors.New("cannot be merged")} },
		func() { delete(o.live, lt.UID) },
		func() { o.live["uid-of-a"] = report(0, 90) },
		func() { lt.Status.Steps[0].Result = poor },
		func() { lt.Status.Steps[0].State = v1beta1.StepCut; o.list = []v1beta1.LoadTest{lt} },
		func() { o.Finished(lt.UID, &v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictError}) },
		func() { o.list = []v1beta1.LoadTest{stripped(lt, v1beta1.VerdictError, time.Second)} },
	} {
		change()
		now := o.scrape()
		for key, value := range last {
			counter := strings.Contains(key, "_total{") || strings.Contains(key, "} count") || strings.Contains(key, "} sum")
			if after, ok := now[key]; counter && (!ok || after < value) {
				t.Errorf("change %d: %s fell from %v to %v", i, key, value, after)
			}
		}
		last = now
	}
}

func TestDeletionEndsAllSeries(t *testing.T) {
	a, b := running("a"), running("b")
	o := newOperator(t, a, b)
	o.scrape()
	a.DeletionTimestamp = &noon
	for name, list := range map[string][]v1beta1.LoadTest{"being deleted": {a, b}, "gone": {b}} {
		o.list = list
		series := o.scrape()
		if left := of("a", series); len(left) > 0 {
			t.Errorf("%s: %d series are left: %v", name, len(left), left)
		}
		if len(of("b", series)) == 0 {
			t.Errorf("%s: the other LoadTest has no series", name)
		}
	}
	// Another one of that name begins at zero.
	o.live["uid-of-a"] = report(0, 100)
	again := running("a")
	again.UID = "another"
	o.list = append(o.list, again)
	check(t, o.scrape(), map[string]float64{"loadtest_requests_sent_total{name=a}": 0})
}

func TestNumberOfSeriesIsBounded(t *testing.T) {
	const bound = 75 // of the series of a LoadTest, a histogram with 18 of them
	held := running("held")
	held.Status = v1beta1.LoadTestStatus{}
	list := []v1beta1.LoadTest{
		stripped(running("older"), v1beta1.VerdictPassed, time.Minute), held, stripped(running("newer"), v1beta1.VerdictPassed, time.Hour), running("runs"),
	}
	o := newOperator(t, list...)
	o.MostRequests = 0
	for most, want := range [][]string{{}, {"runs"}, {"runs", "held"}, {"runs", "held", "newer"}, {"runs", "held", "newer", "older"}} {
		o.Most = most
		series := o.scrape()
		for i := range list {
			n := len(of(list[i].Name, series)) + 16
			if shown := n > 16; shown != slices.Contains(want, list[i].Name) || n > bound {
				t.Errorf("at most %d: %s has %d series", most, list[i].Name, n)
			}
		}
		check(t, series, map[string]float64{"loadtest_metrics_left_out{}": float64(len(list) - most)})
	}
}

// What is kept of runs is bounded although nothing asks for metrics.
func TestLoadsOfDeletedRunsAreDropped(t *testing.T) {
	o := newOperator(t)
	o.Most = 10
	lists := 0
	o.List = func() ([]v1beta1.LoadTest, error) { lists++; return nil, nil }
	for i := range 1000 {
		o.Finished(types.UID(fmt.Sprint(i)), &v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictPassed})
		if kept := o.Kept(); kept > 20 {
			t.Fatalf("%d runs are kept", kept)
		}
	}
	if lists > 100 {
		t.Errorf("LoadTests were listed %d times for 1000 runs", lists)
	}
}

func TestStandbyShowsNoLoadTest(t *testing.T) {
	o := newOperator(t, running("a"))
	leads := make(chan struct{})
	o.Leads = leads
	if series := o.scrape(); len(series) > 0 {
		t.Errorf("a standby shows %v", series)
	}
	close(leads)
	if len(of("a", o.scrape())) == 0 {
		t.Error("it leads, and shows no LoadTest")
	}
}

func TestUnreadableCacheFailsTheScrape(t *testing.T) {
	o := newOperator(t, running("a"))
	o.err = errors.New("no cache")
	if _, err := o.registry.Gather(); err == nil || !strings.Contains(err.Error(), "no cache") {
		t.Errorf("got %v, want that there is no cache", err)
	}
}

// The generator's limit is that of the condition, as kubectl describe shows it.
func TestGeneratorLimit(t *testing.T) {
	lt := running("a")
	o := newOperator(t, lt)
	for status, want := range map[metav1.ConditionStatus]float64{metav1.ConditionTrue: 0, metav1.ConditionFalse: 1} {
		lt.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionGeneratorHealthy, Status: status, Reason: v1beta1.ReasonNodeBusy}}
		o.list = []v1beta1.LoadTest{lt}
		check(t, o.scrape(), map[string]float64{"loadtest_generator_limited{name=a,reason=NodeBusy}": want, "loadtest_generator_limited{name=a,reason=ReadLag}": 0})
	}
}

// While a step runs, workers tell the times of groups of requests, which are in no request.
func TestTimesOfGroupsAreCounted(t *testing.T) {
	lt := running("shop")
	lt.Status.Requests = append(lt.Status.Requests, v1beta1.RequestStatus{Name: "buy"})
	o := newOperator(t, lt)
	whole := measure.NewMeasurement(2)
	for i := range whole.Requests {
		whole.Requests[i].Sent = 3
		whole.Requests[i].Response.RecordN(5*time.Millisecond, 3)
		whole.Due += 3
	}
	grouped, err := whole.Group([]int32{0, 0})
	must.Succeed(t, err)
	o.live[lt.UID] = &exchange.Report{Merged: grouped}
	check(t, o.scrape(), map[string]float64{"loadtest_requests_sent_total{name=shop}": 6, "loadtest_request_sent_total{name=shop,request=buy}": 3, "loadtest_response_time_seconds{name=shop} count": 6})
}

// Events are counted from what is reported and then from the status, and never fall.
func TestEventsOfStreams(t *testing.T) {
	lt := running("a")
	o := newOperator(t, lt)
	if _, ok := o.scrape()["loadtest_stream_events_total{name=a}"]; ok {
		t.Error("a run without streams has events")
	}
	live := report(0, 100)
	live.Merged.Requests[0].Streams = &measure.Streams{Events: 70}
	o.live["uid-of-a"] = live
	check(t, o.scrape(), map[string]float64{"loadtest_stream_events_total{name=a}": 70})
	last := lt.DeepCopy().Status
	last.Verdict, last.Phase = v1beta1.VerdictPassed, v1beta1.PhaseFinished
	last.Steps[0].State, last.Steps[0].Result = v1beta1.StepComplete, result(t, 200)
	last.Steps[0].Result.Streams = &v1beta1.StreamsResult{Events: 90, FirstEvent: &v1beta1.EventTimes{P50: milliseconds(20), P95: milliseconds(40)}, MeanGap: &v1beta1.EventTimes{P99: milliseconds(3)}}
	for i := range last.Steps[1:] {
		last.Steps[1+i].State = v1beta1.StepSkipped
	}
	o.Finished(lt.UID, &last)
	series := o.scrape()
	check(t, series, map[string]float64{
		"loadtest_stream_events_total{name=a}":                                90,
		"loadtest_step_stream_seconds{name=a,percentile=p50,time=FirstEvent}": 0.02, "loadtest_step_stream_seconds{name=a,percentile=p95,time=FirstEvent}": 0.04,
		"loadtest_step_stream_seconds{name=a,percentile=p99,time=MeanGap}": 0.003,
	})
	if _, ok := series["loadtest_step_stream_seconds{name=a,percentile=p99,time=FirstEvent}"]; ok {
		t.Error("a percentile of too few samples is shown")
	}
}
