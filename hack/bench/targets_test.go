package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestFileSystemIsThatOfTheInnermostMount(t *testing.T) {
	mounts := []byte(`/dev/vdz /
/dev/vda / ext4 rw 0 0
proc /proc proc rw 0 0
tmpfs /tmp tmpfs rw 0 0
/dev/vdb /tmp/disk xfs rw 0 0
overlay /var overlay rw 0 0
/dev/vdc /var btrfs rw 0 0
`)
	tests := map[string]string{
		"/home/x": "ext4", "/tmp/bench": "tmpfs", "/tmp": "tmpfs", "/tmp/disk/bench": "xfs", "/tmp/diskette": "tmpfs", "/tmpfolder": "ext4",
		"/var/tmp": "btrfs", // mounted over another
	}
	for folder, want := range tests {
		same.As(t, "file system of "+folder, want, fileSystem(mounts, folder))
	}
	same.As(t, "without mounts", "unknown", fileSystem(nil, "/"))
}

func TestRatesOfLoopsAreReadBySize(t *testing.T) {
	const out = `goos: linux
BenchmarkPlainInsert/transaction=1     	    5138	    258110 ns/op	      3874 events/s
BenchmarkPlainInsert/transaction=256 	  500000	      9563 ns/op	    104573.5 events/s
PASS
`
	got, err := loopRates(out)
	must.Succeed(t, err)
	same.As(t, "rates", map[int]float64{1: 3874, 256: 104573.5}, got)
	for name, bad := range map[string]string{
		"another size": strings.ReplaceAll(out, "=256 ", "=25 "), "no number": strings.ReplaceAll(out, "3874", "many"), "no single ones": strings.ReplaceAll(out, "=1 ", "=2 "),
		"no size": strings.ReplaceAll(out, "=1 ", "=x "), "nothing": "PASS\n",
	} {
		if got, err := loopRates(bad); err == nil {
			t.Errorf("%s was taken for %v", name, got)
		}
	}
}

func TestSeriesAreFoundByTheirWholeName(t *testing.T) {
	page := []byte("# TYPE hits_total counter\nhits_total 12\nhits_total_more 3\nodd x\n")
	if got, err := series(page, "hits_total"); err != nil || got != 12 {
		t.Errorf("hits_total = %v, %v; want 12", got, err)
	}
	for _, name := range []string{"hits", "odd"} {
		if got, err := series(page, name); err == nil {
			t.Errorf("%s = %v, want an error", name, got)
		}
	}
}

// A reply is learned as it is said to the generator; what it should not be is an
// error.
func TestReplyIsLearnedOrRefused(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "" || r.URL.Path != "/a" {
			w.WriteHeader(http.StatusTeapot)
			_, _ = w.Write([]byte("not me\n"))
			return
		}
		http.Redirect(w, r, "https://example.com/", http.StatusFound)
	}))
	t.Cleanup(s.Close)
	t.Cleanup(asker.CloseIdleConnections)
	q := question{method: "POST", example: "/a", body: "x", status: 302}
	got, err := probe(t.Context(), s.URL, q)
	want := reply{Status: 302, Header: http.Header{"Location": {"https://example.com/"}}, Body: []byte{}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("reply (-want +got), %v:\n%s", err, diff)
	}
	q.example = "/b"
	if _, err := probe(t.Context(), s.URL, q); err == nil || err.Error() != "POST /b = 418 I'm a teapot not me, want 302" {
		t.Errorf("another reply = %v, want an error that says what it is", err)
	}
}

