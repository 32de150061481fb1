package attack

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// website is a target with a login as browsers do it: a page with a token and a cookie, a form that
// sends both, and two redirects to a page that only a session sees. Each answer takes 5 ms.
type website struct {
	mu    sync.Mutex
	hits  map[string]int64
	wrong []string
}

func (w *website) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.hits[r.Method+" "+r.URL.Path]++
	w.mu.Unlock()
	csrf, _ := r.Cookie("csrf")
	switch sid, _ := r.Cookie("sid"); r.URL.Path {
	case "/page":
		http.SetCookie(out, &http.Cookie{Name: "csrf", Value: "c/1", Path: "/"})
		out.Header().Set("X-Nonce", "n 1")
		_, _ = io.WriteString(out, `<form><input name="csrf" value="t&1"></form>`)
	case "/login":
		if got := fmt.Sprint(r.FormValue("csrf"), r.FormValue("nonce"), r.FormValue("cookie"), csrf); got != fmt.Sprint("t&1", "n 1", "c/1", "csrf=c/1") {
			w.fault("login with %s", got)
		}
		http.SetCookie(out, &http.Cookie{Name: "sid", Value: "s1", Path: "/"})
		http.Redirect(out, r, "/step?a=b", http.StatusFound)
	case "/step":
		if sid == nil || r.Method != "GET" || r.ContentLength > 0 || r.Header.Get("Content-Type") != "" {
			w.fault("%s with %d bytes of %q and cookie %v", r.Method, r.ContentLength, r.Header.Get("Content-Type"), sid)
		}
		http.Redirect(out, r, "home", http.StatusSeeOther)
	case "/home":
		if sid == nil || r.URL.RawQuery != "" {
			w.fault("%s with cookie %v", r.URL, sid)
		}
	default:
		http.Redirect(out, r, r.URL.Query().Get("to"), http.StatusFound)
	}
}

func (w *website) fault(format string, values ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, values...))
}

func signingIn(url string) setup {
	return setup{
		url: url, traced: 1,
		requests: []source.Request{
			{Name: "page", Method: "GET", Path: "/page"},
			{Name: "login", Method: "POST", Path: "/login", Follow: 2, Form: []source.FormField{
				{Name: "csrf", Value: "${csrf}"}, {Name: "nonce", Value: "${nonce}"}, {Name: "cookie", Value: "${cookie}"},
			}},
			{Name: "home", Method: "GET", Path: "/home"},
		},
		journeys: []source.Journey{{Name: "sign in", Weight: 1, Steps: []source.JourneyStep{
			{Request: 0, Times: 1, CaptureFrom: []source.Capture{{Name: "csrf", Match: `value="([^"]*)"`}, {Name: "nonce", Header: "x-nonce"}, {Name: "cookie", Cookie: "csrf"}}},
			{Request: 1, Times: 1}, {Request: 2, Times: 1},
		}}},
	}
}

// A chain is one request, which takes as long as the whole; the target got each of its parts.
func TestALoginWithATokenAFormAndRedirects(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		w := &website{hits: map[string]int64{}}
		s := drive(t, d.runner(t, signingIn(d.oracle(t, slow(w.ServeHTTP)).URL)), usersStep(4, Burst{Requests: 9, Limit: time.Minute}))
		if len(w.wrong) > 0 {
			t.Errorf("%d requests were wrong, the first: %s", len(w.wrong), w.wrong[0])
		}
		wantJourney(t, s, 12, 12, 0)
		if got := fmt.Sprint(w.hits); got != "map[GET /home:24 GET /page:12 GET /step:12 POST /login:12]" {
			t.Error(got)
		}
		var redirects []int64
		for i := range s.Requests {
			redirects = append(redirects, s.Requests[i].Redirects)
		}
		if fmt.Sprint(sent(s), redirects) != "[12 12 12] [0 24 0]" || fmt.Sprint(s.Requests[1].StatusCodes) != "map[200:12]" {
			t.Errorf("sent %v, followed %v, with status codes %v", sent(s), redirects, s.Requests[1].StatusCodes)
		}
		if l, j := latencies(s.Requests[1].Response), latencies(s.Journeys[0].Time); l != "15ms" || j != "25ms" || latencies(s.Requests[1].Service) != "15ms" {
			t.Errorf("a login took %s, a journey %s; want 15ms and 25ms", l, j)
		}
		// Each connection had carried no request only before the first of its user.
		if s.Reused != 36-4 {
			t.Errorf("%d requests went over connections that had carried another, want 32", s.Reused)
		}
	})
}

