package defects_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

// Defect: the generator was the limit, and it is not recorded. It sends all that is due, and sends it late: its lateness
// is in the quantiles. A limit that they break, and would not break without it, is no verdict
// on the target.
func TestTheGeneratorsLatenessIsRecorded(t *testing.T) {
	const n, service = 1000, 2 * ms
	tests := map[string]struct {
		late   time.Duration
		want   v1beta1.Verdict
		reason string
	}{
		"in time": {0, v1beta1.VerdictPassed, ""},
		"late":    {40 * ms, v1beta1.VerdictInconclusive, v1beta1.ReasonScheduleLag},
		"a bit":   {12 * ms, v1beta1.VerdictPassed, v1beta1.ReasonScheduleLag},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := measured(t, v1beta1.LoadTestSpec{
				Steps: arrivals("1000", time.Second), Thresholds: []v1beta1.Threshold{atMost("p50", "20ms")},
			}, func(s *measure.Measurement) {
				s.Due, s.Window = n, time.Second
				q := &s.Requests[0]
				q.Sent, q.Expected, q.Outcomes[measure.Success] = n, n, n
				q.Ideal = measure.NewHistogram()
				for range n {
					s.Lateness.Record(tt.late)
					q.Ideal.Record(service)
					q.Response.Record(tt.late + service)
					q.Service.Record(service)
				}
			})
			g := o.result.Generator
			if g.Healthy != (tt.reason == "") || g.Reason != tt.reason {
				t.Errorf("the generator's reason is %q, want %q: %s", g.Reason, tt.reason, g.Message)
			}
			atLeastDuration(t, "send lateness p99", g.SendLatenessP99, tt.late)
			o.verdictIs(t, tt.want)
		})
	}
}

// The same of a generator that does not send a few of the requests. This suite, which takes no
// account of how late requests are sent, takes account of that: the target is not at fault.
func TestTheGeneratorsUnsentLoadIsItsOwn(t *testing.T) {
	const due, unsent = 1000, 30
	o := measured(t, v1beta1.LoadTestSpec{Steps: arrivals("1000", time.Second)}, func(s *measure.Measurement) {
		s.Due, s.Unsent, s.UnsentByGenerator, s.Window = due, unsent, unsent, time.Second
		q := &s.Requests[0]
		q.Sent, q.Expected, q.Outcomes[measure.Success] = due-unsent, due-unsent, due-unsent
		for range due - unsent {
			q.Response.Record(2 * ms)
			q.Service.Record(2 * ms)
		}
		asPlanned(s)
	})
	o.verdictIs(t, v1beta1.VerdictInconclusive)
	if o.judgement.Reason != v1beta1.ReasonLoadDisplaced {
		t.Errorf("the reason is %s: %s", o.judgement.Reason, o.judgement.Message)
	}
}

// Defect: the resources of the generator are not recorded. They are in the result, and
// one throttled worker of many is named. By itself that is no reason against the verdict.
func TestTheGeneratorsResourcesAreRecorded(t *testing.T) {
	const workers, length = 20, 300 * ms
	tests := map[string]struct {
		heldBack time.Duration
		want     v1beta1.Verdict
		reason   string
	}{
		"all had what they needed": {0, v1beta1.VerdictPassed, ""},
		// 40 ms of 20 workers' 300 ms are less than 1 % of their time.
		"one was held back": {40 * ms, v1beta1.VerdictPassed, v1beta1.ReasonCPUThrottled},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := experiment{
				spec: v1beta1.LoadTestSpec{
					Steps: burst(2*workers, 5), Parallelism: ptr[int32](workers),
					Thresholds: []v1beta1.Threshold{atMost("p50", "3600s")},
				},
				// What the control group reports.
				alter: func(worker int, s *measure.Measurement) {
					s.Window = length
					if worker == workers/2 {
						s.Health.CPUThrottled = tt.heldBack
					}
				},
			}.run(t)
			g := o.result.Generator
			if g.CPUTime == nil || g.CPUTime.Duration <= 0 || g.CPUThrottled == "" {
				t.Errorf("generator %+v, want the processor time that it used, and how long it was held back", g)
			}
			if g.ConnectionsOpened != 2*workers || g.ConnectionsReused != o.result.Sent-2*workers {
				t.Errorf("%d connections opened, %d requests on used ones; want %d and the other of %d requests",
					g.ConnectionsOpened, g.ConnectionsReused, 2*workers, o.result.Sent)
			}
			if g.Reason != tt.reason {
				t.Errorf("the generator's reason is %q, want %q: %s", g.Reason, tt.reason, g.Message)
			}
			o.verdictIs(t, tt.want)
		})
	}
}

