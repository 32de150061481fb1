package attack

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// raw is a server that answers each request with bytes, then does what after
// says to the connection.
func raw(t *testing.T, answer string, after func(*net.TCPConn)) string {
	t.Helper()
	return scripted.ServeAll(t, func(conn *net.TCPConn, reader *bufio.Reader) {
		for {
			r, err := http.ReadRequest(reader)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			if _, err := io.WriteString(conn, answer); err != nil {
				return
			}
			if after != nil {
				after(conn)
				return
			}
		}
	})
}

func closeGently(*net.TCPConn)   {}
func closeRudely(c *net.TCPConn) { _ = c.SetLinger(0) }
func staySilent(c *net.TCPConn)  { _, _ = io.Copy(io.Discard, c) }

// nowhere is an address on which no server listens. A port that was closed for this
// could meanwhile be another test's.
const nowhere = "http://127.0.0.1:1"

func TestResponsesAreClassified(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		t.Parallel()
		tests := map[string]struct {
			url    func(t *testing.T) string
			expect []int32
			want   string
			sample string
			code   int // of the responses; 0: it is not looked at
			// expected says that the response is as it should be.
			expected bool
		}{
			"200":                    {url: status(200), code: 200, want: "success", expected: true},
			"302 is not followed":    {url: status(302), code: 302, want: "unexpectedStatus", sample: `request "it": status 302 Found`},
			"302 that is expected":   {url: status(302), code: 302, expect: []int32{302}, want: "success", expected: true},
			"404":                    {url: status(404), code: 404, want: "clientError", sample: "status 404 Not Found"},
			"404 that is expected":   {url: status(404), code: 404, expect: []int32{404}, want: "success", expected: true},
			"503":                    {url: status(503), code: 503, want: "serverError", sample: "status 503 Service Unavailable"},
			"429":                    {url: status(429), code: 429, want: "rateLimited", sample: "status 429 Too Many Requests"},
			"429 that is expected":   {url: status(429), code: 429, expect: []int32{200, 429}, want: "rateLimited", expected: true},
			"closed without a word":  {url: answer("", closeGently), want: "reset", sample: "read: unexpected EOF"},
			"reset":                  {url: answer("", closeRudely), want: "reset", sample: "reset by peer"},
			"bytes that are no HTTP": {url: answer("SSH-2.0-OpenSSH_9.2\r\n\r\n", nil), want: "badResponse", sample: "malformed HTTP"},
			"silence":                {url: answer("", staySilent), want: "timeout", sample: "i/o timeout"},
			"a port that is closed":  {url: at(nowhere), want: "refused", sample: "connection refused"},
		}
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				timeout := time.Minute
				if tt.want == "timeout" {
					t.Parallel()
					timeout = 3 * time.Second // the handshake of TLS is over before that
				}
				r := d.runner(t, setup{
					url: tt.url(t), timeout: timeout,
					requests: []source.Request{{Name: "it", Weight: 1, Method: "GET", Path: "/", Expect: source.Expectation{Status: tt.expect}}},
				})
				got := drive(t, r, usersStep(2, Burst{Requests: 3, Limit: time.Hour}))
				q := total(t, got)
				same.As(t, "outcomes", map[string]int64{tt.want: 6}, outcomes(q))
				if tt.code != 0 && !maps.Equal(q.StatusCodes, measure.StatusCodes{tt.code: 6}) {
					t.Errorf("status codes %v, want 6 of %d", q.StatusCodes, tt.code)
				}
				if expected := q.Expected == 6; expected != tt.expected || (!expected && q.Expected != 0) {
					t.Errorf("%d of 6 as expected, want all: %v", q.Expected, tt.expected)
				}
				if len(errorsOf(got)) > 1 || (len(errorsOf(got)) == 0) != tt.expected {
					t.Errorf("error samples %v", errorsOf(got))
				}
				for _, text := range errorsOf(got) {
					contains(t, text, tt.sample)
				}
			})
		}
	})
}

