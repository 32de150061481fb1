// The race detector looks at the tests of this file, too: pages are sent events while runs change.

package ui_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/uitest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const (
	secret = "the-secret-of-the-test"
	host   = "127.0.0.1:4711"
)

// site is the pages of a backend.
type site struct {
	handler http.Handler
	backend *uitest.Backend
	config  ui.Config
}

func newSite() *site {
	known := runs.NewCollection()
	backend := &uitest.Backend{Runs: known}
	c := ui.Config{Runs: known, Backend: backend, Scope: "namespace shop", Cluster: true, Report: html.Report, Now: func() time.Time { return uitest.Now }}
	return &site{ui.New(c, secret, host), backend, c}
}

// ask sends a request as a browser on the page would, with headers as name and value.
func (s *site) ask(method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://"+host+path, nil)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// get is the page of a path below the secret.
func (s *site) get(t *testing.T, path string) string {
	t.Helper()
	w := s.ask(http.MethodGet, "/"+secret+path)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d\n%s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

func TestOnlyWhoKnowsTheSecretIsAnswered(t *testing.T) {
	s := newSite()
	uitest.Fill(t, s.backend, 3)
	stop := "/" + secret + "/stop/shop/checkout-now"
	for name, tt := range map[string]struct {
		method, path string
		headers      []string
		want         int
	}{
		"the list":                   {"GET", "/" + secret + "/", nil, 200},
		"without a slash":            {"GET", "/" + secret, nil, 303},
		"no secret":                  {"GET", "/", nil, 404},
		"another secret":             {"GET", "/the-secret-of-the-tesT/", nil, 404},
		"a part of it":               {"GET", "/the-secret/", nil, 404},
		"more than it":               {"GET", "/" + secret + "x/", nil, 404},
		"events without it":          {"GET", "/events?page=/", nil, 404},
		"a style without it":         {"GET", "/style.css", nil, 404},
		"another host":               {"GET", "/" + secret + "/", []string{"Host", "evil.example:4711"}, 421},
		"another port":               {"GET", "/" + secret + "/", []string{"Host", "127.0.0.1:80"}, 421},
		"no host":                    {"GET", "/" + secret + "/", []string{"Host", ""}, 421},
		"another method":             {"DELETE", "/" + secret + "/run/shop/checkout-now", nil, 405},
		"a write by GET":             {"GET", stop, nil, 200}, // it asks
		"a form of another site":     {"POST", stop, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"a form of the same machine": {"POST", stop, []string{"Sec-Fetch-Site", "same-site"}, 403},
		"a form of nobody":           {"POST", stop, []string{"Sec-Fetch-Site", ""}, 403},
		"a typed address":            {"POST", stop, []string{"Sec-Fetch-Site", "none"}, 403},
		"another origin":             {"POST", stop, []string{"Origin", "http://evil.example"}, 403},
		"another origin alone":       {"POST", stop, []string{"Sec-Fetch-Site", "", "Origin", "http://evil.example"}, 403},
		"null alone":                 {"POST", stop, []string{"Sec-Fetch-Site", "", "Origin", "null"}, 403},
		"a write without the secret": {"POST", "/stop/shop/checkout-now", nil, 404},
		"a write to a page":          {"POST", "/" + secret + "/run/shop/checkout-now", nil, 404},
		"a way out of the path":      {"GET", "/" + secret + "/run/../../etc/passwd", nil, 404},
		"a broken path":              {"GET", "/" + secret + "/run/shop/%2e%2e", nil, 404},
	} {
		w := s.ask(tt.method, tt.path, tt.headers...)
		same.As(t, name, tt.want, w.Code)
		for header, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		} {
			if got := w.Header().Get(header); !strings.Contains(got, want) {
				t.Errorf("%s: header %s is %q, want %q", name, header, got, want)
			}
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %q", name, policy)
		}
		if w.Code >= 400 && w.Code != 404 && strings.Contains(w.Body.String(), secret) {
			t.Errorf("%s: the answer has the secret", name)
		}
	}
	if done := s.backend.Noted(); done != nil {
		t.Errorf("%q were done, want nothing", done)
	}
}

func TestListenTakesALoopbackAddress(t *testing.T) {
	urls := map[string]bool{}
	for range 2 {
		known := runs.NewCollection()
		server, err := ui.Listen(0, ui.Config{Runs: known, Backend: &uitest.Backend{Runs: known}, Now: time.Now})
		must.Succeed(t, err)
		found := regexp.MustCompile(`^http://127\.0\.0\.1:\d+/([A-Za-z0-9_-]{32})/$`).FindStringSubmatch(server.URL)
		if found == nil || urls[found[1]] {
			t.Fatalf("the URL is %s, want one of the loopback address with a new secret of 192 bits", server.URL)
		}
		urls[found[1]] = true
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(ctx) }()
		resp, err := http.Get(server.URL + "style.css")
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%v, %v", resp, err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestWritesAreAskedAboutFirst(t *testing.T) {
	s := newSite()
	uitest.Fill(t, s.backend, 3)
	for _, tt := range []struct{ path, question, done, to string }{
		{"/stop/shop/checkout-now", "Stop checkout-now?", "stop shop/checkout-now", "/run/shop/checkout-now"},
		{"/again/shop/nightly-1", "Run nightly-1 again?", "again shop/nightly-1", "/run/shop/nightly-1-abcde"},
		{"/stop", "Stop all that run?", "stop shop/nightly-1-abcde, stop shop/checkout-now", "/"},
	} {
		question := s.get(t, tt.path)
		if !strings.Contains(question, tt.question) || !strings.Contains(question, `<form class="question" method="post" action="/`+secret+tt.path+`"`) {
			t.Errorf("%s: there is no question:\n%s", tt.path, question)
		}
		before := len(s.backend.Noted())
		w := s.ask(http.MethodPost, "/"+secret+tt.path, "Origin", "null")
		if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != "/"+secret+tt.to {
			t.Errorf("%s: %d to %s, want %s", tt.path, w.Code, got, tt.to)
		}
		if got := strings.Join(s.backend.Noted()[before:], ", "); got != tt.done {
			t.Errorf("%s: %q was done, want %q", tt.path, got, tt.done)
		}
	}
	s.backend.Err = apierrors.NewForbidden(schema.GroupResource{Resource: "loadtests"}, "checkout-now", errors.New("you may not patch"))
	w := s.ask(http.MethodPost, "/"+secret+"/stop/shop/checkout-now", "Origin", "http://"+host)
	if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "you may not patch") {
		t.Errorf("without the right: %d\n%s", w.Code, w.Body)
	}
}

// Nothing that a person or a target writes becomes markup, on any page.
func TestHostileTextsStayText(t *testing.T) {
	s := newSite()
	lt := uitest.WithErrors(t, "hostile", uitest.Hostile)
	other := uitest.WithErrors(t, "hostile-2", uitest.Hostile)
	strange := uitest.Running(t, 4)
	strange.Namespace, strange.Name, strange.UID = uitest.Hostile, uitest.Hostile, "strange"
	schedule := uitest.Schedule()
	schedule.Name, schedule.Status.Summary.Schedule = uitest.Hostile, uitest.Hostile
	s.backend.Put(lt)
	s.backend.Put(other)
	s.backend.Put(strange)
	s.backend.Runs.PutSchedule(schedule)
	s.backend.Runs.Trouble("LoadTests", uitest.Hostile)
	s.backend.Runs.Complete()
	hostile := url.PathEscape(uitest.Hostile)
	for _, path := range []string{
		"/", "/?text=" + url.QueryEscape(uitest.Hostile), "/run/shop/hostile", "/run/shop/hostile/step/2", "/run/shop/hostile/step/2/request/1", "/run/" + hostile + "/" + hostile,
		"/run/" + hostile + "/" + hostile + "/step/1", "/history/shop/" + hostile, "/history/shop/hostile", "/compare?run=shop/hostile&run=shop/hostile-2", "/stop/" + hostile + "/" + hostile, "/run/shop/hostile/report.html",
	} {
		got := s.get(t, path)
		for _, markup := range []string{"<script>document", "<img", "</title><script>", `"onerror`, "'onerror"} {
			if strings.Contains(got, markup) {
				t.Errorf("%s has %s", path, markup)
			}
		}
		if !strings.Contains(got, "document.body.innerHTML") && !strings.Contains(path, "step/1") && !strings.HasPrefix(path, "/history/shop/hostile") {
			t.Errorf("%s does not show the text at all", path)
		}
	}
	w := s.ask(http.MethodGet, "/"+secret+"/run/"+hostile+"/"+hostile+"/report.html")
	if got := w.Header().Get("Content-Disposition"); !regexp.MustCompile(`^attachment; filename="[A-Za-z0-9_.-]+\.html"$`).MatchString(got) {
		t.Errorf("the file is called %s", got)
	}
}

func TestDrillDown(t *testing.T) {
	s := newSite()
	s.backend.Put(uitest.WithErrors(t, "checkout", "upstream connect error"))
	s.backend.Runs.Complete()
	at := "/run/shop/checkout"
	for _, tt := range []struct{ link, shows string }{
		{at + "/step/2", "Requests"}, {at + "/step/2/request/1", "no answer within 2s"}, {"", "4bf92f3577b34da6a3ce929d0e0e4736"},
	} {
		got := s.get(t, at)
		if tt.link != "" && !strings.Contains(got, `href="/`+secret+tt.link+`"`) {
			t.Fatalf("%s does not lead to %s", at, tt.link)
		}
		if tt.link != "" {
			at = tt.link
			got = s.get(t, at)
		}
		if !strings.Contains(got, tt.shows) {
			t.Errorf("%s does not show %s", at, tt.shows)
		}
	}
	for _, missing := range []string{"/run/shop/checkout/step/9", "/run/shop/checkout/step/-1", "/run/shop/checkout/step/x", "/run/shop/checkout/step/2/request/7", "/run/shop/other", "/history/shop/none", "/nothing"} {
		if w := s.ask(http.MethodGet, "/"+secret+missing); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", missing, w.Code)
		}
	}
}

