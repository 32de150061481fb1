package ui

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/uitest"
	"github.com/loadtest-dev/loadtest-operator/test/browser"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

var pictures = flag.String("pictures", "", "folder to write pictures of the pages to")

const secret = "the-secret-of-the-test"

// site is the pages, on a port that they can leave and come back to.
type site struct {
	t       *testing.T
	backend *uitest.Backend
	handler http.Handler
	address string
	server  *http.Server
	serving sync.WaitGroup
}

func newSite(t *testing.T, finished int) *site {
	t.Helper()
	known := runs.NewCollection()
	s := &site{t: t, backend: &uitest.Backend{Runs: known}, address: "127.0.0.1:0"}
	uitest.Fill(t, s.backend, finished)
	s.listen()
	config := ui.Config{Runs: known, Backend: s.backend, Scope: "namespace shop", Cluster: true, Report: html.Report, Now: func() time.Time { return uitest.Now }}
	s.handler = ui.New(config, secret, s.address)
	t.Cleanup(s.leave)
	return s
}

func (s *site) listen() {
	s.t.Helper()
	listener, err := net.Listen("tcp", s.address)
	must.Succeed(s.t, err)
	s.address = listener.Addr().String()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }), ReadHeaderTimeout: time.Minute}
	s.server = server
	s.serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.t.Error(err)
		}
	})
}

// leave ends the server, and each connection with it.
func (s *site) leave() {
	_ = s.server.Close()
	s.serving.Wait()
}

func (s *site) url(path string) string { return "http://" + s.address + "/" + secret + path }

// update puts the running run some seconds further.
func (s *site) update(seconds int) {
	lt := uitest.Running(s.t, seconds)
	lt.Status.Steps[1].ReportedUntil = &metav1.MicroTime{Time: uitest.Now.Add(time.Duration(seconds-6) * time.Second)}
	s.backend.Put(lt)
}

// cancel ends the running run, as the operator does.
func (s *site) cancel() {
	lt := uitest.Running(s.t, 9)
	lt.Status.Phase, lt.Status.Verdict, lt.ResourceVersion = v1beta1.PhaseFinished, v1beta1.VerdictCanceled, "2000"
	lt.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue, Reason: "Canceled", Message: "spec.terminate ended the run."}}
	s.backend.Put(lt)
}

// checks are made one after another in one browser.
var checks = []struct {
	name string
	run  func(t *testing.T, b *browser.Browser)
}{
	{"a live run", liveRun},
	{"what a person does stays", whatStays},
	{"drill down", drillDown},
	{"compare", compare},
	{"stop, and run again", stopAndAgain},
	{"a connection that is lost", lostConnection},
	{"a page without its files", documentAlone},
	{"an API server that is away, and a run that is deleted", trouble},
	{"two browsers", twoBrowsers},
	{"hostile texts", hostile},
	{"a thousand runs", thousand},
	{"values on hover", hover},
	{"the keyboard", keyboard},
	{"names for a screen reader", names},
	{"400 pixels and dark", small},
	{"without a script", withoutScript},
}

func TestPages(t *testing.T) {
	b := browser.Start(t)
	for _, check := range checks {
		t.Run(check.name, func(t *testing.T) {
			check.run(t, b)
			if said := b.Errors(); len(said) > 0 {
				t.Errorf("the console says %q", said)
			}
		})
	}
}

const isLive = `document.getElementById("connection").textContent === "Live"`

