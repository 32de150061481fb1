package verdict_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const (
	passed       = v1beta1.ThresholdPassed
	broken       = v1beta1.ThresholdFailed
	inconclusive = v1beta1.ThresholdInconclusive
)

// oneStep is one threshold in one step.
type oneStep struct {
	threshold v1beta1.Threshold
	measured  outcome
	state     v1beta1.ThresholdState
	observed  string
	message   string // empty: the plain sentence of a value and its bound; a space begins what follows that
}

var timesAsSaid = map[v1beta1.LatencyTime]string{
	v1beta1.ServiceTime: " service time", v1beta1.FirstEventTime: " of the time to the first event", v1beta1.BetweenEventsTime: " of the time between events",
	v1beta1.LongestGapTime: " of the longest time between events", v1beta1.MeanGapTime: " of the mean time between events",
}

func (o oneStep) said() string {
	if o.message != "" && o.message[0] != ' ' {
		return o.message
	}
	what, bound := string(o.threshold.Metric), "at most %s is allowed"
	if within := o.threshold.Within; within != nil {
		what += " within " + within.Duration.String()
	}
	what += timesAsSaid[o.threshold.Time]
	if o.threshold.Of == v1beta1.LatencyOfExpected {
		what += " of expected responses"
	}
	for _, names := range [][]string{o.threshold.Types, o.threshold.Requests, o.threshold.Journeys} {
		if len(names) > 0 {
			what += " of " + strings.Join(names, ", ")
		}
	}
	if o.threshold.Max == nil {
		bound = "at least %s is required"
	}
	return fmt.Sprintf("%s is %s in step burst; "+bound+".%s", what, o.observed, o.limit(), o.message)
}

func (o oneStep) limit() string {
	for _, limit := range []*intstr.IntOrString{o.threshold.Max, o.threshold.Min} {
		if limit != nil {
			return limit.String()
		}
	}
	return ""
}

func judgeOne(t *testing.T, tests map[string]oneStep) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			judged := judge(spec(tc.threshold), nil, burst, tc.measured)
			got, stop := judged.Thresholds, judged.Stop
			want := v1beta1.ThresholdStatus{
				Name: got[0].Name, Metric: tc.threshold.Metric, Limit: tc.limit(), State: tc.state, Step: "burst", Observed: tc.observed, Message: tc.said(),
			}
			same.As(t, "thresholds", []v1beta1.ThresholdStatus{want}, got)
			if stop {
				t.Error("a threshold that continues stops the run")
			}
		})
	}
}