func TestCompare(t *testing.T) {
	s := newSite()
	uitest.Fill(t, s.backend, 12)
	got := s.get(t, "/compare?run=shop/nightly-1&run=shop/nightly-2")
	for _, want := range []string{"Figures by step", "nightly-1", "nightly-2", "Difference", "<svg"} {
		if !strings.Contains(got, want) {
			t.Errorf("the comparison has no %s", want)
		}
	}
	staged := uitest.Finished(t, 1, time.Minute, 100, 500)
	staged.Namespace, staged.UID = "staging", "staged"
	s.backend.Put(staged)
	if got := s.get(t, "/compare?run=staging/nightly-1&run=shop/nightly-1"); !strings.Contains(got, "<h1>shop/nightly-1, staging/nightly-1</h1>") || !strings.Contains(got, `<th scope="row">staging/nightly-1</th>`) {
		t.Error("runs of the same name do not have their namespaces")
	}
	many := "&run=shop/nightly-1&run=shop/nightly-1"
	for n := range 11 {
		many += fmt.Sprintf("&run=shop/nightly-%d", n)
	}
	for query, want := range map[string]int{"": 400, "?run=shop/nightly-1&run=shop/nightly-1": 400, "?x" + many: 400, "?run=shop/nightly-1&run=shop/checkout-now": 409, "?run=shop/nightly-1&run=shop/no": 404, "?run=&run=/": 404} {
		if w := s.ask(http.MethodGet, "/"+secret+"/compare"+query); w.Code != want {
			t.Errorf("compare%s: %d, want %d", query, w.Code, want)
		}
	}
}

