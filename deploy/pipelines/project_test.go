package pipelines

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/docs/page"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// block is the block of docs/pipelines.md that contains a text.
func block(t *testing.T, text string) string {
	t.Helper()
	source, err := os.ReadFile("../../docs/pipelines.md")
	must.Succeed(t, err)
	for _, b := range page.Parse(source).Blocks {
		if strings.Contains(b.Text, text) {
			return b.Text
		}
	}
	t.Fatalf("docs/pipelines.md has no block with %q", text)
	return ""
}

// replaced is a text with other values, each of which it must have.
func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%q is not in:\n%s", pairs[i], text)
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// project is a checkout with a LoadTest, the programs that recipes call, and what services keep.
type project struct {
	folder, bin, service string
	takes                *atomic.Int64
	machine              pressure.Meter
}

// The programs of services and machines, as far as the recipes call them. They keep what they are
// given in the folder SERVICE.
var stubs = map[string]string{
	"docker": `exit 0`,
	// go builds and installs no other package than the plugin's, which is this test.
	"go": `echo "go $*" >> "$SERVICE/log"
case "$1" in
  build) [ -f go.mod ] && [ -d "${!#}" ] || exit 1
    while [ "$1" != -o ]; do shift; done; ln -sf "$THIS_TEST" "$2" ;;
  install) [ "${!#}" = "github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest@v1.2.3" ] || exit 1
    ln -sf "$THIS_TEST" "$BIN/kubectl-loadtest" ;;
  *) exit 1 ;;
esac`,
	"gh": `echo "gh $*" >> "$SERVICE/log"
[ -n "$GH_TOKEN" ] || exit 1
case "$*" in
  "api --paginate repos/o/r/issues/12/comments --jq "*)
    if [ -f "$SERVICE/comment.md" ] && [ "$(sed -n 1p "$SERVICE/comment.md")" = "$MARK" ]; then echo 7; echo 8; fi ;;
  "api --method POST repos/o/r/issues/12/comments --field body=@"* | "api --method PATCH repos/o/r/issues/comments/7 --field body=@"*)
    last=${!#}; cp "${last#body=@}" "$SERVICE/comment.md" ;;
  *) exit 1 ;;
esac`,
	"curl": `echo "curl ${!#}" >> "$SERVICE/log"
case "${!#}" in
  "https://gitlab/api/v4/projects/3/jobs/artifacts/main/raw/loadtest/result.json?job=loadtest")
    [ "$*" != "${*/JOB-TOKEN: job-token/}" ] && [ -f "$SERVICE/result.json" ] || exit 22
    while [ "$1" != --output ]; do shift; done; cp "$SERVICE/result.json" "$2" ;;
  "https://gitlab/api/v4/projects/3/merge_requests/12/notes")
    [ "$*" != "${*/PRIVATE-TOKEN: token/}" ] || exit 22
    while [ "$1" != --data-urlencode ]; do shift; done; cp "${2#body@}" "$SERVICE/comment.md" ;;
  *) exit 1 ;;
esac`,
}

// newProject has the LoadTest of docs/pipelines.md, which takes a second here in place of 90, and sends
// to a target whose responses take 20 ms.
func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{folder: t.TempDir(), bin: t.TempDir(), service: t.TempDir(), takes: &atomic.Int64{}, machine: pressure.Start()}
	p.takes.Store(int64(20 * time.Millisecond))
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-time.After(time.Duration(p.takes.Load())) }))
	t.Cleanup(target.Close)
	manifest := replaced(t, block(t, "kind: LoadTest\n"), "http://127.0.0.1:8080", target.URL, "rate: 50, duration: 30s", "rate: 200, duration: 1s",
		"repetitions: 3", "repetitions: 1", "max: 200ms", "max: 10s", "maxIncrease: 20%", "maxIncrease: 300%")
	p.write(t, "loadtest.yaml", manifest)
	for name, script := range stubs {
		must.Succeed(t, os.WriteFile(filepath.Join(p.bin, name), []byte("#!/usr/bin/env bash\n"+script+"\n"), 0o700))
	}
	return p
}

func (p *project) write(t *testing.T, name, content string) {
	t.Helper()
	must.Succeed(t, os.WriteFile(filepath.Join(p.folder, name), []byte(content), 0o600))
}

// shell runs a script as services do, in a folder, with no other environment than this one.
func (p *project) shell(t *testing.T, folder, script string, env map[string]string) (code int, output string) {
	t.Helper()
	this, err := os.Executable()
	must.Succeed(t, err)
	command := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
	command.Dir = folder
	command.Env = []string{"PATH=" + p.bin + ":/usr/bin:/bin", "BIN=" + p.bin, "SERVICE=" + p.service, "THIS_TEST=" + this}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		command.Env = append(command.Env, name+"="+env[name])
	}
	var all bytes.Buffer
	command.Stdout, command.Stderr = &all, &all
	err = command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), all.String()
}

// read is a file of the project, or of the service if it begins with a slash; empty: there is none.
func (p *project) read(name string) string {
	folder := p.folder
	if strings.HasPrefix(name, "/") {
		folder = p.service
	}
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		return ""
	}
	return string(data)
}

// result is the LoadTest that the recipe left.
func (p *project) result(t *testing.T) *v1beta1.LoadTest {
	t.Helper()
	lt := &v1beta1.LoadTest{}
	must.Succeed(t, json.Unmarshal([]byte(p.read("loadtest/result.json")), lt))
	return lt
}

// ends checks a run: its verdict, the exit code, and what it left. False: a busy machine hindered it.
func (p *project) ends(t *testing.T, code int, output string, want v1beta1.Verdict) bool {
	t.Helper()
	lt := p.result(t)
	codes := map[v1beta1.Verdict]int{v1beta1.VerdictPassed: 0, v1beta1.VerdictFailed: 1, v1beta1.VerdictInconclusive: 2}
	if wanted, ok := codes[lt.Status.Verdict]; !ok || code != wanted {
		t.Errorf("exit code %d of %s:\n%s", code, lt.Status.Verdict, output)
	}
	for file, mark := range map[string]string{"report.html": "<!doctype html>", "junit.xml": "<testsuite"} {
		if !strings.Contains(strings.ToLower(p.read("loadtest/"+file)), mark) {
			t.Errorf("%s is no such file: %.200s", file, p.read("loadtest/"+file))
		}
	}
	if lt.Status.Verdict == want {
		excuses.Right()
		return true
	}
	if !excuses.Takes(t.Name(), fault.IsHindered(&lt.Status), p.machine.Read()) {
		t.Errorf("verdict %s, want %s: %+v", lt.Status.Verdict, want, lt.Status.Conditions)
	}
	return false
}
