package results_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var (
	closed = loading("1000", v1beta1.StepLoad{Users: 1000, Duration: d(30 * time.Second)})
	paced  = loading("1000", v1beta1.StepLoad{Users: 1000, RatePerUser: decimal("1"), Duration: d(30 * time.Second), Requests: 30_000})
)

func loading(name string, load v1beta1.StepLoad) *v1beta1.StepStatus {
	return &v1beta1.StepStatus{Name: name, Load: load}
}

func decimal(text string) *v1beta1.Decimal {
	d := v1beta1.NewDecimal(text)
	return &d
}

func d(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

// record counts n requests of an outcome with that latency; unfinished ones are in
// flight.
func record(r *measure.Request, n int64, o measure.Outcome, latency time.Duration) {
	r.Sent += n
	r.Outcomes[o] += n
	if o == measure.Success {
		r.Expected += n
		r.ExpectedInWindow += n
	}
	if o.Responded() {
		r.CompletedInWindow += n
	}
	if o == measure.Unfinished {
		return
	}
	for range n {
		r.Response.Record(latency)
		r.Service.Record(latency / 2)
	}
}

func stepResult(t *testing.T, lt *v1beta1.LoadTest, step *v1beta1.StepStatus, merged *measure.Measurement) *v1beta1.StepResult {
	t.Helper()
	lt.Status.Requests = plan.RequestNames(&lt.Spec)
	result, err := results.StepResult(lt, step, merged, 0)
	if err != nil {
		t.Fatalf("StepResult: %v", err)
	}
	return result
}

// mix is a run of one worker.
func mix() *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{Requests: []v1beta1.Request{
		{Name: "create", HTTP: &v1beta1.HTTPRequest{Method: "POST"}}, {Name: "follow"}, {Name: "delete", HTTP: &v1beta1.HTTPRequest{Method: "DELETE"}}, {Name: "count", Type: "Admin"},
	}}}
	lt.Status.Workers.Desired = 1
	return lt
}