// Of arrivals, too; and a redirect that is not followed is the response.
func TestRedirectsThatAreNotFollowed(t *testing.T) {
	for name, tt := range map[string]struct {
		to        string
		follow    int
		expect    []int32
		hits      int64
		redirects int64
		outcome   measure.Outcome
		sample    string
	}{
		"to itself":         {to: "/?to=/", follow: 3, hits: 4, redirects: 3, outcome: measure.UnexpectedStatus, sample: `request "get /": status 302 Found: it is redirect 4 of the request, which follows 3`},
		"elsewhere":         {to: "http://192.0.2.1/", follow: 3, hits: 1, outcome: measure.UnexpectedStatus, sample: `request "get /": status 302 Found: the redirect leads to another scheme, host or port than those of spec.target and spec.otherTargets: add it to spec.otherTargets, or expect the status`},
		"elsewhere, wanted": {to: "http://192.0.2.1/", follow: 3, expect: []int32{302}, hits: 1, outcome: measure.Success},
		"none is followed":  {to: "/home", hits: 1, outcome: measure.UnexpectedStatus, sample: `request "get /": status 302 Found`},
	} {
		t.Run(name, func(t *testing.T) {
			over := arrivalsInVirtualTime
			if tt.follow > 0 {
				over = inVirtualTime // the plan refuses redirects with Vegeta
			}
			over(t, func(t *testing.T, d testDriver) {
				w := &website{hits: map[string]int64{}}
				r := get("/")
				r.Path, r.Follow, r.Expect.Status = "/?to="+tt.to, tt.follow, tt.expect
				s := drive(t, d.runner(t, setup{url: d.oracle(t, slow(w.ServeHTTP)).URL, requests: []source.Request{r}}), arrivalsStep(50e6, 200*ms))
				q := &s.Requests[0]
				if q.Sent != 10 || q.Outcomes[tt.outcome] != 10 || q.Redirects != 10*tt.redirects || q.Errors[tt.outcome] != tt.sample {
					t.Errorf("%d sent, %v, %d redirects, %q", q.Sent, q.Outcomes, q.Redirects, q.Errors[tt.outcome])
				}
				var hits int64
				for _, n := range w.hits {
					hits += n
				}
				if hits != 10*tt.hits {
					t.Errorf("the target got %d requests, want %d", hits, 10*tt.hits)
				}
			})
		})
	}
}

// The timeout is of the chain, whose parts are each faster.
func TestTheTimeoutIsOfTheWholeChain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		w := &website{hits: map[string]int64{}}
		r := get("/")
		r.Path, r.Follow = "/?to=/%3Fto=/home", 5
		c := setup{url: d.oracle(t, slow(w.ServeHTTP)).URL, requests: []source.Request{r}, timeout: 12 * ms}
		s := drive(t, d.runner(t, c), usersStep(1, Burst{Requests: 1, Limit: time.Minute}))
		q := &s.Requests[0]
		if q.Outcomes[measure.Timeout] != 1 || q.Redirects != 2 || latencies(q.Response) != "12ms" {
			t.Errorf("%v, %d redirects, %s", q.Outcomes, q.Redirects, latencies(q.Response))
		}
	})
}

