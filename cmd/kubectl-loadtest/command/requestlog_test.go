package command_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// vegetaCommand builds vegeta's own command, of the version that the benchmarks have.
func vegetaCommand(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "vegeta")
	build := exec.CommandContext(t.Context(), "go", "-C", "../../../hack/bench/peers/vegeta", "build", "-o", path, "github.com/tsenart/vegeta/v12")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build vegeta: %v\n%s", err, out)
	}
	return path
}

// twoSteps is a LoadTest of two workers.
func twoSteps(url string) string {
	return "apiVersion: loadtest.dev/v1beta1\nkind: LoadTest\nmetadata: {name: hello}\n" +
		"spec: {parallelism: 2, target: {url: " + url + "}, requests: [{name: create, http: {path: '/${seq}', method: POST, body: abc}, expect: {status: [200]}}]," +
		" steps: [{name: users, users: 4, requestsPerUser: 5}, {name: rate, rate: 40, duration: 1s}]," +
		" thresholds: [{metric: failureRate, max: 100%}]}\n"
}

// What vegeta's own command says of the results is what the status says.
func TestVegetaReadsTheResults(t *testing.T) {
	vegeta := vegetaCommand(t)
	url, asked := answering(t, 200)
	test := write(t, "a.yaml", twoSteps(url))
	for _, encoding := range []string{"gob", "csv", "json"} {
		before, machine := asked.Load(), pressure.Start()
		file := filepath.Join(t.TempDir(), "results")
		got := alone(t.Context(), t, "run", "--local", "-f", test, "-o", "yaml", "--results", file, "--results-encoding", encoding)
		lt := &v1beta1.LoadTest{}
		if err := yaml.UnmarshalStrict([]byte(got.out), lt); err != nil || len(lt.Status.Steps) != 2 {
			t.Fatalf("%s: %v\n%s\n%s", encoding, err, got.out, got.err)
		}
		if fault.BeganLate(&lt.Status) && machine.Read().Busy() {
			continue // what was sent in a step that began late is not stored
		}
		var report struct {
			Requests    int64               `json:"requests"`
			StatusCodes map[string]int      `json:"status_codes"`
			Errors      []string            `json:"errors"`
			Latencies   struct{ Max int64 } `json:"latencies"`
		}
		must.Succeed(t, json.Unmarshal(says(t, vegeta, "report", "-type=json", file), &report))
		sent, longest := int64(0), int64(0)
		for i := range lt.Status.Steps {
			r := lt.Status.Steps[i].Result
			sent += r.Sent
			longest = max(longest, int64(r.ServiceTime.Longest.Duration))
		}
		if report.Requests != sent || asked.Load()-before != sent || report.StatusCodes["200"] != int(sent) || len(report.Errors) > 0 {
			t.Errorf("%s: vegeta reports %+v of %d requests; the target served %d", encoding, report, sent, asked.Load()-before)
		}
		// The status has histograms of 3 digits.
		if off := longest - report.Latencies.Max; off < -longest/500 || off > longest/500 {
			t.Errorf("%s: the longest is %dns for vegeta, and %dns in the status", encoding, report.Latencies.Max, longest)
		}
		if plot := string(says(t, vegeta, "plot", file)); !strings.Contains(plot, "users") || !strings.Contains(plot, "rate") {
			t.Errorf("%s: the plot does not have both steps", encoding)
		}
		lines := strings.Split(strings.TrimSpace(string(says(t, vegeta, "encode", "-to=json", file))), "\n")
		if int64(len(lines)) != sent || !strings.Contains(lines[0], `"method":"POST","url":"`+url+`/`) {
			t.Errorf("%s: %d results, the first %s", encoding, len(lines), lines[0])
		}
	}
}

func TestFailuresAreAmongTheResults(t *testing.T) {
	url, _ := answering(t, 503)
	file := filepath.Join(t.TempDir(), "results")
	alone(t.Context(), t, "run", "--local", "-f", write(t, "a.yaml", localTest("url: "+url)), "--results", file, "--results-encoding", "json")
	data := must.ReadFile(t, file)
	if n := strings.Count(string(data), `"error":"503 Service Unavailable"`); n != 20 {
		t.Errorf("%d results have the error, want 20:\n%s", n, data)
	}
}

func TestResultsAreRefused(t *testing.T) {
	test := localTest("url: http://127.0.0.1:1")
	for want, args := range map[string][]string{
		"--results needs --local":                             {"run", "-f", "a.yaml", "--results", "x"},
		"--results-encoding must be one of gob, csv, json":    {"run", "--local", "-f", write(t, "a.yaml", test), "--results", "x", "--results-encoding", "xml"},
		"--results holds the results of one LoadTest":         {"run", "--local", "-f", write(t, "a.yaml", test+"---\n"+strings.Replace(test, "hello", "other", 1)), "--results", "x"},
		"--results: open /does/not/exist/x: no such file or ": {"run", "--local", "-f", write(t, "a.yaml", test), "--results", "/does/not/exist/x"},
	} {
		if got := alone(t.Context(), t, args...); got.code == 0 || !strings.Contains(got.err, want) {
			t.Errorf("exit code %d, %q, want %q", got.code, got.err, want)
		}
	}
}

// The results of the run before stay where a run is refused, or sends nothing.
func TestARefusedRunKeepsTheFileOfResults(t *testing.T) {
	ofLoads := "apiVersion: loadtest.dev/v1beta1\nkind: LoadTest\nmetadata: {name: a}\n" +
		"spec: {target: {url: 'http://127.0.0.1:1'}, requests: [{name: c, http: {path: /}}], loads: [{name: x, steps: [{name: s, rate: 1, duration: 1s}]}]}\n"
	unplanned := strings.NewReplacer("http: {path: /}", "webSocket: {path: /, send: [a]}", "loads: [{name: x, steps: [{name: s, rate: 1, duration: 1s}]}]", "worker: {driver: Vegeta}, steps: [{name: s, rate: 1, duration: 1s}]").Replace(ofLoads)
	for name, test := range map[string]string{"loads": ofLoads, "refused by the plan": unplanned} {
		old, none := write(t, "old", "dear"), filepath.Join(t.TempDir(), "none")
		for _, file := range []string{old, none} {
			got := alone(t.Context(), t, "run", "--local", "-f", write(t, "a.yaml", test), "--results", file)
			isSaid := strings.Contains(got.err, file+" has what it had before: no result was written to it")
			if got.code == 0 || isSaid != (name != "loads" && file == old) {
				t.Errorf("%s: exit code %d: %s%s", name, got.code, got.out, got.err)
			}
		}
		if data, err := os.ReadFile(old); err != nil || string(data) != "dear" {
			t.Errorf("%s: the file has %q, %v", name, data, err)
		}
		if _, err := os.Stat(none); !os.IsNotExist(err) {
			t.Errorf("%s: a file was made: %v", name, err)
		}
	}
}

// Nothing is left of a file that was longer.
func TestResultsReplaceThoseOfTheRunBefore(t *testing.T) {
	url, _ := answering(t, 503)
	file := write(t, "results", strings.Repeat("old\n", 10_000))
	alone(t.Context(), t, "run", "--local", "-f", write(t, "a.yaml", localTest("url: "+url)), "--results", file, "--results-encoding", "json")
	data := must.ReadFile(t, file)
	if strings.Contains(string(data), "old") || strings.Count(string(data), "\n") != 20 {
		t.Errorf("the file has\n%s", data)
	}
}

// says is what a command writes.
func says(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).Output()
	if err != nil {
		t.Fatalf("%s: %v", args[0], err)
	}
	return out
}
