package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func mustNew(t *testing.T, c Config) *Source {
	t.Helper()
	s, err := New(c)
	must.Succeed(t, err)
	return s
}

func TestRender(t *testing.T) {
	s := mustNew(t, Config{
		ClientHeader: "x-client-id",
		Requests: []Request{{
			Name: "create", Weight: 1, Method: "POST", Path: "/urls?u=${user}", Body: `{"n":${seq}}`,
			Headers: []Header{{Name: "content-type", Value: "application/json"}, {Name: "X-Client-Id", Value: "c${user}"}, {Name: "host", Value: "w${worker}.example"}},
		}, {Name: "read", Weight: 1, Method: "GET", Path: "/", Headers: []Header{{Name: "Accept", Value: "any"}}}},
	})
	var b Buffer
	s.Render(&b, 0, Vars{User: 4, Seq: 99, Worker: 2})
	want := transport.Request{
		Method: "POST", Path: []byte("/urls?u=4"), Body: []byte(`{"n":99}`), Host: []byte("w2.example"),
		Headers: []transport.Header{{Name: "Content-Type", Value: []byte("application/json")}, {Name: "X-Client-Id", Value: []byte("c4")}},
	}
	same.As(t, "request", want, b.Request)
	if string(b.Client) != "c4" {
		t.Errorf("client %q, want c4", b.Client)
	}

	// The second request has nothing left of the first.
	s.Render(&b, 1, Vars{})
	want = transport.Request{Method: "GET", Path: []byte("/"), Body: []byte{}, Headers: []transport.Header{{Name: "Accept", Value: []byte("any")}}}
	same.As(t, "next request", want, b.Request)
	if len(b.Client) != 0 {
		t.Errorf("client %q of a request without the header, want none", b.Client)
	}
}

// When the text grows, the parts that were rendered before stay valid.
func TestRenderKeepsEarlierPartsWhenItGrows(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	s := mustNew(t, Config{Requests: []Request{{
		Name: "a", Weight: 1, Method: "PUT", Path: "/${user}", Body: long,
		Headers: []Header{{Name: "A", Value: long + "${seq}"}, {Name: "B", Value: "${worker}"}},
	}}})
	var b Buffer
	s.Render(&b, 0, Vars{User: 1, Seq: 2, Worker: 3})
	r := b.Request
	if string(r.Path) != "/1" || string(r.Body) != long || string(r.Headers[0].Value) != long+"2" || string(r.Headers[1].Value) != "3" {
		t.Errorf("path %q, body of %d, headers of %d and %q", r.Path, len(r.Body), len(r.Headers[0].Value), r.Headers[1].Value)
	}
}

func TestMixIsExactOverUsersAndTime(t *testing.T) {
	var requests []Request
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		requests = append(requests, Request{Name: name, Weight: 1, Method: "GET", Path: "/"})
	}
	s := mustNew(t, Config{Requests: requests})
	counts := make([]int, s.Len())
	for user := range int64(25) {
		for k := range int64(6) {
			counts[s.RequestOf(user, k)]++
		}
	}
	same.As(t, "25 users with 6 requests each", []int{30, 30, 30, 30, 30}, counts)
}

// The mix is exact over all workers after each cycle, and each worker sends all of it, of requests and of sessions.
func TestEachWorkerSendsAllOfTheMix(t *testing.T) {
	requests := []Request{{Name: "a", Weight: 3, Method: "GET", Path: "/"}, {Name: "b", Weight: 1, Method: "GET", Path: "/"}}
	journeys := []Journey{{Name: "j", Weight: 2, Steps: []JourneyStep{{Request: 1, Times: 1}}}}
	for workers := range int64(12) {
		workers++
		s := mustNew(t, Config{Requests: requests, Journeys: journeys, Workers: int32(workers)})
		all, own := make([]int, 3), make([][]int, workers)
		for i := range own {
			own[i] = make([]int, 3)
		}
		walk := s.NewWalk(0, 0, 1)
		for n := range 60 * workers {
			item := s.RequestOf(s.Position(n), 0)
			all[item]++
			own[n%workers][item]++
			if n%6 == 5 {
				same.As(t, fmt.Sprintf("%d of %d workers", n+1, workers), []int{int(n+1) / 2, int(n+1) / 6, int(n+1) / 3}, all)
			}
			if walk.Begin(n, n); walk.place.request != s.FirstOf(item) {
				t.Errorf("session %d of %d workers begins with request %d, not with item %d", n, workers, walk.place.request, item)
			}
		}
		for worker, counts := range own {
			same.As(t, fmt.Sprintf("worker %d of %d", worker, workers), []int{30, 10, 20}, counts)
		}
	}
}

