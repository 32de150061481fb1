package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/command"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestWatch(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.create(running)
	stderr := &screen{await: "hello  Running", then: func() { p.ends("Failed") }}
	got := p.execute(t.Context(), stderr, "", "watch", "hello")
	got.exits(t, 1)
	contains(t, "the report", got.out, "Verdict             Failed")
	contains(t, "the log", got.err, p.namespace+"/hello  Failed")
}

func TestWatchFinished(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.create(finished("Passed"))
	got := p.run("watch", "hello")
	got.exits(t, 0)
	contains(t, "the report", got.out, "Verdict             Passed")
}

func TestWatchDeleted(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.create(running)
	stderr := &screen{await: "hello  Running", then: func() { must.Report(t, "delete it", p.client.Delete(t.Context(), p.get("hello"))) }}
	p.execute(t.Context(), stderr, "", "watch", "hello").fails(t, "LoadTest hello was deleted while it was followed")
}

func TestWatchRefused(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	unreachable := writeKubeconfig(t, "https://127.0.0.1:1", p.namespace)
	tests := map[string]struct {
		args []string
		want []string
	}{
		"not there":          {[]string{"hello"}, []string{`loadtests.loadtest.dev "hello" not found`, "kubectl get loadtests --all-namespaces"}},
		"no name":            {nil, []string{"watch takes the NAME of one LoadTest, 0 given"}},
		"two names":          {[]string{"one", "two"}, []string{"watch takes the NAME of one LoadTest, 2 given"}},
		"no rights":          {[]string{"hello", "--as", "stranger"}, []string{`cannot get resource "loadtests"`, "watch, report and ui need get, list and watch"}},
		"an unknown context": {[]string{"hello", "--context", "nowhere"}, []string{"--context", `"nowhere" does not exist`}},
		"an unknown flag":    {[]string{"hello", "--fast"}, []string{"unknown flag: --fast"}},
		"no kubeconfig":      {[]string{"hello", "--kubeconfig", "nowhere"}, []string{"--kubeconfig", "nowhere"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p.run(append([]string{"watch"}, test.args...)...).fails(t, append(test.want, "error: ")...)
		})
	}
	t.Run("no server", func(t *testing.T) {
		got := p.run("report", "hello", "--kubeconfig", unreachable)
		got.exits(t, 4)
		contains(t, "the error", got.err, "127.0.0.1:1", "the API server cannot be reached", "--context")
	})
}

func TestReportWithoutAKubeconfig(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "kubeconfig")
	must.Succeed(t, os.WriteFile(empty, nil, 0o600))
	t.Setenv("KUBECONFIG", empty)
	var out, log bytes.Buffer
	code := command.Execute(t.Context(), []string{"report", "hello"}, command.Streams{Out: &out, Err: &log})
	if code != 4 || out.Len() > 0 {
		t.Errorf("exit code %d and output %q, want 4 and none", code, out.String())
	}
	contains(t, "the error", log.String(), "error: there is no kubeconfig: set KUBECONFIG or give --kubeconfig")
}

func TestReport(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.create(finished("Failed"))
	text := p.run("report", "hello")
	text.exits(t, 0)
	contains(t, "the report", text.out, "LoadTest "+p.namespace+"/hello", "Verdict             Failed")
	if text.err != "" {
		t.Errorf("standard error: %q, want none", text.err)
	}

	elsewhere := newTestUser(t).run("report", "hello", "-n", p.namespace)
	if elsewhere.out != text.out {
		t.Errorf("the report by --namespace is another one:\n%s", elsewhere.out)
	}

	json := p.run("report", "hello", "-o", "json")
	if json.code != 0 || !strings.HasPrefix(json.out, "{\n") {
		t.Errorf("exit code %d and %q, want 0 and JSON", json.code, json.out)
	}
	contains(t, "the JSON", json.out, `"verdict": "Failed"`, `"sent": 10`)

	wrong := p.run("report", "hello", "-o", "pdf")
	wrong.exits(t, 4)
	contains(t, "the error", wrong.err, `--output must be one of text, markdown, `, `not "pdf"`)
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{"--help"}, []string{"kubectl loadtest", "run ", "watch ", "report ", "version "}},
		{[]string{"run", "--help"}, []string{"1    Failed", "2    Inconclusive", "3    Canceled", "4    Error", "--replace", "-n, --namespace", "--context"}},
		{[]string{"watch", "--help"}, []string{"1    Failed", "130"}},
		{[]string{"version"}, []string{"kubectl-loadtest dev, API loadtest.dev/v1beta1"}},
	} {
		got := p.run(test.args...)
		if got.code != 0 || got.err != "" {
			t.Errorf("%v: exit code %d, standard error %q", test.args, got.code, got.err)
		}
		contains(t, strings.Join(test.args, " "), got.out, test.want...)
	}
}