func at(url string) func(t *testing.T) string {
	return func(*testing.T) string { return url }
}

func status(code int) func(t *testing.T) string {
	return func(t *testing.T) string {
		return newOracle(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(code)
		}).URL
	}
}

func answer(text string, after func(*net.TCPConn)) func(t *testing.T) string {
	return func(t *testing.T) string { return raw(t, text, after) }
}

// Users of a closed loop that cannot connect would otherwise do nothing but
// dial, hundreds of thousands of times a second.
func TestClosedUsersPauseWhenTheTargetIsGone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		got := drive(t, d.runner(t, setup{url: nowhere}), usersStep(2, ClosedUsers{Duration: 100 * failedPause}))
		wantUnsent(t, got, 100*failedPause, 0, map[string]int64{"refused": 200})
	})
}

// A limiter that cannot decide answers 503: that this is expected makes it no grant.
func TestLedgersAgreeWithTheLimiter(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		granted, denied := map[string]int64{}, map[string]int64{}
		var o *oracle
		o = newOracle(t, func(w http.ResponseWriter, r *http.Request) {
			o.mu.Lock()
			defer o.mu.Unlock()
			client := r.Header.Get("X-Client")
			if granted[client] < 10 {
				granted[client]++
				return
			}
			if denied[client] == 12 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			denied[client]++
			w.WriteHeader(http.StatusTooManyRequests)
		})
		r := d.runner(t, setup{url: o.URL, client: "x-client", requests: []source.Request{{
			Name: "limited", Weight: 1, Method: "GET", Path: "/", Expect: source.Expectation{Status: []int32{200, 429, 503}},
			Headers: []source.Header{{Name: "X-Client", Value: "client-${user}"}},
		}}})
		got := drive(t, r, usersStep(3, Burst{Requests: 25, Limit: time.Minute}))
		if got.Clients.Len() != 3 || got.Clients.Untracked != 0 {
			t.Fatalf("%d clients, %d untracked; want 3 and 0", got.Clients.Len(), got.Clients.Untracked)
		}
		for name, ledger := range got.Clients.All() {
			var sum measure.Slice
			for _, s := range ledger.Slices {
				sum.Granted += s.Granted
				sum.Denied += s.Denied
				sum.Unknown += s.Unknown
				if s.FirstSent < 0 || s.LastReceived < s.FirstSent {
					t.Errorf("%s: sent from %v, received until %v", name, s.FirstSent, s.LastReceived)
				}
			}
			if sum.Granted != granted[name] || sum.Denied != denied[name] || sum.Unknown != 3 || sum.Granted != 10 || sum.Denied != 12 {
				t.Errorf("%s: %+v; the limiter granted %d and denied %d", name, sum, granted[name], denied[name])
			}
		}
	})
}

func TestLedgerCountsRequestsInFlightAsUnknown(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		handle, release := hold(t)
		r := d.runner(t, setup{url: d.oracle(t, handle).URL, client: "X-Client"})
		x := r.Start(usersStep(4, Burst{Requests: 1, Limit: time.Minute}), time.Now())
		<-time.After(time.Second)
		if s := snapshot(t, x).Clients.Ledger("").Slices[0]; s.Unknown != 4 {
			t.Errorf("in flight %+v, want 4 unknown", s)
		}
		release()
		if s := finish(t, x).Clients.Ledger("").Slices[0]; s.Granted != 4 || s.Unknown != 0 {
			t.Errorf("in the end %+v, want 4 granted and none unknown", s)
		}
	})
}