func TestExport(t *testing.T) {
	s := newSite()
	lt := uitest.Finished(t, 1, time.Hour, 100, 500)
	s.backend.Put(lt)
	s.backend.Runs.Complete()
	w := s.ask(http.MethodGet, "/"+secret+"/run/shop/nightly-1/report.html")
	archived, _ := s.backend.Results(t.Context(), lt)
	want, err := html.Report(lt, archived)
	if err != nil || !bytes.Equal(w.Body.Bytes(), want) {
		t.Errorf("the file is not the one that report -o html writes (%v)", err)
	}
	if got := w.Header().Get("Content-Disposition"); got != `attachment; filename="nightly-1.html"` {
		t.Errorf("disposition %s", got)
	}
	if strings.Contains(w.Body.String(), secret) {
		t.Error("the file has the secret")
	}
}

// Results that could not be read for one reader, who went away meanwhile, are read again for the next.
func TestResultsThatCouldNotBeReadAreReadAgain(t *testing.T) {
	s := newSite()
	s.backend.Put(uitest.Finished(t, 1, time.Hour, 100, 500))
	s.backend.Runs.Complete()
	gone, leave := context.WithCancel(t.Context())
	leave()
	const path = "/run/shop/nightly-1"
	s.handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, http.MethodGet, "http://"+host+"/"+secret+path, nil))
	if got := s.get(t, path); strings.Contains(got, "No plots over time") || !strings.Contains(got, "Rate over time") {
		t.Error("the page of the next reader lacks the results")
	}
}

