package verdict_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// punctual has so many of the requests create due, on time and certainly missed.
func punctual(due, onTime, overdue int64) func(*outcome) {
	return func(o *outcome) {
		r := &o.merged.Requests[0]
		r.Punctuality = measure.Punctuality{Due: due, OnTime: []int64{onTime}, Overdue: []int64{overdue}}
		other := &o.merged.Requests[1]
		other.Punctuality = measure.Punctuality{Due: other.Sent, OnTime: []int64{other.Sent}, Overdue: []int64{other.Sent}}
		o.merged.Due = due + other.Sent
	}
}

// failures turns three of the requests create into failures of 500 ms.
func failures(o *outcome) {
	const n = 3
	r := &o.merged.Requests[0]
	failed(n)(o)
	for range n {
		r.Response.Record(500 * ms)
		r.Service.Record(400 * ms)
		r.Failed.Record(500*ms, 400*ms, 500*ms)
		r.Sent++
		r.Outcomes[measure.Success]++
		r.Expected++
		r.Service.Record(10 * ms) // of the one that stands for what failed
	}
}

func onTime(limit string, requests ...string) v1beta1.Threshold {
	t := atLeast("onTimeRate", limit)
	t.Within, t.Requests = &metav1.Duration{Duration: 200 * ms}, requests
	return t
}

func TestOnTimeRate(t *testing.T) {
	judgeOne(t, map[string]oneStep{
		"kept":                                {onTime("99.5%"), sent(100, 900, punctual(100, 95, 100)), passed, "99.5%", ""},
		"breached by a hair":                  {onTime("99.5%"), sent(100, 900, punctual(100, 94, 100)), broken, "99.4%", ""},
		"what was never sent was not on time": {onTime("99%", "create"), sent(100, 900, punctual(200, 100, 200)), broken, "50%", ""},
		"of another request":                  {onTime("100%", "follow"), sent(100, 900, punctual(200, 0, 200)), passed, "100%", ""},
		"a cut step leaves open what had no answer yet": {onTime("99.5%", "create"), sent(100, 900, punctual(101, 100, 100)), inconclusive, "100%",
			unansweredIn("onTimeRate within 200ms of create in step burst", 1)},
		"a maximum that what had no answer may breach": {onRequest(noMoreOnTime("90%"), "create"), sent(100, 900, punctual(150, 100, 100)), inconclusive, "66.67%",
			unansweredIn("onTimeRate within 200ms of create in step burst", 50)},
		"what is overdue was not counted": {onTime("99%"), sent(100, 900, punctual(100, 95, 100), withoutOverdue), inconclusive, "",
			"onTimeRate within 200ms of step burst cannot be judged: a worker did not count the requests on time."},
		"every request was denied": {onTime("99%", "create"), sent(1, 0, punctual(1, 0, 1), deniedAsExpected(1)), inconclusive, "",
			"onTimeRate within 200ms of create in step burst cannot be judged: every request was denied, as expected."},
		"none was due": {onTime("99%", "create"), sent(100, 0, punctual(0, 0, 0)), inconclusive, "",
			"onTimeRate within 200ms of create in step burst cannot be judged: no request was due."},
		"one was due": {onTime("99%", "create"), sent(1, 0, punctual(1, 1, 1)), passed, "100%", ""},
		"a cut step leaves open no more than that": {onTime("90%", "create"), sent(100, 900, punctual(150, 90, 100)), inconclusive, "93.33%",
			unansweredIn("onTimeRate within 200ms of create in step burst", 50)},
		"not counted": {onTime("99%"), sent(100, 900), inconclusive, "",
			"onTimeRate within 200ms of step burst cannot be judged: a worker did not count the requests on time."},
		"not counted by one worker": {onTime("99%"), sent(100, 900, punctual(100, 100, 100), func(o *outcome) { o.merged.Due++ }), inconclusive, "",
			"onTimeRate within 200ms of step burst cannot be judged: a worker did not count the requests on time."},
	})
}

func TestEachTimeHasItsOwnRate(t *testing.T) {
	sooner := onTime("99%", "create")
	sooner.Within = &metav1.Duration{Duration: 100 * ms}
	o := sent(100, 0, punctual(100, 95, 100))
	for i := range o.merged.Requests {
		r := &o.merged.Requests[i]
		r.OnTime, r.Overdue = []int64{r.OnTime[0] * 8 / 10, r.OnTime[0]}, []int64{r.Due, r.Due}
		r.IdealOnTime = r.OnTime[:1] // of a worker that does not count all of them
	}
	got := judge(spec(onTime("99%", "create"), sooner), nil, burst, o).Thresholds
	if got[0].Observed != "95%" || got[1].Observed != "76%" {
		t.Errorf("%s within 200ms, %s within 100ms; want 95%%, 76%%", got[0].Observed, got[1].Observed)
	}
}

func TestLatencyOfWhichRequestsAndFromWhen(t *testing.T) {
	of := func(of v1beta1.LatencyOf, time v1beta1.LatencyTime) v1beta1.Threshold {
		limit := atMost("longest", "100ms")
		limit.Of, limit.Time = of, time
		return limit
	}
	judgeOne(t, map[string]oneStep{
		"failures count":               {of("", ""), sent(100, 900, failures), broken, "500.223ms", ""},
		"of all":                       {of(v1beta1.LatencyOfAll, v1beta1.ResponseTime), sent(100, 900, failures), broken, "500.223ms", ""},
		"of the expected":              {of(v1beta1.LatencyOfExpected, ""), sent(100, 900, failures), passed, "20.015ms", ""},
		"service time":                 {of("", v1beta1.ServiceTime), sent(100, 900, failures), broken, "400.127ms", ""},
		"service time of the expected": {of(v1beta1.LatencyOfExpected, v1beta1.ServiceTime), sent(100, 900, failures), passed, "10.007ms", ""},
		"not reported which are expected": {of(v1beta1.LatencyOfExpected, ""), sent(100, 900, failed(3)), inconclusive, "",
			"longest of expected responses of step burst cannot be judged: a worker did not report which times belong to expected responses."},
	})
}