func TestStepResult(t *testing.T) {
	merged := measure.NewMeasurement(4)
	merged.Due, merged.Unsent, merged.ConnectionsOpened, merged.Reused = 20, 3, 5, 12
	merged.OpenedInWindow, merged.ResumedHandshakes, merged.Handshakes = 2, 1, measure.NewHistogram()
	merged.Handshakes.RecordN(2*ms, 3)
	merged.Window, merged.Transport, merged.Engine = 3*time.Second, "http1", "event loops"
	record(&merged.Requests[0], 4, measure.Success, 10*ms)
	record(&merged.Requests[0], 1, measure.ServerError, 30*ms)
	merged.Requests[0].StatusCodes = measure.StatusCodes{201: 4, 503: 1}
	record(&merged.Requests[1], 6, measure.Success, 20*ms)
	record(&merged.Requests[1], 1, measure.Timeout, 2*time.Second)
	record(&merged.Requests[1], 2, measure.Unfinished, 0)
	record(&merged.Requests[2], 2, measure.Success, 1234567*time.Nanosecond)
	merged.Requests[2].StatusCodes = measure.StatusCodes{204: 2}
	record(&merged.Requests[3], 1, measure.RateLimited, 40*ms)
	merged.Requests[3].Expected, merged.Requests[3].ExpectedInWindow = 1, 1
	merged.Requests[0].Late, merged.Requests[1].Late = 1, 2
	merged.Requests[0].Errors = map[measure.Outcome]string{measure.Timeout: "no response within 2s", measure.ServerError: "status 503"}

	got := stepResult(t, mix(), closed, merged)
	if _, err := measure.DecodeHistogram(got.Histogram, 0); err != nil {
		t.Errorf("histogram: %v", err)
	}
	got.Histogram, got.Requests = "", nil
	want := &v1beta1.StepResult{
		Counts: v1beta1.Counts{
			Sent: 17, Completed: 14, Expected: 13, Failed: 2, InFlight: 2,
			Outcomes:    v1beta1.Outcomes{Success: 12, RateLimited: 1, ServerError: 1, Timeout: 1},
			StatusCodes: []v1beta1.StatusCodeCount{{Code: 201, Count: 4}, {Code: 204, Count: 2}, {Code: 503, Count: 1}},
		},
		Due: 20, Unsent: 3, Late: 3, Throughput: "4.666667", Goodput: "4.333333",
		ResponseTime: &v1beta1.Latency{
			Samples: 15, Min: d(1235 * time.Microsecond), Mean: d(148863 * time.Microsecond),
			P50: d(20015 * time.Microsecond), P75: d(20015 * time.Microsecond), P90: d(40031 * time.Microsecond), Longest: d(2000895 * time.Microsecond),
		},
		ServiceTime: &v1beta1.Latency{
			Samples: 15, Min: d(617 * time.Microsecond), Mean: d(74431 * time.Microsecond),
			P50: d(10007 * time.Microsecond), P75: d(10007 * time.Microsecond), P90: d(20015 * time.Microsecond), Longest: d(1000447 * time.Microsecond),
		},
		Types: []v1beta1.TypeResult{
			{
				Name: "Write",
				PartResult: v1beta1.PartResult{Counts: v1beta1.Counts{
					Sent: 7, Completed: 7, Expected: 6, Failed: 1,
					Outcomes:    v1beta1.Outcomes{Success: 6, ServerError: 1},
					StatusCodes: []v1beta1.StatusCodeCount{{Code: 201, Count: 4}, {Code: 204, Count: 2}, {Code: 503, Count: 1}},
				}, ResponseTime: &v1beta1.Latency{
					Samples: 7, Min: d(1235 * time.Microsecond), Mean: d(10356 * time.Microsecond),
					P50: d(10007 * time.Microsecond), P75: d(10007 * time.Microsecond), Longest: d(30015 * time.Microsecond),
				}},
			},
			{
				Name: "Read",
				PartResult: v1beta1.PartResult{Counts: v1beta1.Counts{
					Sent: 9, Completed: 6, Expected: 6, Failed: 1, InFlight: 2,
					Outcomes: v1beta1.Outcomes{Success: 6, Timeout: 1},
				}, ResponseTime: &v1beta1.Latency{
					Samples: 7, Min: d(20000 * time.Microsecond), Mean: d(302919 * time.Microsecond),
					P50: d(20015 * time.Microsecond), P75: d(20015 * time.Microsecond), Longest: d(2000895 * time.Microsecond),
				}},
			},
			{
				Name: "Admin",
				PartResult: v1beta1.PartResult{Counts: v1beta1.Counts{
					Sent: 1, Completed: 1, Expected: 1,
					Outcomes: v1beta1.Outcomes{RateLimited: 1},
				}, ResponseTime: &v1beta1.Latency{Samples: 1, Min: d(40000 * time.Microsecond), Mean: d(40016 * time.Microsecond), Longest: d(40031 * time.Microsecond)}},
			},
		},
		Transport: "http1",
		Generator: &v1beta1.GeneratorStatus{Healthy: true, Engine: "event loops", CPUThrottled: "0%", ConnectionsOpened: 5, OpenedInWindow: 2, Handshakes: 3, ResumedHandshakes: 1, HandshakeP50: d(2 * ms), ConnectionsReused: 12},
	}
	same.As(t, "result", want, got)

	results.Settle(got)
	for _, c := range []*v1beta1.Counts{&want.Counts, &want.Types[1].Counts} {
		c.Failed, c.InFlight, c.Outcomes.Unfinished = c.Failed+2, 0, 2
	}
	same.As(t, "result of the step once it has ended", want, got)
}

// The result of a request is what that of its type is, if no other request has the type, and
// has its errors beside it.
func TestResultsOfEachRequest(t *testing.T) {
	lt, merged := mix(), measure.NewMeasurement(4)
	lt.Spec.Thresholds = []v1beta1.Threshold{{Metric: "p95", Requests: []string{"follow"}, Types: []string{"type 1"}}}
	for i := range merged.Requests {
		lt.Spec.Requests[i].Type = fmt.Sprint("type ", i)
		r := &merged.Requests[i]
		record(r, int64(3+i), measure.Success, time.Duration(i+1)*ms)
		record(r, 2, measure.Timeout, 40*ms)
		record(r, int64(i), measure.Unfinished, 0)
		r.Due, r.Excused, r.Ideal = r.Sent+1, 1, measure.NewHistogram()
		r.Ideal.RecordN(ms, r.Response.Count())
		merged.Due += r.Due
	}
	merged.Requests[2].Errors = map[measure.Outcome]string{measure.Timeout: "no response within 2s", measure.ServerError: "status 503"}
	got := stepResult(t, lt, closed, merged)
	results.Settle(got)
	want := make([]v1beta1.RequestResult, 4)
	for i := range want {
		want[i] = v1beta1.RequestResult{Name: lt.Spec.Requests[i].Name, PartResult: got.Types[i].PartResult}
	}
	want[2].ErrorSamples = []v1beta1.ErrorSample{{Outcome: "serverError", Message: "status 503"}, {Outcome: "timeout", Message: "no response within 2s"}}
	same.As(t, "results of each request", want, got.Requests)
	if last := got.Requests[3]; last.Failed != 5 || last.InFlight != 0 || *last.Due != 12 || last.Excused != 0 || got.Requests[1].Excused != 1 {
		t.Errorf("the requests have %+v; want 5 of the last one's 12 failed, and the excused of the named one alone", got.Requests)
	}
}