// The page of a run leads to the pages of its loads and back, and the file has the reports of all loads that are
// there. Loads are compared, and no run that has them.
func TestLoadsOfARun(t *testing.T) {
	s := newSite()
	lt, one := reporttest.Read(t, "../report/testdata/loads.yaml"), uitest.Finished(t, 1, time.Hour, 100, 500)
	one.Namespace, one.Name, one.UID, one.Labels = lt.Namespace, "sale-readers", "a", nil
	one.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(lt, v1beta1.GroupVersion.WithKind("LoadTest"))}
	lt.Status.Conditions = append(lt.Status.Conditions, metav1.Condition{Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue})
	s.backend.Put(lt)
	s.backend.Put(one)
	s.backend.Runs.Complete()
	if page := s.get(t, "/run/default/sale"); !strings.Contains(page, `href="/`+secret+`/run/default/sale-readers"`) {
		t.Error("the page does not lead to that of the load")
	}
	if page := s.get(t, "/run/default/sale-readers"); !strings.Contains(page, `href="/`+secret+`/run/default/sale">Load of sale</a>`) {
		t.Error("the page of the load does not lead to that of the run")
	}
	w := s.ask(http.MethodGet, "/"+secret+"/compare?run=default/sale&run=default/sale-readers")
	if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "LoadTest sale sends several loads, and each has steps of its own: mark the LoadTests of its loads, such as sale-readers.") {
		t.Errorf("compare: %d\n%s", w.Code, w.Body)
	}
	want, err := html.Report(lt, reporttest.Archived(one), one)
	must.Succeed(t, err)
	same.As(t, "the file", string(want), s.get(t, "/run/default/sale/report.html"))
}

// opened is an open page.
type opened struct {
	header http.Header
	mu     sync.Mutex
	data   bytes.Buffer
}

func (o *opened) Header() http.Header { return o.header }
func (o *opened) WriteHeader(int)     {}
func (o *opened) Flush()              {}
func (o *opened) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.data.Write(p)
}

// took are the names of the parts that came since it was called last, and what else did.
func (o *opened) took(t *testing.T) string {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	var list []string
	event := ""
	lines := bufio.NewScanner(&o.data)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			event = name
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var part struct{ Name string }
			if event == "part" {
				must.Succeed(t, json.Unmarshal([]byte(data), &part))
			}
			list = append(list, strings.TrimSpace(event+" "+part.Name))
		}
	}
	o.data.Reset()
	return strings.Join(list, ", ")
}

// open opens a page that shows the parts of the one that was loaded.
func (s *site) open(t *testing.T, path string) *opened {
	t.Helper()
	var have []string
	for _, found := range regexp.MustCompile(`id="part-(\w+)" data-digest="(\w+)"`).FindAllStringSubmatch(s.get(t, path), -1) {
		have = append(have, found[1]+":"+found[2])
	}
	query := url.Values{"page": {path}, "have": {strings.Join(have, ",")}}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+"/"+secret+"/events?"+query.Encode(), nil)
	o := &opened{header: http.Header{}}
	go s.handler.ServeHTTP(o, r)
	return o
}

// An open page gets the parts that changed, at most once a second, and no others.
func TestOpenPagesGetWhatChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		uitest.Fill(t, s.backend, 3)
		run, again, list := s.open(t, "/run/shop/checkout-now"), s.open(t, "/run/shop/checkout-now"), s.open(t, "/")
		expect := func(when string, o *opened, want string) {
			t.Helper()
			synctest.Wait()
			same.As(t, when, want, o.took(t))
		}
		expect("at first", run, "")
		expect("at first, the list", list, "")
		<-time.After(time.Minute)
		expect("after a minute in which nothing happened", run, "")

		for seconds := 7; seconds < 12; seconds++ { // five updates at once
			lt := uitest.Running(t, seconds)
			lt.Status.Summary.P95 = fmt.Sprintf("%dms", seconds)
			lt.Status.Steps[1].ReportedUntil.Time = uitest.Now.Add(time.Duration(seconds-6) * 1500 * time.Millisecond)
			s.backend.Put(lt)
		}
		<-time.After(time.Second)
		synctest.Wait()
		got := run.took(t)
		for _, want := range []string{"part clock", "part figures", "part failing"} {
			if strings.Count(got, want) != 1 {
				t.Errorf("after updates: %q, want %s once", got, want)
			}
		}
		if strings.Contains(got, "verdict") || strings.Contains(got, "troubles") {
			t.Errorf("after updates: %q has what did not change", got)
		}
		if other := again.took(t); other != got {
			t.Errorf("another browser got %q", other)
		}
		expect("after updates, the list", list, "part now")

		s.backend.Runs.Trouble("LoadTests", "Not up to date, trying again: no route to host")
		<-time.After(time.Second)
		expect("when the API server is gone", run, "part troubles")

		s.backend.Runs.Remove(runs.Key{Namespace: "shop", Name: "checkout-now"})
		<-time.After(time.Second)
		expect("when the run was deleted", run, "gone")
		<-time.After(time.Second)
		expect("when the run was deleted, the list", list, "part troubles, part counts, part now")
	})
}

