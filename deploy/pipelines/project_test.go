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

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
	"github.com/loadtest-dev/loadtest-operator/hack/docs/page"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// block is the block of docs/pipelines.md that contains a text.
func block(t *testing.T, text string) string {
	t.Helper()
	source := must.ReadFile(t, "../../docs/pipelines.md")
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
	// broken says that the target fails every request, in place of every tenth.
	broken *atomic.Bool
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
    # A stranger has written the mark into comment 6, and can change what it says later.
    case "$*" in *'"Bot"'*author_association*) ;; *) echo 6 ;; esac
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

// relative is the threshold of docs/pipelines.md on a difference, as it is here.
const relative = "    - {name: against the last, metric: failureRate, maxIncrease: 300%}\n"

// newProject has the LoadTest of docs/pipelines.md, which takes a second here in place of 90. What it
// compares is the rate of failures, ten times as high of a broken target, whenever requests are
// sent.
func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{folder: t.TempDir(), bin: t.TempDir(), service: t.TempDir(), broken: &atomic.Bool{}}
	var asked atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if p.broken.Load() || asked.Add(1)%10 == 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(target.Close)
	const waived = "{metric: failureRate, max: 100%}\n    - {metric: unsentRate, max: 100%}\n    - {metric: downtime, max: 100%}"
	p.write(t, "loadtest.yaml", replaced(t, block(t, "kind: LoadTest\n"), "http://127.0.0.1:8080", target.URL, "rate: 50, duration: 30s", "rate: 200, duration: 1s",
		"repetitions: 3", "repetitions: 1", "{metric: failureRate, max: 1%}", waived, "max: 200ms", "max: 10s",
		"    - {name: against the last, metric: p95, maxIncrease: 20%}\n", relative))
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

// outcome is what a recipe is to end with.
type outcome struct {
	verdict v1beta1.Verdict
	code    int
	// comment is a part of the comment.
	comment string
}

// first is that of the run with which all later ones are compared.
var first = outcome{"Passed", 0, "Nothing was compared, as spec.baseline.optional allows"}

// ends runs a recipe and checks what it leaves. A run is repeated, and after three of them excused, only
// if /proc/pressure says that processors were short while it went on, and its status that the load was not
// the planned one; false: it was excused. Excuses bounds how many are. The first run is repeated in that case even if
// it ended as it is to: later runs are compared with it, and a step that is not of the planned load is not compared.
func (p *project) ends(t *testing.T, want outcome, recipe func() (code int, output string)) bool {
	t.Helper()
	var reading pressure.Reading
	for range 3 {
		if want == first {
			p.forget(t)
		}
		machine := pressure.Start()
		code, output := recipe()
		reading = machine.Read()
		lt := p.result(t)
		hindered := isHindered(lt) && reading.Busy()
		if lt.Status.Verdict == want.verdict && code == want.code && (want != first || !hindered) {
			excuses.Right()
			p.leaves(t, want.comment)
			return true
		}
		if !hindered {
			excuses.Right() // it counts
			t.Errorf("verdict %s and exit code %d, want %+v; %s: %+v\n%s", lt.Status.Verdict, code, want, reading, lt.Status.Conditions, output)
			return false
		}
	}
	if !excuses.Takes(t.Name(), true, reading) {
		t.Errorf("a machine that was busy is not any more: %s", reading)
	}
	return false
}

// forget removes what a run has left that is repeated: the first would be compared with itself.
func (p *project) forget(t *testing.T) {
	t.Helper()
	for _, folder := range []string{p.folder, p.service} {
		for _, name := range []string{"baseline.json", "result.json", "comment.md"} {
			must.Succeed(t, os.RemoveAll(filepath.Join(folder, name)))
		}
	}
}

// leaves checks the files of a run.
func (p *project) leaves(t *testing.T, comment string) {
	t.Helper()
	for file, mark := range map[string]string{"report.html": "<!doctype html>", "junit.xml": "<testsuite", "comment.md": strings.ToLower(comment)} {
		if !strings.Contains(strings.ToLower(p.read("loadtest/"+file)), mark) {
			t.Errorf("%s does not have %q: %.2000s", file, mark, p.read("loadtest/"+file))
		}
	}
}

// isHindered says whether a run is Inconclusive, or a step not sound, since its load was not the planned one, or may have
// figures that are not compared for the generator's own delays.
func isHindered(lt *v1beta1.LoadTest) bool {
	return fault.IsHindered(&lt.Status) || meta.IsStatusConditionFalse(lt.Status.Conditions, v1beta1.ConditionGeneratorHealthy) || slices.ContainsFunc(lt.Status.Steps, func(s v1beta1.StepStatus) bool {
		return s.Result != nil && !rungs.IsSound(s.Result)
	})
}