func liveRun(t *testing.T, b *browser.Browser) {
	s := newSite(t, 8)
	tab := b.Open(t, s.url("/run/shop/checkout-now"))
	tab.Await(t, isLive)
	tab.Eval(t, `document.querySelector("#part-manifest section").mark = 1`, nil)
	for seconds := 7; seconds < 10; seconds++ {
		s.update(seconds)
		tab.Await(t, fmt.Sprintf(`document.querySelector("#part-failing tbody").innerText.includes("%d")`, 28*seconds))
	}
	tab.Await(t, `document.querySelector("#part-figures").innerText.includes("without the generator's own delay")`)
	var kept bool
	if tab.Eval(t, `document.querySelector("#part-manifest section").mark === 1`, &kept); !kept {
		t.Error("a part that did not change was replaced")
	}
	picture(t, tab, "run-live")
	s.cancel()
	tab.Await(t, `document.querySelector("#part-verdict .word").textContent === "Canceled"`)
	tab.Await(t, `document.querySelector("#part-figures").children.length === 0`)
	tab.Go(t, s.url("/run/shop/nightly-5"))
	picture(t, tab, "run-finished")
}

func whatStays(t *testing.T, b *browser.Browser) {
	s := newSite(t, 8)
	tab := b.Open(t, s.url("/"))
	tab.Await(t, isLive)
	tab.Eval(t, `document.querySelector("input[value='shop/nightly-3']").checked = true`, nil)
	tab.Eval(t, `document.querySelector("#part-ended a[href$='nightly-4']").focus()`, nil)
	s.backend.Put(uitest.Finished(t, 99, time.Minute, 100, 500))
	tab.Await(t, `document.querySelector("#part-ended").innerText.includes("nightly-99")`)
	var kept []bool
	tab.Eval(t, `[document.querySelector("input[value='shop/nightly-3']").checked, document.activeElement.textContent === "nightly-4", !document.querySelector("input[value='shop/nightly-99']").checked]`, &kept)
	for i, what := range []string{"the mark", "the focus", "no other mark"} {
		if !kept[i] {
			t.Errorf("%s did not stay", what)
		}
	}
}

func drillDown(t *testing.T, b *browser.Browser) {
	s := newSite(t, 2)
	s.backend.Put(uitest.WithErrors(t, "checkout", "upstream connect error"))
	tab := b.Open(t, s.url("/"))
	for n, step := range []struct{ click, at, shows string }{
		{"#part-ended a[href$='/checkout']", "/run/shop/checkout", "upstream connect error"},
		{"#part-load tbody tr:nth-child(3) a", "/step/2", "What to change"},
		{"#part-requests tbody tr:nth-child(2) a", "/request/1", "no answer within 2s"},
	} {
		tab.Click(t, step.click)
		tab.Await(t, fmt.Sprintf("document.readyState === 'complete' && location.pathname.endsWith(%q) && document.querySelector('main').innerText.includes(%q)", step.at, step.shows))
		picture(t, tab, fmt.Sprintf("drill-%d", n))
	}
	tab.Await(t, `document.body.innerText.includes("4bf92f3577b34da6a3ce929d0e0e4736")`)
}

func compare(t *testing.T, b *browser.Browser) {
	s := newSite(t, 8)
	tab := b.Open(t, s.url("/"))
	for _, name := range []string{"nightly-3", "nightly-5"} {
		tab.Click(t, "input[value='shop/"+name+"']")
	}
	tab.Click(t, "#compare button")
	tab.Await(t, `document.readyState === "complete" && document.querySelector("h1").textContent === "nightly-3, nightly-5"`)
	tab.Await(t, `document.querySelectorAll("#part-figures svg.plot").length === 4`)
	picture(t, tab, "compare")
	tab.Go(t, s.url("/history/shop/nightly"))
	tab.Await(t, `document.querySelectorAll("#part-trends svg.plot").length === 4`)
	picture(t, tab, "history")
}