// Of what workers told of groups of requests alone, each request has its counts, and the times
// that are certainly its own.
func TestResultsOfGroups(t *testing.T) {
	lt, merged := mix(), measure.NewMeasurement(4)
	lt.Spec.Requests[0].Type = "Read"
	for i := range merged.Requests {
		record(&merged.Requests[i], int64(3+i), measure.Success, time.Duration(i+1)*ms)
	}
	merged, err := merged.Group([]int32{0, 0, 1, 2})
	must.Succeed(t, err)
	got := stepResult(t, lt, closed, merged)
	samples := func(l *v1beta1.Latency) int64 {
		if l == nil {
			return 0
		}
		return l.Samples
	}
	said := fmt.Sprint(got.Sent, " ", samples(got.ResponseTime))
	for i := range got.Requests {
		said += fmt.Sprintf("; %s %d %d", got.Requests[i].Name, got.Requests[i].Sent, samples(got.Requests[i].ResponseTime))
	}
	for i := range got.Types {
		said += fmt.Sprintf("; %s %d %d", got.Types[i].Name, got.Types[i].Sent, samples(got.Types[i].ResponseTime))
	}
	if want := "18 18; create 3 0; follow 4 0; delete 5 5; count 6 6; Read 7 7; Write 5 5; Admin 6 6"; said != want {
		t.Errorf("sent, and times: %s, want %s", said, want)
	}
}

// Without room for all, the requests with the most failures stay, in their order.
func TestTrimRequestsKeepsTheLargestFailures(t *testing.T) {
	all := make([]v1beta1.RequestResult, 4)
	for i, failed := range []int64{1, 7, 0, 7} {
		all[i] = v1beta1.RequestResult{Name: fmt.Sprint("request ", i), PartResult: v1beta1.PartResult{Counts: v1beta1.Counts{Failed: failed}}}
	}
	each := v1beta1.JSONSize(&all[0]) + 1
	for room, want := range map[int]string{
		-1: "[] 4", 0: "[] 4", each: "[] 4", 1 + each: "[request 1] 3", 2 * each: "[request 1] 3", 1 + 2*each: "[request 1 request 3] 2",
		1 + 3*each: "[request 0 request 1 request 3] 1", 1 + 4*each: "[request 0 request 1 request 2 request 3] 0",
	} {
		r := &v1beta1.StepResult{Requests: all}
		results.TrimRequests(&v1beta1.LoadTestSpec{}, r, room)
		names := []string{}
		for i := range r.Requests {
			names = append(names, r.Requests[i].Name)
		}
		if got := fmt.Sprint(names, " ", r.RequestsOmitted); got != want || results.DetailSize(r) > max(0, room) {
			t.Errorf("in %d bytes: %s of %d, want %s", room, got, results.DetailSize(r), want)
		}
	}
}

// What the generator or the end of the step decides is known of types that a threshold names.
func TestTypeWithoutTheGenerator(t *testing.T) {
	lt, merged := mix(), measure.NewMeasurement(4)
	lt.Spec.Thresholds = []v1beta1.Threshold{{Metric: "p95", Types: []string{"Read", "Admin"}}}
	for i := range merged.Requests {
		r := &merged.Requests[i]
		record(r, 2, measure.Timeout, 40*ms)
		r.Excused, r.Undecided, r.Ideal = 1, 2, measure.NewHistogram()
		r.Ideal.RecordN(10*ms, 2)
	}
	merged.Requests[3].Ideal = nil // as it was measured
	got := stepResult(t, lt, closed, merged)
	ideal := map[string]time.Duration{}
	for _, of := range got.Types {
		if of.WithoutGenerator != nil {
			ideal[of.Name] = of.WithoutGenerator.Min.Duration
		}
		if named := of.Name != "Write"; named != (of.Excused == 1) || named != (of.Undecided == 2) {
			t.Errorf("%s: %d excused, %d undecided", of.Name, of.Excused, of.Undecided)
		}
	}
	same.As(t, "least times without the generator", map[string]time.Duration{"Read": 10 * ms}, ideal)
}