func TestClientsBeyondTheBoundAreUntracked(t *testing.T) {
	const clients = 100
	l := newClientLedgers(time.Minute, 2000)
	for i := range clients {
		c := l.sent(fmt.Appendf(nil, "client-%d", i), time.Second)
		l.resolve(c, time.Second, 2*time.Second, measure.Success)
	}
	l.sent([]byte("\xff"), 0)
	l.sent(make([]byte, measure.MaxClientBytes+1), 0)
	all := l.all()
	if n := all.Len(); n < 5 || n > 20 || all.Untracked != int64(clients-n+2) {
		t.Errorf("%d clients, %d untracked; want about 10 of 100, and the others with two that can have none", n, all.Untracked)
	}
	known := l.sent([]byte(all.Names()[0]), time.Second)
	l.resolve(known, time.Second, time.Second, measure.RateLimited)
	want := measure.Slice{Index: 1, Granted: 1, Denied: 1, FirstSent: time.Second, LastReceived: 2 * time.Second}
	same.As(t, "slice of the second second", []measure.Slice{want}, l.all().Ledger(all.Names()[0]).Slices)
}

// A whole response of an expected status whose body is not as expected is a bad
// response: neither expected nor completed, and the sample says what was found.
func TestUnexpectedBodyIsABadResponse(t *testing.T) {
	tests := map[string]struct {
		expect source.Expectation
		want   string
		sample string
	}{
		"nothing is expected":  {source.Expectation{}, "success", ""},
		"as it should be":      {source.Expectation{JSON: []source.ExpectedValue{{Path: ".state", Equals: "up"}}}, "success", ""},
		"another value":        {source.Expectation{JSON: []source.ExpectedValue{{Path: ".state", Equals: "down"}}}, "badResponse", `request "it": .state: a string of 2 bytes instead of "down"`},
		"another, exposed":     {source.Expectation{JSON: []source.ExpectedValue{{Path: ".state", Equals: "down"}}}, "badResponse", `a string of 2 bytes instead of "down"; the target sent "up"`},
		"small enough":         {source.Expectation{MaxBytes: 14}, "success", ""},
		"too large":            {source.Expectation{MaxBytes: 13}, "badResponse", `request "it": body of 14 bytes, at most 13 are expected`},
		"an unexpected status": {source.Expectation{Status: []int32{204}, MaxBytes: 1}, "unexpectedStatus", `request "it": status 200 OK`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, d testDriver) {
				o := d.oracle(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"state":"up"}`) })
				r := d.runner(t, setup{url: o.URL, requests: []source.Request{
					{Name: "it", Weight: 1, Method: "GET", Path: "/", Expect: tt.expect},
				}})
				r.config.ExposeResponses = strings.Contains(tt.sample, "the target sent")
				for kind, got := range map[string]*measure.Measurement{
					"users":    drive(t, r, usersStep(2, Burst{Requests: 5, Limit: time.Minute})),
					"arrivals": drive(t, r, arrivalsStep(5e6, time.Second)),
				} {
					q := total(t, got)
					same.As(t, kind+": outcomes", map[string]int64{tt.want: map[string]int64{"users": 10, "arrivals": 5}[kind]}, outcomes(q))
					good := tt.want == "success"
					if good != (q.Expected == q.Sent) || !good && q.Expected != 0 || tt.want == "badResponse" && q.CompletedInWindow != 0 {
						t.Errorf("%s: %d of %d as expected, %d completed", kind, q.Expected, q.Sent, q.CompletedInWindow)
					}
					for _, text := range errorsOf(got) {
						contains(t, text, tt.sample)
					}
					if len(errorsOf(got)) == 0 != good {
						t.Errorf("%s: samples %v", kind, errorsOf(got))
					}
				}
			})
		})
	}
}

// The results of a run have one error for each request that is no success, beside the code of its response.
func TestWhatAResultSaysOfAResponseThatIsNotExpected(t *testing.T) {
	for want, res := range map[string]result{
		"":                         {outcome: measure.RateLimited, status: 429, expected: true},
		"503 Service Unavailable":  {outcome: measure.ServerError, status: 503},
		"the body is not expected": {outcome: measure.BadResponse, status: 200},
		"the stream ended without its last event, or without any": {outcome: measure.EndedEarly, status: 200},
	} {
		same.As(t, "error", want, res.unexpected())
	}
}