func stopAndAgain(t *testing.T, b *browser.Browser) {
	s := newSite(t, 2)
	s.backend.OnStop = func(runs.Key) { s.cancel() }
	tab := b.Open(t, s.url("/run/shop/checkout-now"))
	tab.Click(t, ".actions a[href*='/stop/']")
	tab.Await(t, `document.readyState === "complete" && document.querySelector("h1").textContent === "Stop checkout-now?"`)
	if done := s.backend.Noted(); len(done) > 0 {
		t.Errorf("%q was done before the question was answered", done)
	}
	picture(t, tab, "question")
	tab.Click(t, ".question button")
	tab.Await(t, `document.querySelector("#part-verdict .word").textContent === "Canceled"`)
	tab.Click(t, ".actions a[href*='/again/']")
	tab.Await(t, `document.readyState === "complete" && document.querySelector(".question button")`)
	tab.Click(t, ".question button")
	tab.Await(t, `document.readyState === "complete" && document.querySelector("h1").textContent === "checkout-now-abcde"`)
	if got := strings.Join(s.backend.Noted(), ", "); got != "stop shop/checkout-now, again shop/checkout-now" {
		t.Errorf("%s was done", got)
	}
	s.backend.Err = errors.New("you may not patch LoadTests")
	tab.Go(t, s.url("/stop"))
	tab.Click(t, ".question button")
	tab.Await(t, `document.body.innerText.includes("you may not patch LoadTests")`)
}

func lostConnection(t *testing.T, b *browser.Browser) {
	s := newSite(t, 2)
	tab := b.Open(t, s.url("/run/shop/checkout-now"))
	tab.Await(t, isLive)
	s.leave()
	tab.Await(t, `document.getElementById("connection").className === "lost" && document.getElementById("connection").textContent.startsWith("The connection is lost")`)
	s.update(20)
	s.listen()
	tab.Await(t, isLive)
	tab.Await(t, `document.querySelector("#part-failing tbody").innerText.includes("560")`)
}

// What is fetched beside a page may not come, as where a network changes at that time.
func documentAlone(t *testing.T, b *browser.Browser) {
	s := newSite(t, 3)
	pages := s.handler
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, ".") { // a file
			panic(http.ErrAbortHandler)
		}
		pages.ServeHTTP(w, r)
	})
	b.Open(t, s.url("/run/shop/checkout-now")).Await(t, isLive)
}

func trouble(t *testing.T, b *browser.Browser) {
	s := newSite(t, 2)
	tab := b.Open(t, s.url("/run/shop/checkout-now"))
	tab.Await(t, isLive)
	s.backend.Runs.Trouble("LoadTests", "Not up to date, trying again: no route to host")
	tab.Await(t, `document.querySelector("#part-troubles").innerText.includes("no route to host")`)
	s.backend.Runs.Trouble("LoadTests", "")
	tab.Await(t, `document.querySelector("#part-troubles").innerText === ""`)
	s.backend.Runs.Remove(runs.Key{Namespace: "shop", Name: "checkout-now"})
	tab.Await(t, `document.getElementById("connection").textContent.includes("It may have been deleted")`)
	tab.Await(t, `document.querySelector("#part-figures").innerText.includes("Due")`) // what was there can still be read
}

func twoBrowsers(t *testing.T, b *browser.Browser) {
	s := newSite(t, 2)
	one, other := b.Open(t, s.url("/run/shop/checkout-now")), browser.Start(t).Open(t, s.url("/run/shop/checkout-now"))
	one.Await(t, isLive)
	other.Await(t, isLive)
	s.update(11)
	for _, tab := range []*browser.Tab{one, other} {
		tab.Await(t, `document.querySelector("#part-failing tbody").innerText.includes("308")`)
	}
}