func TestMetrics(t *testing.T) {
	judgeOne(t, map[string]oneStep{
		"a metric of a later operator": {atMost("p0", "1s"), sent(100, 900), inconclusive, "",
			"p0 of step burst cannot be judged: this operator does not know the metric."},
		"counts that cannot be added up": {
			atMost("p95", "1s"), sent(1, 1, func(o *outcome) { o.merged.Requests[0].Response.RecordN(ms, math.MaxInt64-1) }), inconclusive, "",
			"p95 of step burst cannot be judged: request 1: merge histograms: 9223372036854775807 and 1 values are more than can be counted.",
		},
		"what was not sent of a step that was cut":            {atMost("p99", "50ms"), sent(980, 0, unsentOf(20, 0)), passed, "10.007ms", ""},
		"slow, and each response to a request was a redirect": {atMost("p95", "5ms"), sent(50, 50, redirected(0)), broken, "20.015ms", ""},
		"downtime below a minimum":                            {atLeast("downtime", "50%"), sent(50, 50), broken, "0%", ""},
		"downtime kept":                                       {atMost("downtime", "50%"), sent(50, 50), passed, "0%", ""},
		// Shares.
		"failure rate kept":                        {atMost("failureRate", "1%"), sent(100, 900, failed(10)), passed, "1%", ""},
		"failure rate breached":                    {atMost("failureRate", "1%"), sent(100, 900, failed(11)), broken, "1.1%", " Failed: create 11 of 100 (serverError)."},
		"a breach by a hair does not read as kept": {atMost("failureRate", "1%"), sent(99_999, 0, failed(1000)), broken, "1.01%", ""},
		"as many digits as the bound has":          {atMost("failureRate", "0.001%"), sent(100_000, 0, failed(1)), passed, "0.001%", ""},
		"failure rate of one request": {onRequest(atMost("failureRate", "0%"), "create", "follow"), sent(9, 1, failed(1)), broken, "10%",
			" Failed: create 1 of 9 (serverError)."},
		"failure rate of a type":                    {filtered(atMost("failureRate", "0%"), nil, []string{"Write"}, nil), sent(9, 1, failed(9)), broken, "100%", ""},
		"failure rate of a type that does not fail": {filtered(atMost("failureRate", "0%"), nil, []string{"Read"}, nil), sent(9, 1, failed(9)), passed, "0%", ""},
		"failure rate of a request of another type": {filtered(atMost("failureRate", "0%"), []string{"create"}, []string{"Read"}, nil), sent(9, 1), inconclusive, "",
			"failureRate of Read of create in step burst cannot be judged: no request was sent."},
		"failure rate of the request that does not fail": {onRequest(atMost("failureRate", "0%"), "follow"), sent(9, 1, failed(9)), passed, "0%", ""},
		"rate-limited rate": {
			atLeast("rateLimitedRate", "50%"), sent(3, 0, func(o *outcome) {
				o.merged.Requests[0].Outcomes[measure.Success]--
				o.merged.Requests[0].Outcomes[measure.RateLimited]++
			}), broken, "33.33%",
			"rateLimitedRate is 33.33% in step burst; at least 50% is required.",
		},
		"unsent rate": {atMost("unsentRate", "0%"), sent(64, 0, func(o *outcome) { o.merged.Due, o.merged.Unsent = 100, 36 }), broken, "36%", ""},
		"unsent rate of no schedule": {atMost("unsentRate", "0%"), sent(64, 0, func(o *outcome) { o.merged.Due = 0 }), inconclusive, "",
			"unsentRate of step burst cannot be judged: no request was due."},

		// Rates.
		"throughput kept":                                  {atLeast("throughput", "10"), sent(50, 50, failed(50)), passed, "10", ""},
		"goodput breached":                                 {atLeast("goodput", "10"), sent(50, 50, failed(1)), broken, "9.9", ""},
		"goodput breached by a hair":                       {atLeast("goodput", "10"), sent(100, 0, func(o *outcome) { o.merged.Window += ms }), broken, "9.9", ""},
		"goodput breached by less than a tenth":            {atLeast("goodput", "9.95"), sent(100, 0, func(o *outcome) { o.merged.Window = 10_051 * ms }), broken, "9.94", ""},
		"goodput of one request":                           {onRequest(atLeast("goodput", "5.00"), "follow"), sent(50, 50), passed, "5", ""},
		"items are goodput where each request carries one": {atLeast("itemsPerSecond", "10"), sent(50, 50, failed(1)), broken, "9.9", ""},
		"a burst without any answer has no goodput":        {atLeast("goodput", "1"), sent(0, 0, unfinished(5), func(o *outcome) { o.merged.Window = 0 }), broken, "0", ""},
		"answers without a window": {atLeast("goodput", "1"), sent(5, 0, func(o *outcome) { o.merged.Window = 0 }), inconclusive, "",
			"goodput of step burst cannot be judged: the step has no window."},

		// The rate-limit audit.
		"grants over the limit": {atMost("overLimitGrants", "0"), sent(200, 0, audited(150, 0, 0)), broken, "150", ""},
		"false denials kept":    {atMost("falseDenials", "2"), sent(30, 0, audited(0, 2, 0)), passed, "2", ""},
		"clients not tracked": {atMost("overLimitGrants", "0"), sent(30, 0, audited(0, 0, 1)), inconclusive, "0",
			"overLimitGrants of step burst leaves out 1 requests of clients that were not tracked."},
		"clients not tracked, and breached all the same": {atMost("falseDenials", "0"), sent(30, 0, audited(0, 1, 12)), broken, "1", ""},
		"no contract": {atMost("falseDenials", "0"), sent(30, 0, func(o *outcome) { o.result.RateLimit = nil }), inconclusive, "",
			"falseDenials of step burst cannot be judged: spec.audits has no rateLimit."},

		// The generator was late, which its times show: see the brackets.
		"a generator of which nothing is known is not at fault": {atMost("p95", "5ms"), sent(50, 50, func(o *outcome) { o.result.Generator = nil }), broken, "20.015ms", ""},
		"slow, and the generator was late":                      {atMost("p95", "5ms"), sent(50, 50, sick), broken, "20.015ms", ""},
		"fast although the generator was late":                  {atMost("p95", "50ms"), sent(50, 50, sick), passed, "20.015ms", ""},
		"failures are the target's":                             {atMost("failureRate", "0%"), sent(50, 50, sick, failed(1)), broken, "1%", " Failed: create 1 of 50 (serverError)."},
		"denials are the target's":                              {atLeast("rateLimitedRate", "1%"), sent(50, 50, sick), broken, "0%", ""},
		"grants over the limit are the target's":                {atMost("overLimitGrants", "0"), sent(50, 50, sick, audited(10, 0, 0)), broken, "10", ""},
		"false denials are the target's":                        {atMost("falseDenials", "0"), sent(50, 50, sick, audited(0, 3, 0)), broken, "3", ""},

		// Nothing to judge.
		"nothing was sent": {atMost("failureRate", "0%"), sent(0, 0), inconclusive, "", "failureRate of step burst cannot be judged: no request was sent."},
		"nothing of one request was sent": {onRequest(atMost("p95", "1s"), "follow"), sent(100, 0), inconclusive, "",
			"p95 of follow in step burst cannot be judged: no request was sent."},
		"nothing was measured": {atMost("p95", "1s"), outcome{}, inconclusive, "", "p95 of step burst cannot be judged: no request was sent."},
		"nothing was measured of what the status has": {atMost("p95", "1s"), outcome{result: sent(100, 0).result}, inconclusive, "",
			"p95 of step burst cannot be judged: no request was sent."},
		"nothing stands in the status of what was measured": {atMost("p95", "1s"), outcome{merged: sent(100, 0).merged}, inconclusive, "",
			"p95 of step burst cannot be judged: no request was sent."},
		"a time without a unit": {atMost("p95", "500"), sent(100, 0), inconclusive, "", `The bound of p95 cannot be read: "500" is not a duration such as 500ms.`},
		"a share without a percent sign": {atMost("failureRate", "1"), sent(100, 0), inconclusive, "",
			`The bound of failureRate cannot be read: "1" is not a percentage such as 1%.`},
		"a rate that is no number": {atLeast("goodput", "many"), sent(100, 0), inconclusive, "",
			`The bound of goodput cannot be read: "many" is not a number per second such as 1000.`},
		"a count that is no number": {atMost("falseDenials", "none"), sent(100, 0), inconclusive, "",
			`The bound of falseDenials cannot be read: "none" is not a whole number such as 0.`},
		"a bound that does not fit the metric": {atMost("p95", "1%"), sent(100, 0), inconclusive, "",
			`The bound of p95 cannot be read: "1%" is not a duration such as 500ms.`},
		"no bound": {v1beta1.Threshold{Metric: "failureRate"}, sent(100, 0), inconclusive, "",
			"The bound of failureRate cannot be read: exactly one of max, min, maxIncrease and maxDecrease must be set."},
	})
}