func TestEveryOutcomeIsCountedOnce(t *testing.T) {
	merged := measure.NewMeasurement(1)
	for o := range measure.Outcome(measure.NumOutcomes) {
		record(&merged.Requests[0], 1<<o, o, ms)
	}
	lt := mix()
	lt.Spec.Requests = lt.Spec.Requests[:1]
	got := stepResult(t, lt, closed, merged)
	results.Settle(got)
	want := v1beta1.Outcomes{
		Success: 1, RateLimited: 2, ClientError: 4, ServerError: 8, UnexpectedStatus: 16, Timeout: 32, Refused: 64,
		Reset: 128, DNS: 256, TLS: 512, BadResponse: 1024, Unfinished: 2048, Other: 4096, BrokenOff: 8192, Stalled: 16384, EndedEarly: 32768,
	}
	same.As(t, "outcomes", want, got.Outcomes)
	if got.Sent != 1<<measure.NumOutcomes-1 || got.Completed != 31 {
		t.Errorf("sent %d and completed %d, want %d and 31", got.Sent, got.Completed, 1<<measure.NumOutcomes-1)
	}
}

// The most frequent codes are kept, and of those that came as often the lower.
func TestStatusCodesAreBounded(t *testing.T) {
	eight := measure.StatusCodes{507: 1, 200: 1, 203: 1, 201: 1, 206: 1, 204: 1, 205: 1, 202: 1}
	with := func(code int, n int64) measure.StatusCodes {
		codes := maps.Clone(eight)
		codes[207], codes[code] = 1, n
		return codes
	}
	for name, tc := range map[string]struct {
		codes measure.StatusCodes
		want  string
	}{
		"none":                     {nil, "[]"},
		"one":                      {measure.StatusCodes{302: 1}, "[{302 1}]"},
		"eight":                    {eight, "[{200 1} {201 1} {202 1} {203 1} {204 1} {205 1} {206 1} {507 1}]"},
		"nine that came as often":  {with(207, 1), "[{200 1} {201 1} {202 1} {203 1} {204 1} {205 1} {206 1} {207 1}]"},
		"the last came most often": {with(507, 2), "[{200 1} {201 1} {202 1} {203 1} {204 1} {205 1} {206 1} {507 2}]"},
	} {
		merged := measure.NewMeasurement(4)
		merged.Requests[0].StatusCodes = tc.codes
		same.As(t, name, tc.want, fmt.Sprint(stepResult(t, mix(), closed, merged).StatusCodes))
	}
}

func TestAStepWithoutRequests(t *testing.T) {
	lt := mix()
	lt.Spec.Requests = lt.Spec.Requests[:1]
	want := &v1beta1.StepResult{
		Types:     []v1beta1.TypeResult{{Name: "Write"}},
		Requests:  []v1beta1.RequestResult{{Name: "create"}},
		Generator: &v1beta1.GeneratorStatus{Healthy: true},
	}
	same.As(t, "result", want, stepResult(t, lt, closed, measure.NewMeasurement(1)))
}