func hostile(t *testing.T, b *browser.Browser) {
	s := newSite(t, 2)
	s.backend.Put(uitest.WithErrors(t, "hostile", uitest.Hostile))
	s.backend.Put(uitest.WithErrors(t, "hostile-2", uitest.Hostile))
	strange := uitest.Running(t, 3)
	strange.Name, strange.UID = uitest.Hostile, "strange"
	s.backend.Put(strange)
	s.backend.Runs.Trouble("LoadTests", uitest.Hostile)
	tab := b.Open(t, s.url("/"))
	for _, path := range []string{"/", "/run/shop/hostile", "/run/shop/hostile/step/2", "/run/shop/hostile/step/2/request/1", "/compare?run=shop/hostile&run=shop/hostile-2", "/history/shop/hostile"} {
		tab.Go(t, s.url(path))
		tab.Await(t, `window.broken === undefined && document.querySelectorAll("img, main script").length === 0 && document.body.innerText.includes("document.body.innerHTML")`)
	}
	tab.Go(t, s.url("/"))
	tab.Await(t, isLive)
	changed := strange.DeepCopy()
	changed.Status.Phase, changed.Status.Summary.Step = v1beta1.PhaseStarting, uitest.Hostile
	s.backend.Put(changed) // it comes by an event
	tab.Await(t, `document.querySelector("#part-now").innerText.includes("Starting") && document.querySelectorAll("img, main script").length === 0 && window.broken === undefined`)
	tab.Click(t, "#part-now a[href*='script']")
	tab.Await(t, `document.querySelector("h1").textContent.includes("document.body.innerHTML") && window.broken === undefined`)
}

func thousand(t *testing.T, b *browser.Browser) {
	s := newSite(t, 1000)
	tab := b.Open(t, s.url("/"))
	tab.Await(t, `document.querySelectorAll("#part-ended tbody tr").length === 50 && document.querySelectorAll(".spark").length > 40`)
	picture(t, tab, "list")
	tab.Click(t, "a[rel=next]")
	tab.Await(t, `document.readyState === "complete" && document.body.innerText.includes("51 to 100 of 1000")`)
	tab.Go(t, s.url("/?text=nightly-99&state=Passed"))
	tab.Await(t, `document.querySelectorAll("#part-ended tbody tr").length > 0 && document.querySelector("input[name=text]").value === "nightly-99" && document.querySelector("select").value === "Passed"`)
	tab.Await(t, isLive)
}

func hover(t *testing.T, b *browser.Browser) {
	s := newSite(t, 8)
	tab := b.Open(t, s.url("/run/shop/nightly-5"))
	tab.Point(t, "#part-latency svg.plot.wide", 0.5, 0.5)
	tab.Await(t, `!document.querySelector(".tip").hidden && /ms/.test(document.querySelector(".tip").textContent) && /at p\d/.test(document.querySelector(".tip").textContent)`)
	tab.Point(t, "#part-overtime svg.plot.wide", 0.4, 0.5)
	tab.Await(t, `/goodput [\d,.]+/.test(document.querySelector(".tip").textContent) && document.querySelectorAll(".pick").length >= 2`)
	tab.Point(t, "h1", 0.5, 0.5)
	tab.Await(t, `document.querySelector(".tip").hidden && document.querySelectorAll(".pick, .cursor").length === 0`)
	// A mark says its own value, and a line the one that is read from its axis.
	tab.Point(t, "#part-load figure:nth-of-type(1) svg.plot.wide g.mark:nth-of-type(2)", 0.5, 0.5)
	tab.Await(t, `/due (499|500|501)\n500 users: 500\/s, goodput\nat (499|500|501) users/.test(document.querySelector(".tip").textContent)`)
}

func keyboard(t *testing.T, b *browser.Browser) {
	s := newSite(t, 3)
	tab := b.Open(t, s.url("/"))
	tab.Press(t, "Tab")
	tab.Await(t, `document.activeElement.className === "skip" && document.activeElement.getBoundingClientRect().left >= 0`)
	tab.Press(t, "Enter")
	tab.Await(t, `document.activeElement.id === "main"`)
	var reached []string
	for range 40 {
		tab.Press(t, "Tab")
		var what string
		tab.Eval(t, `document.activeElement.textContent.slice(0, 30) + (document.activeElement.value || "")`, &what)
		reached = append(reached, what)
	}
	all := strings.Join(reached, "|")
	for _, want := range []string{"Stop all that run…", "Filter", "checkout-now", "nightly-2", "shop/nightly-1", "Compare those"} {
		if !strings.Contains(all, want) {
			t.Errorf("the keyboard does not reach %q: %s", want, all)
		}
	}
}

