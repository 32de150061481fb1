package assemble

import (
	"fmt"
	"strings"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// answers is a whole response of HTTP with header fields and a body.
func answers(status, fields, body string) groundtruth.Route {
	return groundtruth.Route{Reply: groundtruth.Reply{Bytes: fmt.Appendf(nil, "HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s", status, fields, len(body), body)}}
}

// site is a login of a web page: a page with a token, a form, and two redirects to where the user is
// welcome. A route that no request should reach answers as well.
var site = map[string]groundtruth.Route{
	"page":   answers("200 OK", "Set-Cookie: csrf=c1; Path=/\r\nX-Nonce: n1\r\n", `<input name="csrf" value="t1">`),
	"login":  answers("302 Found", "Set-Cookie: sid=s1; Path=/\r\nLocation: /second\r\n", ""),
	"second": answers("303 See Other", "Location: third?a=b\r\n", "moved"),
	"third":  {Latency: groundtruth.Fixed(time.Millisecond), Reply: groundtruth.OK(20)},
	"out":    answers("302 Found", "Location: http://169.254.169.254/latest/\r\n", ""),
	"cart":   {},
}

// signIn is an assignment of a journey through the site.
func signIn(steps ...*workerv1.Step) *workerv1.Assignment {
	a := workertest.Assignment("", steps...)
	a.Requests = []*workerv1.Request{
		{Name: "page", Method: "GET", Path: "/page"},
		{Name: "login", Method: "POST", Path: "/login", FollowRedirects: 3, Form: []*workerv1.FormField{
			{Name: "csrf", Value: "${csrf}"}, {Name: "nonce", Value: "${nonce}"}, {Name: "user", Value: "user ${user}"},
		}},
		{Name: "cart", Method: "GET", Path: "/cart/${sid}"},
		{Name: "out", Method: "GET", Path: "/out", FollowRedirects: 3},
	}
	a.Journeys = []*workerv1.Journey{{Name: "sign in", Weight: 1, Steps: []*workerv1.JourneyStep{
		{Request: 0, Times: 1, Captures: []*workerv1.Capture{{Name: "csrf", Match: `value="([^"]+)"`}, {Name: "nonce", Header: "x-nonce"}}},
		{Request: 1, Times: 1, Captures: []*workerv1.Capture{{Name: "sid", Cookie: "sid"}}}, {Request: 2, Times: 1}, {Request: 3, Times: 1},
	}}}
	return a
}

// Of arrivals that share connections over HTTP/2, a redirect goes on although its connection drains.
func TestRedirectsGoOnWhereConnectionsDrain(t *testing.T) {
	a := workertest.Assignment("", rated(400))
	groundTruth(t, a.Target, groundtruth.Config{
		Protocol: groundtruth.H2C, Routes: site, Script: []groundtruth.Event{{Kind: groundtruth.GoAway, From: 100 * time.Millisecond, For: time.Hour}},
	})
	a.Requests = []*workerv1.Request{{Name: "login", Weight: 1, Method: "POST", Path: "/login", FollowRedirects: 3}}
	got := run(t, prepared(t, a, testConfig(), ignore))
	q := got.Requests[0]
	if q.Sent == 0 || q.Outcomes[measure.Success]+q.Outcomes[measure.Refused] != q.Sent || q.Outcomes[measure.Success] == 0 || got.ConnectionsOpened < 2 {
		t.Errorf("%v of %d, over %d connections; %v", q.Outcomes, q.Sent, got.ConnectionsOpened, errorsOf(got))
	}
}

// overProtocols signs in to the site over each protocol, by event loops and by goroutines.
func overProtocols(t *testing.T, step *workerv1.Step, test func(t *testing.T, s *groundtruth.Server, a *workerv1.Assignment, engine string)) {
	t.Helper()
	for _, protocol := range []groundtruth.Protocol{groundtruth.HTTP1, groundtruth.TLS, groundtruth.H2C, groundtruth.HTTP2} {
		for _, other := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, another target %t", protocol, other), func(t *testing.T) {
				a, engine := signIn(step), "event loops"
				s := groundTruth(t, a.Target, groundtruth.Config{Protocol: protocol, Routes: site})
				if other { // requests then go from goroutines
					a.OtherTargets, engine = []*workerv1.Target{a.Target}, "goroutines"
				}
				test(t, s, a, engine)
			})
		}
	}
}

// The server's own counts are what the worker reports: each redirect that was followed is one more
// request, and none went elsewhere.
func TestLoginsAgreeWithTheGroundTruth(t *testing.T) {
	const users, each, n = 3, 20, 60
	overProtocols(t, workertest.Burst(0, users, 4*each), func(t *testing.T, s *groundtruth.Server, a *workerv1.Assignment, engine string) {
		got := run(t, prepared(t, a, testConfig(), ignore))
		conns, client := int64(users*(1+len(a.OtherTargets))), "http1"
		if a.Target.Protocol == workerv1.Protocol_PROTOCOL_HTTP2 {
			client = "http2"
		}
		if got.Engine != engine || !strings.HasPrefix(got.Transport, client) || got.ConnectionsOpened != conns {
			t.Errorf("driven by %s by %s over %d connections, want %s by %s over %d", got.Engine, got.Transport, got.ConnectionsOpened, engine, client, conns)
		}
		var sent, redirects []int64
		for i := range got.Requests {
			sent, redirects = append(sent, got.Requests[i].Sent), append(redirects, got.Requests[i].Redirects)
		}
		if fmt.Sprint(sent, redirects) != fmt.Sprint([]int64{n, n, n, n}, []int64{0, 2 * n, 0, 0}) {
			t.Errorf("sent %v, followed %v; %v", sent, redirects, errorsOf(got))
		}
		if j := got.Journeys[0]; j.Started != n || j.Failed != n || j.FailedIn[3] != n || got.Requests[3].Outcomes[measure.UnexpectedStatus] != n {
			t.Errorf("%+v; %v", j, errorsOf(got))
		}
		truth := counters(t, s)
		if want := map[string]int64{"": 0, "page": n, "login": n, "second": n, "third": n, "cart": n, "out": n}; fmt.Sprint(truth.Routes) != fmt.Sprint(want) || truth.Bad > 0 {
			t.Errorf("the server got %v and %d that were none, want %v", truth.Routes, truth.Bad, want)
		}
	})
}
