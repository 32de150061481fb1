package baseline_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func ptr[T any](v T) *T { return &v }

// ladder is a run of two rungs.
func ladder() *v1beta1.LoadTestSpec {
	return &v1beta1.LoadTestSpec{
		Requests:    []v1beta1.Request{{Name: "create", HTTP: &v1beta1.HTTPRequest{Method: "POST"}, Weight: ptr(int32(20))}, {Name: "health", HTTP: &v1beta1.HTTPRequest{Path: "/health"}}},
		Ladder:      &v1beta1.Ladder{Users: []int32{10, 100}, Duration: metav1.Duration{Duration: time.Second}, Rest: &metav1.Duration{Duration: time.Second}},
		Repetitions: 2,
	}
}

// before is a finished run of it.
func before() *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: "before", UID: "u"}, Spec: *ladder()}
	lt.Status = v1beta1.LoadTestStatus{
		Verdict: v1beta1.VerdictPassed, CompletionTime: &metav1.Time{Time: time.Unix(1, 0)},
		Workers: v1beta1.WorkerCounts{Desired: 1}, Steps: plan.Steps(&lt.Spec),
	}
	for i := range lt.Status.Steps {
		step := &lt.Status.Steps[i]
		step.State = v1beta1.StepComplete
		if !step.Load.IsPause() {
			step.WorkersReporting, step.Result = 1, &v1beta1.StepResult{Goodput: step.Name[:2]}
			step.Result.Sent = int64(i)
		}
	}
	return lt
}

func goodput(name string, rung, repetition int32, sent int64) v1beta1.BaselineStep {
	figures := []v1beta1.Figure{{Metric: "goodput", Value: "10"}, {Metric: "itemsPerSecond", Value: "10"}}
	if sent > 0 {
		figures = append([]v1beta1.Figure{{Metric: "failureRate", Value: "0%"}, {Metric: "rateLimitedRate", Value: "0%"}}, figures...)
	}
	return v1beta1.BaselineStep{Name: name, Rung: rung, Repetition: repetition, Sent: sent, Figures: figures}
}

func TestWhatIsCopied(t *testing.T) {
	all := []v1beta1.BaselineStep{goodput("10", 1, 1, 0), goodput("10 (2)", 1, 2, 4), goodput("100", 3, 1, 2), goodput("100 (2)", 3, 2, 6)}
	for name, tc := range map[string]struct {
		spec   func(*v1beta1.LoadTestSpec)
		before func(*v1beta1.LoadTest)
		want   []v1beta1.BaselineStep
	}{
		"all":                  {nil, nil, all},
		"of a run that failed": {nil, func(lt *v1beta1.LoadTest) { lt.Status.Verdict = v1beta1.VerdictFailed }, all},
		"one step":             {func(s *v1beta1.LoadTestSpec) { s.Ladder.Users, s.Repetitions = []int32{100}, 1 }, func(lt *v1beta1.LoadTest) { lt.Status.Steps[6].State = v1beta1.StepCut }, []v1beta1.BaselineStep{goodput("100", 1, 1, 2)}},
		"another rung":         {func(s *v1beta1.LoadTestSpec) { s.Ladder.Users[0] = 20 }, nil, all[2:]},
		"at another place":     {func(s *v1beta1.LoadTestSpec) { s.Ladder.Users = []int32{100} }, nil, []v1beta1.BaselineStep{goodput("100", 1, 1, 2), goodput("100 (2)", 1, 2, 6)}},
		"one repetition":       {func(s *v1beta1.LoadTestSpec) { s.Repetitions = 1 }, nil, all},
		"a cut step":           {nil, func(lt *v1beta1.LoadTest) { lt.Status.Steps[6].State = v1beta1.StepCut }, all[:3]},
		"a displaced load": {nil, func(lt *v1beta1.LoadTest) {
			lt.Status.Steps[0].Result.Generator = &v1beta1.GeneratorStatus{LoadDisplaced: true}
		}, all[1:]},
		"a missing worker":            {nil, func(lt *v1beta1.LoadTest) { lt.Status.Steps[0].WorkersReporting = 0 }, all[1:]},
		"a worker lost in the last":   {nil, func(lt *v1beta1.LoadTest) { lt.Status.Workers.Lost = 1 }, all[:3]},
		"the path of a named request": {func(s *v1beta1.LoadTestSpec) { s.Requests[0].HTTP.Path = "/v2/urls" }, nil, all},
		"the path of a connection": {
			func(s *v1beta1.LoadTestSpec) {
				s.Requests[1].HTTP, s.Requests[1].WebSocket = nil, &v1beta1.WebSocket{Path: "/v2/prices", Send: []string{"a"}}
			},
			func(lt *v1beta1.LoadTest) {
				lt.Spec.Requests[1].HTTP, lt.Spec.Requests[1].WebSocket = nil, &v1beta1.WebSocket{Path: "/prices", Send: []string{"a"}}
			}, all,
		},
		"another rest": {func(s *v1beta1.LoadTestSpec) { s.Ladder.Rest.Duration = time.Minute }, nil, all},
	} {
		t.Run(name, func(t *testing.T) {
			spec, finished := ladder(), before()
			if tc.spec != nil {
				tc.spec(spec)
			}
			if tc.before != nil {
				tc.before(finished)
			}
			got, refusal := baseline.Copy(spec, plan.Steps(spec), finished)
			if refusal != nil {
				t.Fatal(refusal)
			}
			want := &v1beta1.BaselineStatus{Name: "before", UID: "u", Verdict: finished.Status.Verdict, CompletionTime: finished.Status.CompletionTime, Steps: tc.want}
			same.As(t, "copied", want, got)
		})
	}
}