// Of 10 s, 40 requests create with 25 items each and 60 requests follow.
func TestItemsAreThoseOfTheRequestsThatAreNamed(t *testing.T) {
	tests := map[string]struct {
		requests []string
		want     string
	}{
		"all":    {nil, "106"},
		"create": {[]string{"create"}, "100"},
		"follow": {[]string{"follow"}, "6"},
		"both":   {[]string{"create", "follow"}, "106"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			threshold := atLeast("itemsPerSecond", "1")
			threshold.Requests = tc.requests
			s := spec(threshold)
			s.Requests[0].Items = 25
			o := sent(40, 60)
			got := judge(s, nil, burst, o).Thresholds
			if got[0].Observed != tc.want || got[0].State != v1beta1.ThresholdPassed {
				t.Errorf("%s with %s observed, want Passed with %s", got[0].State, got[0].Observed, tc.want)
			}
		})
	}
}

// A measurement of more requests than the spec has: they have no name and no items.
func TestRequestsThatTheSpecDoesNotHave(t *testing.T) {
	named := atMost("failureRate", "0%")
	named.Requests = []string{"create"}
	o := sent(40, 60)
	o.merged.Requests = append(o.merged.Requests, o.merged.Requests[0])
	s := spec(named, atMost("throughput", "14"), atLeast("itemsPerSecond", "1"))
	for i, want := range []string{"0%", "14", "10"} {
		if got := judge(s, nil, burst, o).Thresholds[i]; got.Observed != want || got.State != v1beta1.ThresholdPassed {
			t.Errorf("%s is %s with %s observed, want Passed with %s", got.Name, got.State, got.Observed, want)
		}
	}
}