func TestExpected(t *testing.T) {
	s := mustNew(t, Config{Requests: []Request{
		{Name: "default", Weight: 1, Method: "GET", Path: "/"},
		{Name: "listed", Weight: 1, Method: "GET", Path: "/", Expect: Expectation{Status: []int32{404, 429}}},
	}})
	tests := []struct {
		request, status int
		want            bool
	}{
		{0, 199, false}, {0, 200, true}, {0, 299, true}, {0, 300, false}, {0, 302, false}, {0, 400, false}, {0, 429, false},
		{1, 200, false}, {1, 404, true}, {1, 429, true}, {1, 500, false},
	}
	for _, tt := range tests {
		if got := s.Expected(tt.request, tt.status); got != tt.want {
			t.Errorf("Expected(%s, %d) = %v, want %v", s.Name(tt.request), tt.status, got, tt.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(*Request)
		want   string
	}{
		"an unknown variable in the body": {func(r *Request) { r.Body = "${foo}" }, `request "r": body: unknown variable ${foo}; known are`},
		"one in a body that is not shown": {func(r *Request) { r.Body, r.BodyHidden = "${seq}, $$5: ${top secret}", true },
			`request "r": body: the $ at 13 does not begin any of ${user}, ${seq}, ${worker}, ${uuid}, ${rand:a-b}; write $$ for a dollar sign`},
		"one in the path of such a request":  {func(r *Request) { r.Path, r.BodyHidden = "/${foo}", true }, `request "r": path: unknown variable ${foo}`},
		"one in the path":                    {func(r *Request) { r.Path = "/${foo}" }, `request "r": path: unknown variable ${foo}`},
		"one in a header":                    {func(r *Request) { r.Headers = []Header{{Name: "X-A", Value: "${foo}"}} }, `request "r": header "X-A": unknown variable ${foo}`},
		"a path without a slash":             {func(r *Request) { r.Path = "a" }, `request "r": path: must begin with a slash`},
		"a space in the path":                {func(r *Request) { r.Path = "/a b" }, `request "r": path: the character at 2 must be percent-encoded`},
		"a line break in the path":           {func(r *Request) { r.Path = "/ HTTP/1.1\r\nX: y" }, `request "r": path: the character at 1 `},
		"a fragment":                         {func(r *Request) { r.Path = "/a#b" }, `request "r": path: the character at 2 `},
		"no method":                          {func(r *Request) { r.Method = "" }, `request "r": method: "" is not an HTTP method`},
		"a method with a space":              {func(r *Request) { r.Method = "GET /" }, `request "r": method: "GET /" is not an HTTP method`},
		"a header name with a space":         {func(r *Request) { r.Headers = []Header{{Name: "X A", Value: ""}} }, `request "r": header "X A": is not a header name`},
		"a line break in a header":           {func(r *Request) { r.Headers = []Header{{Name: "X", Value: "a\r\nB: c"}} }, `request "r": header "X": its value holds a control character`},
		"a length that follows from others":  {func(r *Request) { r.Headers = []Header{{Name: "content-length", Value: "5"}} }, `request "r": header "content-length": follows from the body; leave it out`},
		"a framing that follows from others": {func(r *Request) { r.Headers = []Header{{Name: "Transfer-encoding", Value: "chunked"}} }, `request "r": header "Transfer-encoding": follows from the body; leave it out`},
		"a weight below none":                {func(r *Request) { r.Weight = -1 }, `request "r": weight: must be at least 0, is -1`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bad := Request{Name: "r", Weight: 1, Method: "GET", Path: "/"}
			tt.change(&bad)
			good := Request{Name: "good", Weight: 1, Method: "GET", Path: "/"}
			_, err := New(Config{Requests: []Request{good, bad}})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v, want …%s…", err, tt.want)
			}
		})
	}
	if _, err := New(Config{Requests: []Request{{Name: "r", Method: "GET", Path: "/"}}}); err == nil || !strings.Contains(err.Error(), "at least one request must have one above 0") {
		t.Errorf("New without any weight = %v", err)
	}
	if _, err := New(Config{}); err == nil {
		t.Error("New without requests = nil, want an error")
	}
}

func TestNewNamesEveryMistake(t *testing.T) {
	_, err := New(Config{Requests: []Request{{Name: "a", Weight: 1, Method: "GET", Path: "x"}, {Name: "b", Weight: 1, Method: "GET", Path: "/", Body: "$"}}})
	if err == nil || !strings.Contains(err.Error(), `"a"`) || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("New = %v, want both requests named", err)
	}
}

func TestRenderAllocatesNothing(t *testing.T) {
	s := mustNew(t, Config{Seed: 1, Tables: []*Table{rows(t, Zipf, "code", "x", "y")}, Requests: []Request{{
		Name: "a", Weight: 1, Method: "POST", Path: "/${user}/${code}", Body: "${uuid} ${rand:1-9}", Headers: []Header{{Name: "X", Value: "${seq}"}},
	}}})
	var b Buffer
	s.Render(&b, 0, Vars{})
	if n := testing.AllocsPerRun(100, func() { s.Render(&b, 0, Vars{User: 5, Seq: 6}) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
	if size := cap(b.text); size > 256 {
		t.Errorf("a request of some 50 bytes takes %d after 100 of them", size)
	}
}

// A header of the user's and that of the trace would both be sent, and a tracer would take
// neither.
func TestNewRefusesATraceHeaderBesideTraces(t *testing.T) {
	targets := func(names ...string) *Targets {
		t.Helper()
		all := &Targets{}
		for _, name := range names {
			must.Succeed(t, all.Add(Target{Method: "GET", Path: "/", Headers: []Header{{Name: name, Value: "1"}}}))
		}
		return all
	}
	for want, r := range map[string]Request{
		`request "own": header "traceParent": is sent for target.trace`:           {Name: "own", Method: "GET", Path: "/", Headers: []Header{{Name: "traceParent", Value: "00"}}},
		`request "own": header "traceparent": is sent for target.trace`:           {Name: "own", Targets: targets("Accept"), Headers: []Header{{Name: "traceparent", Value: "00"}}},
		`request "file": targets: header "Traceparent": is sent for target.trace`: {Name: "file", Targets: targets("Accept", "TraceParent")},
	} {
		r.Weight = 1
		if _, err := New(Config{Requests: []Request{r}}); err != nil {
			t.Errorf("without traces: %v", err)
		}
		if _, err := New(Config{Requests: []Request{r}, Traced: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want …%s…", err, want)
		}
	}
}