// Figures by type are copied only for thresholds that bound a difference.
func TestFiguresByTypeThatAreCopied(t *testing.T) {
	spec, finished := ladder(), before()
	spec.Thresholds = []v1beta1.Threshold{
		{Metric: "p95", Types: []string{"Read"}, MaxIncrease: "10%"}, {Name: "again", Metric: "p95", Types: []string{"Read"}, MaxIncrease: "5%"},
		{Metric: "p99", Types: []string{"Read"}}, {Metric: "p95", MaxIncrease: "5%"},
		{Metric: "p95", Requests: []string{"create"}, MaxIncrease: "5%"}, {Metric: "p95", Requests: []string{"follow"}, Max: nil},
	}
	time50 := &v1beta1.Latency{P95: &metav1.Duration{Duration: time.Millisecond}, P99: &metav1.Duration{Duration: time.Millisecond}}
	finished.Status.Steps[0].Result = &v1beta1.StepResult{ResponseTime: time50, Types: []v1beta1.TypeResult{{Name: "Read", PartResult: v1beta1.PartResult{ResponseTime: time50}}}}
	for _, name := range []string{"create", "follow"} {
		finished.Status.Steps[0].Result.Requests = append(finished.Status.Steps[0].Result.Requests, v1beta1.RequestResult{Name: name, PartResult: v1beta1.PartResult{ResponseTime: time50}})
	}
	got, refusal := baseline.Copy(spec, plan.Steps(spec), finished)
	if refusal != nil {
		t.Fatal(refusal)
	}
	want := []v1beta1.Figure{{Metric: "p95", Value: "1ms"}, {Metric: "p99", Value: "1ms"}, {Metric: "p95", Type: "Read", Value: "1ms"}, {Metric: "p95", Request: "create", Value: "1ms"}}
	same.As(t, "figures", want, got.Steps[0].Figures)
}