// A page that was away gets what it missed, and nothing else.
func TestReconnectedPageGetsWhatItMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		uitest.Fill(t, s.backend, 1)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+"/"+secret+"/events?page=/&have=counts:0000000000000000", nil)
		o := &opened{header: http.Header{}}
		go s.handler.ServeHTTP(o, r)
		synctest.Wait()
		if got := o.took(t); !strings.Contains(got, "part counts") || !strings.Contains(got, "part ended") {
			t.Errorf("%q, want all parts that the page does not have", got)
		}
		<-time.After(time.Minute)
		if got := o.took(t); got != "" {
			t.Errorf("%q came although nothing changed", got)
		}
	})
}

// Pages beyond a bound are refused, and a place is free again when one is closed.
func TestOpenPagesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		uitest.Fill(t, s.backend, 1)
		ctx, cancel := context.WithCancel(t.Context())
		for range 64 {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/"+secret+"/events?page=/", nil)
			go s.handler.ServeHTTP(&opened{header: http.Header{}}, r)
		}
		synctest.Wait()
		if w := s.ask(http.MethodGet, "/"+secret+"/events?page=/"); w.Code != http.StatusServiceUnavailable {
			t.Errorf("page 65: %d, want 503", w.Code)
		}
		cancel()
		synctest.Wait()
		s.open(t, "/")
	})
}

func TestHistoryNamesTheLatestChangeOfALevel(t *testing.T) {
	s := newSite()
	uitest.Fill(t, s.backend, 3)
	schedule := uitest.Schedule()
	schedule.Status.Summary.Level = "p99 +30% since nightly-2"
	s.backend.Runs.PutSchedule(schedule)
	if page := s.get(t, "/history/"+schedule.Namespace+"/"+schedule.Name); !strings.Contains(page, "p99 &#43;30% since nightly-2") {
		t.Errorf("the history does not name it:\n%s", page)
	}
}

// A page is written anew when its own run has changed. Those of other runs cost it nothing, and the
// time changes the clock alone.
func TestPagesOfOtherRunsAreNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		var asked, later atomic.Int64 // later is by how many seconds
		s.config.Now = func() time.Time {
			asked.Add(1)
			return uitest.Now.Add(time.Duration(later.Load()) * time.Second)
		}
		s.handler = ui.New(s.config, secret, host)
		uitest.Fill(t, s.backend, 3)
		ended := s.open(t, "/run/shop/nightly-1")
		<-time.After(2 * time.Second)
		before := asked.Load()
		for second := range 20 {
			s.backend.Put(uitest.Running(t, 8+second))
			<-time.After(time.Second)
		}
		if n := asked.Load() - before; n != 0 {
			t.Errorf("the page of a run that ended was written %d times while another ran", n)
		}
		if got := ended.took(t); got != "" {
			t.Errorf("it got %q", got)
		}
		s.backend.Put(uitest.Running(t, 1))
		running := s.open(t, "/run/shop/checkout-now")
		<-time.After(1500 * time.Millisecond)
		running.took(t)
		for range 5 {
			s.backend.Put(uitest.Finished(t, 1, time.Hour, 100))
			later.Add(1)
			<-time.After(time.Second)
		}
		if got := running.took(t); got != strings.TrimSuffix(strings.Repeat("part clock, ", 5), ", ") {
			t.Errorf("while another run changed, the page of a run got %q", got)
		}
	})
}
