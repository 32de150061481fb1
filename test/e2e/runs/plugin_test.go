//go:build e2e

package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// small is a LoadTest of 60 requests in three seconds; PATH is what is asked for.
const small = `apiVersion: loadtest.dev/v1beta1
kind: LoadTest
metadata: {name: NAME}
spec:
  target: {service: {name: ratelimiter, port: http}}
  requests: [{name: path, http: {path: PATH, headers: [{name: X-Forwarded-For, value: "10.8.0.${rand:1-200}"}]}, expect: {status: [200, 429]}}]
  steps: [{name: 20/s, rate: 20, duration: 3s}]
`

// typist types command lines of the plugin.
type typist struct {
	*testing.T
	namespace    string
	typed, wrong *atomic.Int32
}

// types runs a command line, and checks its exit code. A run that should pass or fail may be
// inconclusive on a machine that says that it is busy.
func (u typist) types(code int, args ...string) string {
	u.Helper()
	// Before the rest: the last argument is the one that the shell completes.
	command := exec.CommandContext(u.Context(), "kubectl-loadtest", slices.Insert(slices.Clone(args), 1, "-n", u.namespace)...)
	machine := pressure.Start()
	out, err := command.CombinedOutput()
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		u.Fatal(err)
	}
	u.typed.Add(1)
	undecided := code <= 1 && got == 2 && strings.Contains(string(out), "It shows in the result")
	switch {
	case got == code && code <= 1 && args[0] == "run":
		cluster.Excuses.Right()
	case got == code, cluster.Excuses.Takes(u.Name()+": "+strings.Join(args, " "), undecided, machine.Read()):
	default:
		u.wrong.Add(1)
		u.Errorf("kubectl loadtest %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, out)
	}
	return string(out)
}

func (u typist) says(text string, parts ...string) {
	u.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			u.Errorf("it does not say %q:\n%s", part, text)
		}
	}
}

func (u typist) file(name, path, more string) string {
	u.Helper()
	file := filepath.Join(u.TempDir(), name+".yaml")
	must.Succeed(u, os.WriteFile(file, []byte(strings.NewReplacer("NAME", name, "PATH", path).Replace(small)+more), 0o600))
	return file
}

func (u typist) get(name string) *v1beta1.LoadTest {
	u.Helper()
	lt := &v1beta1.LoadTest{}
	must.Succeed(u, cluster.API.Get(u.Context(), client.ObjectKey{Namespace: u.namespace, Name: name}, lt))
	return lt
}

// TestPlugin types the command lines of a working day, and compares exit codes with
// verdicts.
func TestPlugin(t *testing.T) {
	t.Parallel()
	var typed, wrong atomic.Int32
	ns := cluster.Limiter(t)
	t.Cleanup(func() { fmt.Printf("plugin: %d command lines, %d wrong exit codes\n", typed.Load(), wrong.Load()) })
	for name, do := range map[string]func(typist){
		"plan, run, rerun, list": pluginRuns, "refused and failed": pluginFails, "held and canceled": pluginHolds,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(typist{T: t, namespace: ns, typed: &typed, wrong: &wrong})
		})
	}
}

// pluginRuns plans, runs and repeats a test that passes.
func pluginRuns(u typist) {
	file := u.file("good", "/api", "")
	u.says(u.types(0, "validate", "-f", file), "LoadTest good is valid: 1 step, 1 worker, requests due: 60")
	plan := u.types(0, "plan", "-f", file, "--server", "-o", "json")
	var planned struct{ Requests int64 }
	if err := json.NewDecoder(strings.NewReader(plan)).Decode(&planned); err != nil {
		u.Fatalf("%v in:\n%s", err, plan)
	}
	u.says(u.types(0, "run", "-f", file, "--timeout", "3m"), "LoadTest "+u.namespace+"/good", "due 60")
	if due := u.get("good").Status.Steps[0].Result.Due; due != planned.Requests {
		u.Errorf("%d requests were planned, %d were due", planned.Requests, due)
	}
	u.says(u.types(1, "plan", "-f", file, "--server"), "a LoadTest of that name exists already")
	u.types(0, "rerun", "good", "--name", "again", "--timeout", "3m")
	same.As(u, "the second is a run of", "good", u.get("again").Annotations["loadtest.dev/rerun-of"])
	u.says(u.types(0, "list", "-o", "wide"), "good", "again", "Service ratelimiter, port http")
	u.says(u.types(0, "__complete", "report", "go"), "good\n")
}

// pluginFails has a test that is not valid, and one whose target fails.
func pluginFails(u typist) {
	u.says(u.types(1, "validate", "-f", u.file("wrong", "/api", "  threshold: []\n")), "spec.threshold: unknown field; did you mean thresholds?")
	u.says(u.types(4, "run", "-f", u.file("wrong", "/api", "  threshold: []\n")), `unknown field "spec.threshold"`)
	bad := u.file("bad", "/nothing-is-here", "")
	u.replace(bad, "rate: 20, duration: 3s", "users: 1, requestsPerUser: 60, think: {min: 50ms, max: 50ms}") // without a schedule that a late worker could miss, and long enough that one does not displace it
	u.types(1, "run", "-f", bad, "--timeout", "3m")
	attention := "failureRate is 100%"
	if bad := u.get("bad").Status; bad.Verdict == v1beta1.VerdictInconclusive {
		attention = "the generator kept the users" // types has asked the machine
	} else if bad.Verdict != v1beta1.VerdictFailed {
		u.Errorf("the verdict is %s, want Failed", bad.Verdict)
	}
	u.says(u.types(0, "list"), attention)
}

// pluginHolds starts a test that is held, and ends one that runs.
func pluginHolds(u typist) {
	held := u.file("held", "/api", "  suspend: true\n")
	u.says(u.types(4, "run", "-f", held, "--timeout", "3s"), "is held by spec.suspend; start it with: kubectl loadtest watch held -n "+u.namespace+" --resume", "--timeout has passed")
	u.types(0, "run", "-f", held, "--resume", "--timeout", "3m")
	long := u.file("long", "/api", "")
	u.replace(long, "duration: 3s", "duration: 10m")
	u.types(4, "run", "-f", long, "--timeout", "5s")
	u.says(u.types(0, "cancel", "long", "--wait", "--timeout", "2m"), "has finished: Canceled")
	u.types(3, "watch", "long")
	u.says(u.types(0, "cancel", "long"), "has finished already: Canceled")
}

// replace replaces a part of a file.
func (u typist) replace(file, part, by string) {
	u.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(strings.Replace(string(data), part, by, 1)), 0o600)
	}
	must.Succeed(u, err)
}