// What a run sends, and how it waits, is what the baseline did: else the figures are not of
// the target alone.
func TestOtherTrafficIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*v1beta1.LoadTestSpec)
		want string
	}{
		"journeys": {func(s *v1beta1.LoadTestSpec) {
			s.Journeys = []v1beta1.Journey{{Name: "buy", Steps: []v1beta1.JourneyStep{{Request: "create"}}}}
		}, "spec.journeys"},
		"data": {func(s *v1beta1.LoadTestSpec) { s.Data = []v1beta1.Data{{Name: "words"}} }, "spec.data"},
		"a setup": {func(s *v1beta1.LoadTestSpec) {
			s.Setup = &v1beta1.Setup{Fill: &v1beta1.Fill{Request: "create", Count: 1}}
		}, "spec.setup"},
		"an expectation": {func(s *v1beta1.LoadTestSpec) { s.Requests[0].Expect = &v1beta1.Expectation{Status: []int32{200, 500}} }, "expect of request create"},
		"a body":         {func(s *v1beta1.LoadTestSpec) { s.Requests[0].HTTP.Body = "hunter2" }, "http.body of request create"},
		"a method":       {func(s *v1beta1.LoadTestSpec) { s.Requests[0].HTTP.Method = "PUT" }, "http.method of request create"},
		"a header": {func(s *v1beta1.LoadTestSpec) {
			s.Requests[1].HTTP.Headers = []v1beta1.Header{{Name: "A", Value: ptr("b")}}
		}, "http.headers of request health"},
		"a connection of WebSocket": {func(s *v1beta1.LoadTestSpec) {
			s.Requests[1].Type, s.Requests[1].HTTP, s.Requests[1].WebSocket = "Read", nil, &v1beta1.WebSocket{Path: "/", Send: []string{"a"}}
		}, "webSocket of request health"},
		"items":             {func(s *v1beta1.LoadTestSpec) { s.Requests[1].Items = 2 }, "items of request health"},
		"a shared header":   {func(s *v1beta1.LoadTestSpec) { s.Target.Headers = []v1beta1.Header{{Name: "A", Value: ptr("b")}} }, "spec.target.headers"},
		"a timeout":         {func(s *v1beta1.LoadTestSpec) { s.Target.Timeout = &metav1.Duration{Duration: time.Second} }, "spec.target.timeout: 1s here, 30s there"},
		"a timeout of one":  {func(s *v1beta1.LoadTestSpec) { s.Requests[0].Timeout = &metav1.Duration{Duration: time.Second} }, "timeout of request create: 1s here, 30s there"},
		"a protocol":        {func(s *v1beta1.LoadTestSpec) { s.Target.Protocol = "HTTP/2" }, "spec.target.protocol: HTTP/2 here, HTTP/1.1 there"},
		"connections":       {func(s *v1beta1.LoadTestSpec) { s.Target.HTTP2 = &v1beta1.HTTP2{Connections: ptr(int32(2))} }, "spec.target.http2"},
		"without keepalive": {func(s *v1beta1.LoadTestSpec) { s.Target.DisableKeepAlive = true }, "spec.target.disableKeepAlive: true here, false there"},
		"resumption":        {func(s *v1beta1.LoadTestSpec) { s.Target.TLS = &v1beta1.TLS{Resume: true} }, "spec.target.tls.resume: true here, false there"},
		"a client's certificate": {func(s *v1beta1.LoadTestSpec) {
			s.Target.TLS = &v1beta1.TLS{ClientCertificate: &v1beta1.ClientCertificate{SecretName: "mine"}}
		}, "spec.target.tls.clientCertificate: one here, none there"},
		"a Service by https": {func(s *v1beta1.LoadTestSpec) {
			s.Target.Service = &v1beta1.ServiceReference{Name: "v4", Scheme: v1beta1.SchemeHTTPS}
		}, "the scheme of spec.target: HTTPS here, HTTP there"},
		"an address by https": {func(s *v1beta1.LoadTestSpec) { s.Target.URL = "https://v4" }, "the scheme of spec.target: HTTPS here, HTTP there"},
		"a proxy":             {func(s *v1beta1.LoadTestSpec) { s.Target.Proxy = &v1beta1.Proxy{URL: "http://proxy:3128/"} }, "spec.target.proxy: http://proxy:3128 here, none there"},
		"traces":              {func(s *v1beta1.LoadTestSpec) { s.Target.Trace = &v1beta1.Trace{Sampled: "100%"} }, "spec.target.trace: 100% here, none there"},
		"a driver":            {func(s *v1beta1.LoadTestSpec) { s.Worker = &v1beta1.Worker{Driver: "Vegeta"} }, "spec.worker.driver: Vegeta here, Auto there"},
		"workers":             {func(s *v1beta1.LoadTestSpec) { s.Parallelism = ptr(int32(50)) }, "the number of workers: 50 here, 1 there"},
	} {
		spec, finished := ladder(), before()
		tc.edit(spec)
		want := "spec.baseline.name: LoadTest before sends different traffic (" + tc.want + "); name one that sends the same, or run the earlier version with this spec."
		if _, refusal := baseline.Copy(spec, plan.Steps(spec), finished); refusal == nil || refusal.Message != want {
			t.Errorf("%s: refusal %+v, want %q", name, refusal, want)
		}
		finished = before()
		tc.edit(&finished.Spec)
		if _, refusal := baseline.Copy(ladder(), plan.Steps(spec), finished); (refusal == nil || strings.Contains(refusal.Message, "hunter2")) && name != "workers" {
			t.Errorf("%s, there alone: %+v", name, refusal)
		}
		finished = before()
		// The run before may as well be the one that has it.
		if name != "workers" {
			tc.edit(&finished.Spec)
		} else {
			finished.Status.Workers.Desired = 50
			for i := range finished.Status.Steps {
				finished.Status.Steps[i].WorkersReporting = 50
			}
		}
		if _, refusal := baseline.Copy(spec, plan.Steps(spec), finished); refusal != nil {
			t.Errorf("%s, in both: %s", name, refusal.Message)
		}
	}
}

