package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// A breach says to which requests it is due most, if it is about more than one.
func TestBreachesNameTheWorstRequests(t *testing.T) {
	answer := func(r *measure.Request, o measure.Outcome, code int, n int64, took time.Duration) {
		r.Sent += n
		r.Outcomes[o] += n
		if o.Responded() {
			r.CountStatus(code, n)
		}
		if o == measure.Success {
			r.Expected += n
		}
		if o != measure.Unfinished {
			r.Response.RecordN(took, n)
			r.Service.RecordN(took/2, n)
		}
	}
	for name, tc := range map[string]struct {
		threshold v1beta1.Threshold
		answers   func(r []measure.Request)
		want      string
	}{
		"two that are refused, by code": {atMost("failureRate", "1%"), func(r []measure.Request) {
			answer(&r[1], measure.ClientError, 401, 45, ms)
			answer(&r[2], measure.ClientError, 404, 44, ms)
			answer(&r[2], measure.ClientError, 400, 1, ms)
		}, "Failed: b 45 of 145 (401), c 45 of 145 (404)."},
		"the most failures first, and the rest in a number": {atMost("failureRate", "1%"), func(r []measure.Request) {
			for i := range r[:4] {
				answer(&r[i], measure.Timeout, 0, int64(i+1), time.Second)
			}
		}, "Failed: d 4 of 104 (timeout), c 3 of 103 (timeout), b 2 of 102 (timeout), and 1 more."},
		"what most of them are": {atMost("failureRate", "1%"), func(r []measure.Request) {
			answer(&r[0], measure.Reset, 0, 6, ms)
			answer(&r[0], measure.ServerError, 503, 4, ms)
			answer(&r[0], measure.ServerError, 500, 3, ms)
			answer(&r[0], measure.Unfinished, 0, 9, 0)
		}, "Failed: a 13 of 113 (503)."},
		"the lowest code of equally many": {atMost("failureRate", "1%"), func(r []measure.Request) {
			for code := range 6 {
				answer(&r[0], measure.ServerError, 505-code, 2, ms)
			}
			answer(&r[0], measure.Timeout, 0, 12, ms)
		}, "Failed: a 24 of 124 (500)."},
		"one": {atMost("failureRate", "0%"), func(r []measure.Request) { answer(&r[0], measure.ServerError, 500, 1, ms) }, "Failed: a 1 of 101 (500)."},
		"a status of gRPC": {atMost("failureRate", "1%"), func(r []measure.Request) {
			answer(&r[3], measure.ServerError, 14, 9, ms)
		}, "Failed: d 9 of 109 (UNAVAILABLE)."},
		"a status that was answered as expected is not the failure": {atMost("failureRate", "1%"), func(r []measure.Request) {
			answer(&r[0], measure.UnexpectedStatus, 302, 5, ms)
			r[1], r[3] = measure.NewRequest(), measure.NewRequest() // they expect 404 and NOT_FOUND
			answer(&r[1], measure.UnexpectedStatus, 200, 4, ms)
			answer(&r[1], measure.Success, 404, 50, ms)
			answer(&r[1], measure.UnexpectedStatus, 302, 3, ms)
			answer(&r[3], measure.UnexpectedStatus, 0, 2, ms)
			answer(&r[3], measure.Success, 5, 50, ms)
		}, "Failed: b 7 of 57 (200), a 5 of 105 (302), d 2 of 52 (OK)."},
		"denials that are expected are none": {atMost("failureRate", "1%"), func(r []measure.Request) {
			answer(&r[0], measure.RateLimited, 429, 50, ms)
			r[0].Expected += 50
			answer(&r[0], measure.Timeout, 0, 5, ms)
			answer(&r[1], measure.RateLimited, 429, 50, ms)
		}, "Failed: b 50 of 150 (429), a 5 of 155 (timeout)."},
		"the requests that the threshold names": {filtered(atMost("failureRate", "1%"), []string{"a", "b"}, nil, nil), func(r []measure.Request) {
			answer(&r[1], measure.Timeout, 0, 9, ms)
			answer(&r[2], measure.Timeout, 0, 90, ms)
		}, "Failed: b 9 of 109 (timeout)."},
		"one request": {filtered(atMost("failureRate", "1%"), []string{"b"}, nil, nil), func(r []measure.Request) { answer(&r[1], measure.Timeout, 0, 9, ms) }, ""},
		"the slowest of which there are enough": {atMost("p95", "1ms"), func(r []measure.Request) {
			r[2], r[4] = measure.NewRequest(), measure.NewRequest()
			answer(&r[2], measure.Success, 200, 5, time.Second)
			answer(&r[3], measure.Success, 200, 300, 20*ms)
			answer(&r[4], measure.Success, 200, 20, 40*ms)
		}, "The slowest request is e, with 40.031ms."},
		"the slowest by its service time": {serviceTime(atMost("p95", "1ms")), func(r []measure.Request) {
			answer(&r[3], measure.Success, 200, 300, 20*ms)
			answer(&r[4], measure.Success, 200, 20, 40*ms)
		}, "The slowest request is e, with 20.015ms."},
		"all alike": {atMost("p95", "1ms"), func(r []measure.Request) {
			for i := range r {
				answer(&r[i], measure.Success, 200, 900, 20*ms)
			}
		}, ""},
		"a rate": {atLeast("goodput", "1000000"), func(r []measure.Request) { answer(&r[1], measure.Timeout, 0, 9, ms) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(tc.threshold)
			s.Requests = []v1beta1.Request{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}}
			s.Requests[1].Expect = &v1beta1.Expectation{Status: []int32{404}}
			s.Requests[3].GRPC, s.Requests[3].Expect = &v1beta1.Call{}, &v1beta1.Expectation{GRPCStatus: []v1beta1.GRPCStatus{"NOT_FOUND"}}
			o := sent(0, 0)
			o.merged.Requests = measure.NewMeasurement(5).Requests
			for i := range o.merged.Requests {
				answer(&o.merged.Requests[i], measure.Success, 200, 100, ms/2)
			}
			tc.answers(o.merged.Requests)
			o.merged.Due = 0
			for i := range o.merged.Requests {
				o.merged.Due += o.merged.Requests[i].Sent
			}
			got := judge(s, nil, burst, o).Thresholds[0]
			if got.State != v1beta1.ThresholdFailed {
				t.Fatalf("%s: %s", got.State, got.Message)
			}
			switch _, worst, _ := strings.Cut(got.Message, ". "); {
			case tc.want == "" && (strings.Contains(worst, "Failed: ") || strings.Contains(worst, "slowest")), !strings.HasSuffix(worst, tc.want):
				t.Errorf("%q, want %q", got.Message, tc.want)
			}
		})
	}
}

func serviceTime(t v1beta1.Threshold) v1beta1.Threshold {
	t.Time = v1beta1.ServiceTime
	return t
}
