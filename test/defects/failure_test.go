package defects_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// classes are the outcomes that occurred.
func classes(o measure.Request) map[string]int64 {
	out := map[string]int64{}
	for i, n := range o.Outcomes {
		if n != 0 {
			out[measure.Outcome(i).String()] = n
		}
	}
	return out
}

// Defect: timeouts that are always 0, or make the tool hang. Each request that
// was not answered in time is one, counts as failed, and has a response time.
func TestTimeoutsAreRecognised(t *testing.T) {
	const users, timeout = 7, 120 * ms
	limits := []v1beta1.Threshold{atMost(v1beta1.MetricFailureRate, "99%")}
	for name, route := range map[string]groundtruth.Route{
		"no answer":      {Latency: groundtruth.Fixed(forever)},
		"half an answer": {Reply: groundtruth.Slow(64, 1, forever)},
		"no end":         {Reply: groundtruth.Declared(128, 64, groundtruth.Keep)},
	} {
		t.Run(name, func(t *testing.T) {
			o := experiment{
				server: routes(map[string]groundtruth.Route{"": route}), timeout: timeout,
				spec: v1beta1.LoadTestSpec{Steps: burst(users, 1), Thresholds: limits},
			}.run(t)
			same.As(t, "outcomes", map[string]int64{"timeout": users}, classes(o.total))
			if o.result.ResponseTime == nil || o.result.ResponseTime.Samples != users || o.result.Failed != users {
				t.Fatalf("%d failed, response time %+v, want %d samples", o.result.Failed, o.result.ResponseTime, users)
			}
			atLeastDuration(t, "min", o.result.ResponseTime.Min, timeout)
			// In so short a burst, all are excused if the worker did not run for 12 ms. What follows from timeouts
			// that are not is judged without a clock.
			verdict := measured(t, v1beta1.LoadTestSpec{Steps: burst(users, 1), Thresholds: limits}, func(m *measure.Measurement) {
				*m = *o.merged
				for i := range m.Requests {
					m.Requests[i].Excused = 0
				}
			})
			verdict.verdictIs(t, v1beta1.VerdictFailed)
		})
	}
}

// Defect: failures that no breakdown explains. Each way to fail has a class of
// its own, the classes add up to what was sent, and each has a sample.
func TestEveryFailureHasItsClass(t *testing.T) {
	lua := &v1beta1.Expectation{JSON: []v1beta1.ExpectedValue{{Path: ".strategy", Equals: v1beta1.JSONText("lua")}}}
	small := &v1beta1.Expectation{MaxBytes: ptr[int64](8)}
	tests := map[string]struct {
		reply  groundtruth.Reply
		expect *v1beta1.Expectation
	}{
		"rateLimited":              {reply: groundtruth.Status(429, 1)},
		"clientError":              {reply: groundtruth.Status(404, 1)},
		"serverError":              {reply: groundtruth.Status(503, 1)},
		"unexpectedStatus":         {reply: groundtruth.Status(600, 1)},
		"reset":                    {reply: groundtruth.Reset()},
		"reset by a close":         {reply: groundtruth.EarlyClose()},
		"reset in a body":          {reply: groundtruth.Truncated(9)},
		"badResponse":              {reply: groundtruth.Garbage()},
		"badResponse, other value": {reply: groundtruth.JSON(`{"strategy":"hash"}`), expect: lua},
		"badResponse, large body":  {reply: groundtruth.OK(9), expect: small},
		"success":                  {reply: groundtruth.OK(1)},
		"success, chunked":         {reply: groundtruth.Chunked(40)},
		"success, no end":          {reply: groundtruth.UntilClose(9)},
		"success, interim":         {reply: groundtruth.Interim(9)},
		"success, expected value":  {reply: groundtruth.JSON(`{"strategy":"lua"}`), expect: lua},
		"success, small body":      {reply: groundtruth.OK(8), expect: small},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			const users, each = 3, 2
			request := get("/${seq}")
			request.Expect = tt.expect
			o := experiment{
				server: routes(map[string]groundtruth.Route{"": {Reply: tt.reply}}),
				spec:   v1beta1.LoadTestSpec{Requests: []v1beta1.Request{request}, Steps: burst(users, each)},
			}.run(t)
			o.classIs(t, firstWord(name), users*each)
			o.settled(t)
		})
	}
}

func firstWord(s string) string {
	for i, r := range s {
		if r == ' ' || r == ',' {
			return s[:i]
		}
	}
	return s
}

// classIs checks that all n requests had one class, in every figure.
func (o outcome) classIs(t *testing.T, class string, n int64) {
	t.Helper()
	same.As(t, "outcomes", map[string]int64{class: n}, classes(o.total))
	failed, samples := n, 1
	if class == "success" {
		failed, samples = 0, 0
	}
	if o.result.Sent != n || o.result.Failed != failed {
		t.Errorf("sent %d, failed %d; want %d, %d", o.result.Sent, o.result.Failed, n, failed)
	}
	got := o.result.Requests[0].ErrorSamples
	if len(got) != samples {
		t.Fatalf("samples %+v, want %d", got, samples)
	}
	if samples == 1 && (got[0].Outcome != class || got[0].Message == "") {
		t.Errorf("sample %+v, want one of %s", got[0], class)
	}
}

// The same for what fails before a request is sent.
func TestEveryFailureToConnectHasItsClass(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	strange, err := groundtruth.Start(groundtruth.Config{Protocol: groundtruth.TLS})
	must.Succeed(t, err)
	t.Cleanup(strange.Close)
	unknown := func(context.Context, string) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "nowhere", IsNotFound: true}
	}
	tests := map[string]struct {
		url    string
		tls    *v1beta1.TLS
		lookup dial.Lookup
		want   string
	}{
		// A port that was closed for this could meanwhile be another test's.
		"the port is closed":         {url: "http://127.0.0.1:1", want: "refused"},
		"the name is unknown":        {url: "http://nowhere.example", lookup: unknown, want: "dns"},
		"an unknown certificate":     {url: strange.URL(), want: "tls"},
		"one that is not verified":   {url: strange.URL(), tls: &v1beta1.TLS{InsecureSkipVerify: true}, want: "success"},
		"the server speaks no TLS":   {url: "https://" + plain.Listener.Addr().String(), want: "tls"},
		"the server speaks only TLS": {url: "http://" + strange.URL()[len("https://"):], want: "clientError"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := experiment{url: tt.url, lookup: tt.lookup, spec: v1beta1.LoadTestSpec{
				Target: v1beta1.Target{TLS: tt.tls}, Steps: burst(2, 2),
			}}.run(t)
			o.classIs(t, tt.want, 4)
		})
	}
}