// A baseline may be of another address, another version of a path, and what is no traffic
// may differ, too. A default is no other value.
func TestSameTrafficIsCompared(t *testing.T) {
	for name, edit := range map[string]func(*v1beta1.LoadTestSpec){
		"another Service":      func(s *v1beta1.LoadTestSpec) { s.Target.Service = &v1beta1.ServiceReference{Name: "v4"} },
		"the default scheme":   func(s *v1beta1.LoadTestSpec) { s.Target.URL = "http://v4" },
		"another server name":  func(s *v1beta1.LoadTestSpec) { s.Target.TLS = &v1beta1.TLS{ServerName: "v4", InsecureSkipVerify: true} },
		"another host":         func(s *v1beta1.LoadTestSpec) { s.Target.Headers = []v1beta1.Header{{Name: "host", Value: ptr("v4")}} },
		"the default timeout":  func(s *v1beta1.LoadTestSpec) { s.Target.Timeout = &metav1.Duration{Duration: 30 * time.Second} },
		"the target's timeout": func(s *v1beta1.LoadTestSpec) { s.Requests[0].Timeout = &metav1.Duration{Duration: 30 * time.Second} },
		"the default protocol": func(s *v1beta1.LoadTestSpec) { s.Target.Protocol = "HTTP/1.1" },
		"the default method":   func(s *v1beta1.LoadTestSpec) { s.Requests[1].HTTP.Method = "GET" },
		"the default items":    func(s *v1beta1.LoadTestSpec) { s.Requests[1].Items = 1 },
		"the default driver":   func(s *v1beta1.LoadTestSpec) { s.Worker = &v1beta1.Worker{Driver: "Auto", Image: "mirror/worker"} },
		"an image alone":       func(s *v1beta1.LoadTestSpec) { s.Worker = &v1beta1.Worker{Image: "mirror/worker"} },
		"the default workers":  func(s *v1beta1.LoadTestSpec) { s.Parallelism = ptr(int32(1)) },
		"a preflight":          func(s *v1beta1.LoadTestSpec) { s.Preflight = []v1beta1.Preflight{{}} },
		"a control": func(s *v1beta1.LoadTestSpec) {
			s.OtherTargets, s.Versus = []v1beta1.OtherTarget{{Name: "v3", URL: "http://v3"}}, &v1beta1.Versus{Target: "v3"}
		},
	} {
		spec := ladder()
		edit(spec)
		if _, refusal := baseline.Copy(spec, plan.Steps(spec), before()); refusal != nil {
			t.Errorf("%s: %s", name, refusal.Message)
		}
	}
}

