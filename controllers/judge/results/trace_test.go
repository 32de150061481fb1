package results_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// tracedMeasurement has six traces of the first request, the slowest of which was given
// up, and one of the second, which is slower.
func tracedMeasurement() *measure.Measurement {
	merged := measure.NewMeasurement(4)
	first := &merged.Requests[0]
	for i, o := range []measure.Outcome{measure.Success, measure.Success, measure.Timeout, measure.Success, measure.Success, measure.Unfinished} {
		x := measure.Trace{ID: measure.TraceID{0x4b, byte(i)}, Outcome: o, Expected: o == measure.Success, Response: time.Duration(i+1) * ms, Service: ms}
		if x.Expected {
			x.Status = 201
		}
		first.Sampled++
		first.Traces.Add(x)
	}
	second := &merged.Requests[1]
	second.Sampled = 5
	second.Traces.Add(measure.Trace{ID: measure.TraceID{1}, Outcome: measure.RateLimited, Status: 429, Response: 4129*ms + 400, Service: ms})
	return merged
}

func tracedRequest(id, name, outcome string, status int32, response time.Duration) v1beta1.TracedRequest {
	return v1beta1.TracedRequest{
		TraceID: id + strings.Repeat("0", 32-len(id)), Request: name, Outcome: outcome, StatusCode: status,
		ResponseTime: metav1.Duration{Duration: response}, ServiceTime: metav1.Duration{Duration: ms},
	}
}

// The slowest of all requests of a step are named, each with its request.
func TestTracesOfAStep(t *testing.T) {
	lt := mix()
	lt.Spec.Target.Trace = &v1beta1.Trace{Sampled: "1%"}
	want := &v1beta1.TraceResult{
		Sampled: 11,
		Slowest: []v1beta1.TracedRequest{
			tracedRequest("01", "follow", "rateLimited", 429, 4129*ms),
			tracedRequest("4b04", "create", "success", 201, 5*ms),
			tracedRequest("4b03", "create", "success", 201, 4*ms),
			tracedRequest("4b02", "create", "timeout", 0, 3*ms),
			tracedRequest("4b01", "create", "success", 201, 2*ms),
		},
		Failed: []v1beta1.TracedRequest{
			tracedRequest("01", "follow", "rateLimited", 429, 4129*ms),
			tracedRequest("4b02", "create", "timeout", 0, 3*ms),
			tracedRequest("4b05", "create", "unfinished", 0, 6*ms),
		},
	}
	result := stepResult(t, lt, closed, tracedMeasurement())
	same.As(t, "traces", want, result.Traces)
	result.Requests = nil
	if got, least := results.DetailSize(result), 8*len(`{"traceID":"","request":"","outcome":"","responseTime":"","serviceTime":""}`)+8*32; got < least {
		t.Errorf("the traces take %d bytes of room, at least %d", got, least)
	}
}

// A worker that reports traces which it was not asked for is not believed.
func TestTracesAreThoseThatWereAskedFor(t *testing.T) {
	for name, test := range map[string]struct {
		trace *v1beta1.Trace
		side  v1beta1.Side
		want  bool
	}{
		"none is asked for":                {},
		"none is asked for of the control": {side: v1beta1.SideControl},
		"of the one target":                {trace: &v1beta1.Trace{}, want: true},
		"of the candidate":                 {trace: &v1beta1.Trace{}, side: v1beta1.SideCandidate, want: true},
		"of the control":                   {trace: &v1beta1.Trace{}, side: v1beta1.SideControl, want: true},
	} {
		lt := mix()
		lt.Spec.Target.Trace = test.trace
		step := closed.DeepCopy()
		step.Side = test.side
		if got := stepResult(t, lt, step, tracedMeasurement()).Traces; (got != nil) != test.want {
			t.Errorf("%s: traces %v, want any: %t", name, got, test.want)
		}
	}
}