// The service receives exactly the configured requests.
func TestServicesReceiveTheirOwnRequests(t *testing.T) {
	e := entry{question: appendOne, connections: 7, of: &service{url: "http://x"}}
	a, err := assignment(e.loadTest(time.Second), 0)
	must.Succeed(t, err)
	var event struct{ Type string }
	if err := json.Unmarshal(a.GetRequests()[0].GetBody(), &event); err != nil || event.Type != "order.created" {
		t.Errorf("the body is %s, %v; want an event", a.GetRequests()[0].GetBody(), err)
	}
	if len(a.GetRequests()) != 1 || len(a.GetRequests()[0].GetHeaders()) != 1 || a.GetSteps()[0].GetShare().GetCount() != 7 {
		t.Errorf("assignment is %v, want one request with one header, of 7 users", a)
	}
	e.question = visit
	if got := e.loadTest(time.Second).Spec.Requests[0]; got.HTTP.Path != "/000${rand:100-999}" || len(got.HTTP.Headers) != 0 {
		t.Errorf("request is %v, want one of the hot links and no header", got)
	}
}

// struck is a hit of so many requests in a second, that kept so much of its core
// busy.
func struck(requests int64, busy time.Duration) hit {
	var h hit
	h.counters = groundtruth.Counters{Requests: requests + 1, First: 1, Last: 1 + int64(time.Second)}
	h.server.CPU = busy
	return h
}

// someResults are of three rounds; rows that wait have no busy core.
func someResults() targetResults {
	r := targetResults{hits: map[key][]hit{}, plain: map[int][]float64{1: {18_000, 2000, 1}, grouped: {900_000, 100_000, 1}}, fileSystem: "ext4"}
	bare := entry{name: bareRedirect, connections: connections}.key().name
	for _, row := range []struct {
		entry
		rate int64
	}{
		{entry{name: bareRedirect, connections: connections}, 50_000},
		{entry{name: cachedRedirect, connections: connections, bare: bare, behind: &service{}}, 33_000},
		{entry{name: bareAppend, connections: grouped}, 40_000},
		{entry{name: durableAppend, connections: 64, waits: true}, 1},
		{entry{name: durableAppend, connections: grouped, waits: true}, 25_000},
		{entry{name: bareTake, connections: connections}, 40_000},
		{entry{name: limiterTake, connections: connections}, 10_000},
	} {
		busy := time.Second
		if row.waits {
			busy /= 2
		}
		r.entries = append(r.entries, row.entry)
		r.hits[row.key()] = []hit{struck(row.rate*9, busy), struck(row.rate, busy), struck(1, busy)}
	}
	return r
}

func TestTargetsAreComparedWithTheirBareServers(t *testing.T) {
	want := "bench-targets: redirect-vs-bare=0.66 redirect-vs-bare-cpu=0.66 append-per-s=25000 append-vs-sqlite=12.50 append-vs-sqlite-by-256=0.25" +
		" append-vs-bare=0.62 append-vs-bare-cpu=1.25 limiter-vs-bare=0.25 limiter-vs-bare-cpu=0.25"
	if got := someResults().lastLine(); got != want {
		t.Errorf("last line\n%s\nwant\n%s", got, want)
	}
}

// The report compares with what it should, and says when it cannot be trusted.
func TestReportOfTargetsSaysWhenItIsInDoubt(t *testing.T) {
	const doubt = "Do not trust this run"
	var out strings.Builder
	b := &bench{options: options{rounds: 3}, out: &out}
	r := someResults()
	r.write(b, 4*time.Second)
	for _, want := range []string{"(ext4, synchronous=full)", "33000 (1..297000) | 0.66   | 30.30      | 0.66         | 1.00  | 0.00 ", "Redirects are of 900\nlinks", "| 256                    | 100000 (1..900000)  | 0.25 "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report does not contain %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), doubt) {
		t.Errorf("a run that nothing disturbed is doubted:\n%s", out.String())
	}
	for _, hits := range r.hits {
		for i := range hits {
			hits[i].server.CPU /= 2
		}
	}
	out.Reset()
	r.write(b, 4*time.Second)
	if !strings.Contains(out.String(), doubt) || strings.Contains(out.String(), durableAppend+" at 64,") {
		t.Errorf("a run on busy cores is not doubted, or for a row that waits for the disk:\n%s", out.String())
	}
}