// Of a log, the methods, routes and instant say which lines are sent.
func TestOtherLinesOfALogAreOtherTraffic(t *testing.T) {
	replays := func() *v1beta1.LoadTestSpec {
		s := ladder()
		s.Ladder, s.Repetitions = nil, 1
		s.Replay = &v1beta1.Replay{Duration: metav1.Duration{Duration: time.Second}, Routes: []v1beta1.ReplayRoute{{Path: "^/v3/(.*)", To: "/$1", Request: "health"}}}
		return s
	}
	for name, tc := range map[string]struct {
		edit func(*v1beta1.Replay)
		want string
	}{
		"the same lines":      {func(*v1beta1.Replay) {}, ""},
		"the default methods": {func(r *v1beta1.Replay) { r.Methods = []v1beta1.ReplayMethod{"HEAD", "GET"} }, ""},
		"where they go":       {func(r *v1beta1.Replay) { r.Routes[0].To = "/v4/$1" }, ""},
		"methods":             {func(r *v1beta1.Replay) { r.Methods = []v1beta1.ReplayMethod{"GET"} }, "spec.replay.methods"},
		"routes":              {func(r *v1beta1.Replay) { r.Routes[0].Path = "^/v3/urls" }, "spec.replay.routes"},
		"an instant": {
			func(r *v1beta1.Replay) { r.Start = &metav1.Time{Time: time.Unix(1, 0)} },
			"spec.replay.start: 1970-01-01T00:00:01Z here, none there",
		},
	} {
		here, there := &v1beta1.LoadTest{Spec: *replays()}, &v1beta1.LoadTest{Spec: *replays()}
		tc.edit(here.Spec.Replay)
		same.As(t, name, tc.want, baseline.OtherTraffic(here, there))
	}
}

// A rung whose target failed in one repetition is no baseline in any of them: the others
// would have been chosen by what was measured.
func TestBrokenStepsAreNoBaseline(t *testing.T) {
	breaks := func(steps ...int) func(*v1beta1.LoadTest) {
		return func(lt *v1beta1.LoadTest) {
			for _, i := range steps {
				lt.Status.Steps[i].Result.Sent, lt.Status.Steps[i].Result.Failed = 1000, 11
			}
		}
	}
	const nothing = "spec.baseline.name: no step of LoadTest before can be used for the comparison: failureRate is 1.1% in step 10; a baseline may have at most 1%; name one whose target kept to its limits."
	for name, tc := range map[string]struct {
		threshold v1beta1.Threshold
		before    func(*v1beta1.LoadTest)
		want      []string
		refusal   string
	}{
		"the larger rung":        {before: breaks(6), want: []string{"10", "10 (2)"}},
		"all steps":              {before: breaks(0, 2, 4, 6), refusal: nothing},
		"one repetition of each": {before: breaks(0, 6), refusal: nothing},
		"so much is unsent": {
			before: func(lt *v1beta1.LoadTest) { lt.Status.Steps[2].Result.Due, lt.Status.Steps[2].Result.Unsent = 1000, 11 },
			want:   []string{"10", "10 (2)"},
		},
		"it was down for so long": {before: func(lt *v1beta1.LoadTest) { lt.Status.Steps[6].Result.Downtime = "94%" }, want: []string{"10", "10 (2)"}},
		"so many journeys fail": {
			before: func(lt *v1beta1.LoadTest) {
				lt.Status.Steps[2].Result.Journeys = []v1beta1.JourneyResult{{Name: "buy", Completed: 98, Failed: 2}}
			},
			want: []string{"10", "10 (2)"},
		},
		"as much may fail": {threshold: v1beta1.Threshold{Metric: "failureRate", Max: ptr(intstr.FromString("2%"))},
			before: breaks(0, 2, 4, 6), want: []string{"10", "10 (2)", "100", "100 (2)"}},
		"as much may fail in a step, in every repetition": {threshold: v1beta1.Threshold{Metric: "failureRate", Max: ptr(intstr.FromString("2%")), Steps: []string{"10"}},
			before: breaks(0, 2, 4, 6), want: []string{"10", "10 (2)"}},
		"the type that is compared": {
			threshold: v1beta1.Threshold{Metric: "p95", Types: []string{"Read"}, MaxIncrease: "5%"},
			before: func(lt *v1beta1.LoadTest) {
				lt.Status.Steps[6].Result.Types = []v1beta1.TypeResult{{Name: "Read", PartResult: v1beta1.PartResult{Counts: v1beta1.Counts{Sent: 100, Failed: 2}}}}
			},
			want: []string{"10", "10 (2)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec, finished := ladder(), before()
			spec.Thresholds = []v1beta1.Threshold{tc.threshold}
			tc.before(finished)
			got, refusal := baseline.Copy(spec, plan.Steps(spec), finished)
			if refusal != nil {
				same.As(t, "refusal", tc.refusal, refusal.Message)
				return
			}
			var names []string
			for _, step := range got.Steps {
				names = append(names, step.Name)
			}
			same.As(t, "steps", tc.want, names)
		})
	}
}