// Defect: correctness is not verified. A limiter that grants everything, or denies
// everything, breaks its contract.
func TestTheTargetsAnswersAreAudited(t *testing.T) {
	tests := map[string]struct {
		reply  groundtruth.Reply
		metric v1beta1.Metric
		found  func(*v1beta1.RateLimitStatus) int64
	}{
		"grants too much": {
			groundtruth.OK(1), v1beta1.MetricOverLimitGrants,
			func(s *v1beta1.RateLimitStatus) int64 { return s.OverLimitGrants },
		},
		"denies what it owes": {
			groundtruth.Status(429, 1), v1beta1.MetricFalseDenials,
			func(s *v1beta1.RateLimitStatus) int64 { return s.FalseDenials },
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			request := get("/")
			request.HTTP.Headers = []v1beta1.Header{{Name: "X-Client", Value: ptr("client")}}
			o := experiment{
				server: routes(map[string]groundtruth.Route{"": {Reply: tt.reply}}),
				spec: v1beta1.LoadTestSpec{
					Requests: []v1beta1.Request{request},
					Steps:    burst(30, 1),
					// Each of them has 10, which is within the contract: only together
					// they have more.
					Parallelism: ptr[int32](3),
					Audits:      []v1beta1.Audit{{Name: "contract", RateLimit: &v1beta1.RateLimit{Capacity: 10, RefillPerSecond: v1beta1.NewDecimal("0.001"), ClientHeader: "X-Client"}}},
					Thresholds:  []v1beta1.Threshold{atMost(tt.metric, "0")},
				},
			}.run(t)
			// Of 30 grants 20 are too many, of 30 denials 10 are false; of those only
			// what is certain, given when each was decided, is claimed.
			most := map[v1beta1.Metric]int64{v1beta1.MetricOverLimitGrants: 20, v1beta1.MetricFalseDenials: 10}[tt.metric]
			if got := tt.found(o.result.RateLimit); got < 1 || got > most {
				t.Errorf("%s is %d, want from 1 to %d", tt.metric, got, most)
			}
			o.verdictIs(t, v1beta1.VerdictFailed)
		})
	}
}

// Defect: a bad result that prints PASS. A breach fails the run, a kept
// threshold passes it.
func TestABreachFailsTheRun(t *testing.T) {
	tests := map[string]struct {
		route     groundtruth.Route
		threshold v1beta1.Threshold
		want      v1beta1.Verdict
	}{
		"too slow":        {groundtruth.Route{Latency: groundtruth.Fixed(30 * ms)}, atMost("p50", "20ms"), v1beta1.VerdictFailed},
		"slow enough":     {groundtruth.Route{Latency: groundtruth.Fixed(30 * ms)}, atMost("p50", "3600s"), v1beta1.VerdictPassed},
		"failures":        {groundtruth.Route{Reply: groundtruth.Status(500, 1)}, atMost(v1beta1.MetricFailureRate, "1%"), v1beta1.VerdictFailed},
		"no failures":     {groundtruth.Route{}, atMost(v1beta1.MetricFailureRate, "0%"), v1beta1.VerdictPassed},
		"no goodput":      {groundtruth.Route{Reply: groundtruth.Status(500, 1)}, atLeast(v1beta1.MetricGoodput, "1"), v1beta1.VerdictFailed},
		"some goodput":    {groundtruth.Route{}, atLeast(v1beta1.MetricGoodput, "0.1"), v1beta1.VerdictPassed},
		"rate limited":    {groundtruth.Route{Reply: groundtruth.Status(429, 1)}, atMost(v1beta1.MetricRateLimitedRate, "50%"), v1beta1.VerdictFailed},
		"cannot be known": {groundtruth.Route{}, atMost("p99.99", "3600s"), v1beta1.VerdictInconclusive},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := experiment{
				server: routes(map[string]groundtruth.Route{"": tt.route}),
				spec:   v1beta1.LoadTestSpec{Steps: burst(1, 20), Thresholds: []v1beta1.Threshold{tt.threshold}},
			}.run(t)
			o.verdictIs(t, tt.want)
			if o.judgement.Message == "" {
				t.Error("no sentence explains the verdict")
			}
		})
	}
}

// The same of a run whose thresholds are not about it: what is fast and wrong, and
// what the target kept from being sent, fails by default.
func TestErrorsAndUnsentLoadFailByDefault(t *testing.T) {
	fast := []v1beta1.Threshold{atMost("p95", "500ms")}
	for name, tt := range map[string]struct {
		route      groundtruth.Route
		steps      []v1beta1.Step
		thresholds []v1beta1.Threshold
		decides    v1beta1.Metric
	}{
		"404s, and a threshold on time":  {groundtruth.Route{Reply: groundtruth.Status(404, 1)}, arrivals("40", 3*time.Second), fast, v1beta1.MetricFailureRate},
		"404s, and no threshold":         {groundtruth.Route{Reply: groundtruth.Status(404, 1)}, burst(4, 5), nil, v1beta1.MetricFailureRate},
		"users wait for a slow target":   {groundtruth.Route{Latency: groundtruth.Fixed(100 * ms)}, paced(4, "20", time.Second), nil, v1beta1.MetricUnsentRate},
		"a limiter that denies too much": {groundtruth.Route{Reply: groundtruth.Status(429, 1)}, burst(4, 5), nil, v1beta1.MetricFailureRate},
	} {
		t.Run(name, func(t *testing.T) {
			o := experiment{
				server: routes(map[string]groundtruth.Route{"": tt.route}),
				spec:   v1beta1.LoadTestSpec{Steps: tt.steps, Thresholds: tt.thresholds},
			}.run(t)
			if !o.verdictIs(t, v1beta1.VerdictFailed) {
				return
			}
			for _, th := range o.status.Thresholds {
				if th.Metric == tt.decides && (!th.Default || th.State != v1beta1.ThresholdFailed) {
					t.Errorf("threshold %+v does not decide it", th)
				}
			}
		})
	}
}

// What a rate limiter is expected to deny is no failure.
func TestExpectedDenialsDoNotFailByDefault(t *testing.T) {
	request := get("/${seq}")
	request.Expect = &v1beta1.Expectation{Status: []int32{200, 429}}
	o := experiment{
		server: routes(map[string]groundtruth.Route{"": {Reply: groundtruth.Status(429, 1)}}),
		spec:   v1beta1.LoadTestSpec{Requests: []v1beta1.Request{request}, Steps: burst(4, 5)},
	}.run(t)
	if o.result.Outcomes.RateLimited != 20 {
		t.Errorf("%d denials, want 20", o.result.Outcomes.RateLimited)
	}
	o.verdictIs(t, v1beta1.VerdictPassed)
}