func TestAMeasurementOfAnotherSpecIsAnError(t *testing.T) {
	for want, of := range map[string][3]int{
		"measured 1 requests, the spec has 4 and the status 4": {1, 4, 4},
		"measured 4 requests, the spec has 3 and the status 4": {4, 3, 4},
		"measured 4 requests, the spec has 4 and the status 3": {4, 4, 3},
	} {
		lt := accepted(&mix().Spec)
		lt.Spec.Requests, lt.Status.Requests = lt.Spec.Requests[:of[1]], lt.Status.Requests[:of[2]]
		if _, err := results.StepResult(lt, closed, measure.NewMeasurement(of[0]), 0); err == nil || err.Error() != "step 1000: "+want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestTextsOfWorkersFitTheAPI(t *testing.T) {
	merged := measure.NewMeasurement(4)
	merged.Transport = strings.Repeat("t", 65)
	merged.Requests[0].Errors = map[measure.Outcome]string{measure.Other: strings.Repeat("ü", 300), measure.BadResponse: "bad \xff byte"}
	got := stepResult(t, mix(), closed, merged)
	same.As(t, "transport", strings.Repeat("t", 61)+"…", got.Transport)
	samples := []v1beta1.ErrorSample{{Outcome: "badResponse", Message: "bad \uFFFD byte"}, {Outcome: "other", Message: strings.Repeat("ü", 126) + "…"}}
	same.As(t, "samples", samples, got.Requests[0].ErrorSamples)
}

func TestRatesAreExact(t *testing.T) {
	tests := map[string]struct {
		n      int64
		window time.Duration
		want   string
	}{
		"no window":               {5, 0, ""},
		"the shortest window":     {1, 1, "1000000000.0"},
		"whole":                   {30_000, 30 * time.Second, "1000.0"},
		"a few digits":            {29_991, 30 * time.Second, "999.7"},
		"rounded":                 {10_000, 30 * time.Second, "333.3333"},
		"large":                   {10_000_000, 30 * time.Second, "333333.3"},
		"about one":               {26, 25 * time.Second, "1.04"},
		"little":                  {1, 30 * time.Second, "0.033333"},
		"none":                    {0, time.Second, "0.0"},
		"more than a float holds": {9_007_199_254_740_993, time.Second, "9007199254740993.0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			merged := measure.NewMeasurement(4)
			merged.Window = tc.window
			merged.Requests[1].CompletedInWindow = tc.n
			merged.Requests[2].ExpectedInWindow = tc.n
			got := stepResult(t, mix(), closed, merged)
			if got.Throughput != tc.want || got.Goodput != tc.want {
				t.Errorf("throughput %q and goodput %q, want %q", got.Throughput, got.Goodput, tc.want)
			}
		})
	}
}

func TestItemsPerSecond(t *testing.T) {
	tests := map[string]struct {
		items  []int32 // of create, follow, delete and count
		window time.Duration
		want   string
	}{
		"every request carries one":        {[]int32{0, 1, 0, 1}, 10 * time.Second, ""},
		"each request has its own":         {[]int32{20, 1, 3, 0}, 10 * time.Second, "2.9"}, // 1x20 + 2x1 + 1x3 + 4x1
		"only those of expected responses": {[]int32{1, 1, 1000, 1}, 10 * time.Second, "100.7"},
		"no window":                        {[]int32{20, 1, 1, 1}, 0, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, call := range []*v1beta1.Call{nil, {Method: "shop.v1.Cart/Add"}} {
				lt := mix()
				for i, n := range tc.items {
					lt.Spec.Requests[i].Items, lt.Spec.Requests[i].GRPC = n, call
				}
				merged := measure.NewMeasurement(4)
				merged.Window = tc.window
				for i, n := range []int64{1, 2, 1, 4} {
					merged.Requests[i].Sent, merged.Requests[i].CompletedInWindow, merged.Requests[i].ExpectedInWindow = 2*n, 2*n, n
				}
				if got := stepResult(t, lt, closed, merged).ItemsPerSecond; got != tc.want {
					t.Errorf("call %v: %q items per second, want %q", call != nil, got, tc.want)
				}
			}
		})
	}
}

// What the generator displaced, kept unsent or left undecided is in the result as it was measured.
func TestResultSaysWhatIsNotTheTargets(t *testing.T) {
	m := measure.NewMeasurement(4)
	m.Window, m.Due, m.Unsent, m.UnsentWithoutRoom, m.UnsentByGenerator = 10*time.Second, 100, 9, 5, 4
	record(&m.Requests[0], 91, measure.Success, 10*ms)
	m.Requests[0].Redirects, m.Requests[0].Displaced, m.Requests[0].Undecided, m.Requests[0].Excused = 7, 3, 2, 1
	r := stepResult(t, mix(), loading("100/s", v1beta1.StepLoad{Rate: decimal("10"), Duration: d(m.Window), Requests: 100}), m)
	if r.UnsentWithoutRoom != 5 || r.UnsentByGenerator != 4 || r.Displaced != 3 || r.Undecided != 2 || r.Excused != 1 || r.Redirects != 7 || r.Requests[0].Redirects != 7 {
		t.Errorf("%+v", r)
	}
}