// The redirect of a connection that the server closes is followed over another.
func TestARedirectThatEndsItsConnection(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		o := d.oracle(t, slow(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/home" {
				w.Header().Set("Connection", "close")
				http.Redirect(w, r, "/home", http.StatusTemporaryRedirect)
			}
		}))
		r := get("/")
		r.Follow = 1
		s := drive(t, d.runner(t, setup{url: o.URL, requests: []source.Request{r}}), usersStep(2, Burst{Requests: 3, Limit: time.Minute}))
		if q := &s.Requests[0]; q.Expected != 6 || q.Redirects != 6 || latencies(q.Response) != "10ms" {
			t.Errorf("%d as expected, %d redirects, %s; %v", q.Expected, q.Redirects, latencies(q.Response), q.Errors)
		}
		if got := strings.Join(o.served(), " "); got != strings.TrimSpace(strings.Repeat("/ ", 6)+strings.Repeat("/home ", 6)) {
			t.Error(got)
		}
	})
}

// A step that ends in the middle of a chain leaves its request unfinished.
func TestAChainEndsWithItsStep(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		w := &website{hits: map[string]int64{}}
		r := get("/")
		r.Path, r.Follow = "/?to=/%3Fto=/home", 5
		c := setup{url: d.oracle(t, slow(w.ServeHTTP)).URL, requests: []source.Request{r}}
		x := d.runner(t, c).Start(usersStep(1, Burst{Requests: 1, Limit: time.Minute}), time.Now())
		<-time.After(time.Until(x.Start().Add(7 * ms)))
		x.Cut()
		if q := &finish(t, x).Requests[0]; q.Sent != 1 || q.Outcomes[measure.Unfinished] != 1 || q.Redirects != 1 {
			t.Errorf("%d sent, %v, %d redirects", q.Sent, q.Outcomes, q.Redirects)
		}
	})
}

// leaving is a server of HTTP/2 that takes no more than two requests on a connection, as Nginx with
// keepalive_requests: the second is redirected after a GOAWAY, while the first is in flight. After the GOAWAY, it
// ignores what follows, as RFC 9113 has it (6.8).
func leaving(t *testing.T) string {
	return scripted.ServeAll(t, func(conn *net.TCPConn, _ *bufio.Reader) {
		if _, err := io.ReadFull(conn, make([]byte, len(xhttp2.ClientPreface))); err != nil {
			return
		}
		f := xhttp2.NewFramer(conn, conn)
		f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		_ = f.WriteSettings()
		answer := func(id uint32, fields ...string) {
			var block bytes.Buffer
			e := hpack.NewEncoder(&block)
			for i := 0; i < len(fields); i += 2 {
				_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
			}
			_ = f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: true})
		}
		for left := false; ; {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			h, ok := frame.(*xhttp2.MetaHeadersFrame)
			switch {
			case !ok || left:
			case h.PseudoValue("path") == "/0":
			case h.PseudoValue("path") == "/1":
				left = true
				_ = f.WriteGoAway(h.StreamID, xhttp2.ErrCodeNo, nil)
				answer(h.StreamID, ":status", "302", "location", "/home")
				time.AfterFunc(300*ms, func() { answer(1, ":status", "200") })
			default:
				answer(h.StreamID, ":status", "200")
			}
		}
	})
}

// The redirect of a connection that takes no more requests is followed over another, of a log as of other arrivals.
func TestARedirectOfALogThatEndsItsConnection(t *testing.T) {
	r := get("/")
	r.Path, r.Follow = "/${seq}", 1
	for name, step := range map[string]StepShare{
		"log":      recordedStep(t, recording(t, 0, 100*ms), 1, 2*time.Second, 0, 1, 1),
		"arrivals": {Share: all(2), Total: 2, Load: Arrivals{Rate: 1e6 * 10, Duration: 200 * ms}},
	} {
		t.Run(name, func(t *testing.T) {
			got := drive(t, streamTestDriver.runner(t, setup{url: leaving(t), timeout: time.Minute, requests: []source.Request{r}}), step)
			if q := total(t, got); q.Sent != 2 || q.Redirects != 1 || q.Outcomes[measure.Success] != 2 {
				t.Errorf("%d sent, %d redirects, %v, %v", q.Sent, q.Redirects, outcomes(q), errorsOf(got))
			}
		})
	}
}
