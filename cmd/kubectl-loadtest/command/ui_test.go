// The race detector looks at the tests of this file, too: pages are served beside the command.

package command_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/command"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

var pageURL = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\S+`)

// fetch is the answer of a page to a browser.
func fetch(t *testing.T, method, address string) (code int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	must.Succeed(t, err)
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	answer, err := http.DefaultClient.Do(request)
	must.Succeed(t, err)
	defer func() { must.Report(t, "close", answer.Body.Close()) }()
	data, err := io.ReadAll(answer.Body)
	must.Succeed(t, err)
	return answer.StatusCode, string(data)
}

// serve runs the command ui, and calls a function with the URL that it prints.
func (p *testUser) serve(do func(address string), args ...string) answer {
	p.t.Helper()
	ctx, interrupt := context.WithCancel(p.t.Context())
	defer interrupt()
	out, log := &screen{await: "/\n"}, &screen{}
	out.then = func() {
		defer interrupt()
		do(strings.TrimSpace(pageURL.FindString(out.String())))
	}
	code := command.Execute(ctx, append([]string{"--kubeconfig", p.kubeconfig, "ui"}, args...), command.Streams{Out: out, Err: log})
	out.acting.Wait()
	return answer{code: code, out: out.String(), err: log.String()}
}

func TestUIServesTheRunsOfANamespace(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.create(running)
	got := p.serve(func(address string) {
		run := address + "run/" + p.namespace + "/hello"
		code, page := fetch(t, http.MethodGet, run)
		if code != http.StatusOK {
			t.Errorf("the run: %d", code)
		}
		contains(t, "the page", page, "Running", "10 users", "Stop this run")
		_, list := fetch(t, http.MethodGet, address)
		contains(t, "the list", list, ">hello</a>", "namespace "+p.namespace)
		if code, _ := fetch(t, http.MethodPost, address+"stop/"+p.namespace+"/hello"); code != http.StatusOK {
			t.Errorf("stop: %d", code)
		}
		if !p.get("hello").Spec.Terminate {
			t.Error("the run was not ended")
		}
		_, again := fetch(t, http.MethodPost, address+"again/"+p.namespace+"/hello")
		contains(t, "the new run's page", again, "<h1>hello-")
		parsed, err := url.Parse(address)
		must.Succeed(t, err)
		if code, _ := fetch(t, http.MethodGet, "http://"+parsed.Host+"/"); code != http.StatusNotFound {
			t.Errorf("without the secret: %d", code)
		}
	})
	if got.code != 0 || strings.Count(got.out, "\n") != 1 {
		t.Errorf("exit code %d and output %q, want 0 and the URL; %s", got.code, got.out, got.err)
	}
}

func TestUIWithoutRightsSaysSo(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.create(running)
	p.serve(func(address string) {
		code, page := fetch(t, http.MethodGet, address+"run/"+p.namespace+"/hello")
		if code != http.StatusBadGateway {
			t.Errorf("the run: %d", code)
		}
		contains(t, "the page", page, "cannot list resource", "watch, report and ui need get, list and watch")
		_, list := fetch(t, http.MethodGet, address)
		contains(t, "the list", list, "cannot list resource", "The runs are being read")
	}, "--as", "stranger")
}

// The page of run --ui stays after the run, and the exit code is the verdict's.
func TestRunWithAPage(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.operator(func(*v1beta1.LoadTest) []string { return []string{starting, running, finished("Failed")} })
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	log := &screen{await: "The page stays until Ctrl-C"}
	log.then = func() {
		defer interrupt()
		code, page := fetch(t, http.MethodGet, strings.TrimSpace(pageURL.FindString(log.String())))
		if code != http.StatusOK {
			t.Errorf("the page: %d", code)
		}
		contains(t, "the page", page, "<h1>hello</h1>", "Failed")
	}
	got := p.execute(ctx, log, "", "run", "--ui", "-f", p.file(manifest("hello")))
	got.exits(t, 1)
	contains(t, "the log", got.err, "Follow it in the browser: http://127.0.0.1:", "/run/"+p.namespace+"/hello")
	contains(t, "the report", got.out, "Verdict             Failed")
}

func TestUIRefused(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.refuses(map[string][]string{
		"--port must be between 0 and 65535, not 70000": {"ui", "--port", "70000"},
		"--port needs --ui":                             {"run", "--port", "8080", "-f", "x.yaml"},
		"unknown command":                               {"ui", "hello"},
		"there is no kubeco":                            {"ui", "--kubeconfig", "/dev/null"},
	})
}

// A run on this machine is ended on its page, keeps what it measured, and can be read there
// until the command is interrupted. So it is on the page of one of its loads.
func TestRunOnThisMachineWithAPage(t *testing.T) {
	const steps = `steps: [{name: long, users: 2, ratePerUser: "20", duration: 10m}]`
	for _, of := range []struct{ name, load, running string }{
		{"hello", steps, "Running  step 1/1"},
		{"hello-all", "loads: [{name: all, " + steps + "}]", "Running  all: Running"},
	} {
		t.Run(of.name, func(t *testing.T) { runsWithAPage(t, of.name, of.load, of.running) })
	}
}

// runsWithAPage runs a load on this machine, and ends it on the page of a LoadTest when the log says that it runs.
func runsWithAPage(t *testing.T, name, load, running string) {
	t.Helper()
	target, asked := answering(t, http.StatusOK)
	file := write(t, "hello.yaml", "apiVersion: loadtest.dev/v1beta1\nkind: LoadTest\nmetadata: {name: hello}\n"+
		"spec: {target: {url: \""+target+"\"}, requests: [{name: home, http: {path: /}}], "+load+"}\n")
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var run string
	log, out := &screen{await: running}, &screen{}
	log.then = func() {
		run = strings.TrimSuffix(strings.TrimSpace(pageURL.FindString(log.String())), "hello") + name
		_, page := fetch(t, http.MethodGet, run)
		contains(t, "the page", page, "<h1>"+name+"</h1>", "Running", "this machine", "Stop this run")
		if strings.Contains(page, "Run again") || strings.Contains(page, "Stop all") {
			t.Error("the page offers what needs a cluster")
		}
		await.True(t, "the target is asked", func() bool { return asked.Load() > 0 })
		if code, _ := fetch(t, http.MethodPost, strings.Replace(run, "/run/", "/stop/", 1)); code != http.StatusOK {
			t.Errorf("stop: %d", code)
		}
	}
	ended := &after{screen: log, await: "The page stays until Ctrl-C", then: func() {
		defer interrupt()
		_, page := fetch(t, http.MethodGet, run)
		contains(t, "the page", page, "Canceled", "Rate over time")
		_, report := fetch(t, http.MethodGet, strings.TrimSuffix(run, name)+"hello/report.html")
		contains(t, "the page as a file", report, "Canceled", "Rate over time")
	}}
	code := command.Execute(ctx, []string{"run", "--local", "--ui", "-f", file}, command.Streams{Out: out, Err: ended})
	log.acting.Wait()
	if code != 3 || asked.Load() == 0 {
		t.Errorf("exit code %d after %d requests, want 3 after some; %s", code, asked.Load(), log.String())
	}
	contains(t, "the report", out.String(), "Verdict             Canceled")
}

// after is a screen that calls a second function when another text appears.
type after struct {
	*screen
	await string
	then  func()
}

func (a *after) Write(p []byte) (int, error) {
	n, err := a.screen.Write(p)
	if a.then != nil && strings.Contains(a.String(), a.await) {
		a.acting.Go(a.then)
		a.then = nil
	}
	return n, err
}