// pages are one of each kind.
var pages = []string{"/", "/run/shop/checkout-now", "/run/shop/nightly-5", "/run/shop/nightly-5/step/1", "/run/shop/checkout-now/step/1/request/1", "/compare?run=shop/nightly-3&run=shop/nightly-5", "/history/shop/nightly", "/stop/shop/checkout-now", "/nothing"}

func names(t *testing.T, b *browser.Browser) {
	s := newSite(t, 8)
	tab := b.Open(t, s.url("/"))
	for _, path := range pages {
		tab.Go(t, s.url(path))
		var wrong []string
		tab.Eval(t, `(() => {
			const all = s => [...document.querySelectorAll(s)], said = e => e.outerHTML.slice(0, 100);
			const named = e => e.textContent.trim() || e.getAttribute("aria-label") || (e.labels && e.labels.length);
			const ids = all("[id]").map(e => e.id);
			return [
				...all("a, button, input:not([type=hidden]), select").filter(e => !named(e)).map(said),
				...all("svg:not([aria-label]):not([aria-hidden]), th:not([scope]), [role=region]:not([aria-label]):not([aria-labelledby]), progress:not([aria-label]), nav:not([aria-label])").map(said),
				...all("[aria-labelledby]").filter(e => !document.getElementById(e.getAttribute("aria-labelledby"))).map(said),
				...ids.filter((id, n) => ids.indexOf(id) !== n).map(id => "twice: " + id),
				...["main", "header", "h1", "#connection[role=status]", "html[lang]"].filter(s => all(s).length !== 1),
			];
		})()`, &wrong)
		if len(wrong) > 0 {
			t.Errorf("%s: %q", path, wrong)
		}
	}
	tab.Go(t, s.url("/run/shop/checkout-now"))
	tab.Await(t, `document.querySelector("#part-verdict").getAttribute("aria-live") === "polite"`)
}

func small(t *testing.T, b *browser.Browser) {
	s := newSite(t, 8)
	tab := b.Open(t, s.url("/"))
	paper := map[string]string{}
	for _, look := range []struct {
		name   string
		width  int
		scheme string
	}{{"light", 1100, "light"}, {"dark", 1100, "dark"}, {"phone", 400, "light"}} {
		tab.Look(t, look.width, 900, look.scheme)
		for n, path := range pages {
			tab.Go(t, s.url(path))
			var over int
			if tab.Eval(t, "document.documentElement.scrollWidth - document.documentElement.clientWidth", &over); over > 0 {
				t.Errorf("%s, %s: %d pixels are beyond the edge", path, look.name, over)
			}
			if n < 2 {
				picture(t, tab, fmt.Sprintf("%s-%d", look.name, n))
			}
		}
		var colour string
		tab.Eval(t, "getComputedStyle(document.body).backgroundColor", &colour)
		paper[look.name] = colour
	}
	if paper["dark"] == paper["light"] {
		t.Errorf("dark and light are both on %s", paper["dark"])
	}
}

func withoutScript(t *testing.T, b *browser.Browser) {
	s := newSite(t, 8)
	s.backend.OnStop = func(runs.Key) { s.cancel() }
	tab := b.Open(t, "about:blank")
	tab.Scripts(t, false)
	tab.Go(t, s.url("/run/shop/checkout-now"))
	tab.Await(t, `document.querySelector("noscript meta[http-equiv=refresh]").content === "10" && document.querySelector("#connection").innerText.includes("Load anew")`)
	tab.Await(t, `document.querySelector("#part-figures").innerText.includes("Due")`)
	tab.Click(t, ".actions a[href*='/stop/']")
	tab.Await(t, `document.querySelector(".question button")`)
	tab.Click(t, ".question button")
	tab.Await(t, `document.querySelector("#part-verdict .word").textContent === "Canceled"`)
}

// picture writes a picture of a page, if they are asked for.
func picture(t *testing.T, tab *browser.Tab, name string) {
	t.Helper()
	if *pictures != "" {
		const most = 2400
		tab.Picture(t, filepath.Join(*pictures, name+".png"), most)
	}
}