func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		spec   func(*v1beta1.LoadTestSpec)
		before func(*v1beta1.LoadTest)
		want   string
	}{
		"inconclusive": {nil, func(lt *v1beta1.LoadTest) { lt.Status.Verdict = v1beta1.VerdictInconclusive },
			"spec.baseline.name: the verdict of LoadTest before is Inconclusive, so its figures say nothing about its target; name one whose verdict is Passed or Failed."},
		"another ladder": {
			func(s *v1beta1.LoadTestSpec) { s.Ladder.Users = []int32{11, 110} }, nil,
			"spec.baseline.name: no step of LoadTest before has the same name and load as a step of this run; name one with the same ladder or steps, or run them against the earlier version first.",
		},
		"the same users for longer": {
			func(s *v1beta1.LoadTestSpec) { s.Ladder.Duration.Duration = time.Minute }, nil,
			"spec.baseline.name: no step of LoadTest before has the same name and load as a step of this run; name one with the same ladder or steps, or run them against the earlier version first.",
		},
		"nothing sound": {
			nil, func(lt *v1beta1.LoadTest) {
				for i := range lt.Status.Steps {
					lt.Status.Steps[i].State = v1beta1.StepCut
				}
			},
			"spec.baseline.name: LoadTest before has steps with the same name and load as this run, but they did not run with all workers and the planned load; name another LoadTest, or run it again.",
		},
		"another request":  {func(s *v1beta1.LoadTestSpec) { s.Requests[1].Name = "home" }, nil, otherRequests("request 2 is home here, health there")},
		"another weight":   {func(s *v1beta1.LoadTestSpec) { s.Requests[0].Weight = nil }, nil, otherRequests("the weight of request create is 1 here, 20 there")},
		"another type":     {func(s *v1beta1.LoadTestSpec) { s.Requests[0].Type = "Login" }, nil, otherRequests("the type of request create is Login here, Write there")},
		"one request more": {func(s *v1beta1.LoadTestSpec) { s.Requests = append(s.Requests, s.Requests[0]) }, nil, otherRequests("3 here, 2 there")},
	} {
		t.Run(name, func(t *testing.T) {
			spec, finished := ladder(), before()
			if tc.spec != nil {
				tc.spec(spec)
			}
			if tc.before != nil {
				tc.before(finished)
			}
			_, refusal := baseline.Copy(spec, plan.Steps(spec), finished)
			if refusal == nil || refusal.Reason != v1beta1.ReasonBaselineRefused || refusal.Message != tc.want {
				t.Errorf("refusal %+v, want %q", refusal, tc.want)
			}
		})
	}
}

func otherRequests(difference string) string {
	return "spec.baseline.name: LoadTest before sends different requests, or the same ones in different proportions: " + difference + "; name one whose requests have the same names, types and weights."
}
