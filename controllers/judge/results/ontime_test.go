package results_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// tenOfTwelve are ten requests with an expected response in 1 ms, eight of them on time,
// and two that failed after 50 ms.
func tenOfTwelve() *measure.Measurement {
	m := measure.NewMeasurement(4)
	r := &m.Requests[1]
	record(r, 10, measure.Success, time.Millisecond)
	record(r, 2, measure.ServerError, 50*time.Millisecond)
	r.Failed.Record(50*time.Millisecond, 25*time.Millisecond, 50*time.Millisecond)
	r.Failed.Record(50*time.Millisecond, 25*time.Millisecond, 50*time.Millisecond)
	r.OnTime, r.Overdue = []int64{8}, []int64{12}
	m.Due, r.Due = 12, 12
	return m
}

func TestRequestsOnTimeAreInTheResult(t *testing.T) {
	lt := mix()
	lt.Spec.Thresholds = []v1beta1.Threshold{{Metric: "onTimeRate", Within: d(500 * time.Microsecond)}}
	m := tenOfTwelve()
	want := []v1beta1.OnTimeCount{{Within: *d(500 * time.Microsecond), Requests: 8}}
	same.As(t, "on time", want, stepResult(t, lt, paced, m).OnTime)
	m.Requests[1].IdealOnTime = []int64{9}
	if got := stepResult(t, lt, paced, m).OnTime; len(got) != 1 || got[0].WithoutGenerator == nil || *got[0].WithoutGenerator != 9 {
		t.Errorf("on time %+v, want 9 without the generator's delay", got)
	}
	m.Requests[1].OnTime, m.Requests[1].IdealOnTime, m.Requests[1].Overdue = nil, nil, nil
	if got := stepResult(t, lt, paced, m).OnTime; got != nil {
		t.Errorf("what workers did not count is in the result: %v", got)
	}
}

func TestExpectedResponsesHaveTimesOfTheirOwn(t *testing.T) {
	m := tenOfTwelve()
	got := stepResult(t, mix(), paced, m)
	if got.ExpectedResponseTime == nil || got.ExpectedResponseTime.Samples != 10 || got.ExpectedServiceTime.Samples != 10 || got.ExpectedServiceTime.P90.Duration != 500*time.Microsecond {
		t.Errorf("times of expected responses %+v and %+v, those of failures are not theirs", got.ExpectedResponseTime, got.ExpectedServiceTime)
	}
	m.Requests[1].Failed = measure.FailedTimes{}
	if got = stepResult(t, mix(), paced, m); got.ExpectedResponseTime != nil {
		t.Errorf("%+v, though it is not known which times are of failures", got.ExpectedResponseTime)
	}
	m = measure.NewMeasurement(4)
	record(&m.Requests[1], 10, measure.Success, time.Millisecond)
	if got = stepResult(t, mix(), paced, m); got.ExpectedResponseTime != nil {
		t.Errorf("%+v are the times of all", got.ExpectedResponseTime)
	}
}
