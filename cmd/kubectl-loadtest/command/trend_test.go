package command_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// finishedRuns are documents of runs with these p95.
func finishedRuns(times ...string) string {
	var docs []string
	for i, p95 := range times {
		docs = append(docs, fmt.Sprintf(`apiVersion: loadtest.dev/v1beta1
kind: LoadTest
metadata: {name: nightly-%[1]d, namespace: shop, creationTimestamp: "2026-11-%02[1]dT02:30:00Z"}
spec: {target: {url: "http://a"}, requests: [{name: a, http: {path: /}}], steps: [{name: s, rate: 1, duration: 10s}]}
status:
  phase: Finished
  verdict: Passed
  conditions: [{type: Finished, status: "True", reason: Passed, message: "", lastTransitionTime: "2026-11-01T03:00:00Z"}]
  steps: [{name: s, state: Complete, load: {rate: "1", duration: 10s}, result: {due: 10, sent: 10, completed: 10, expected: 10, outcomes: {success: 10}, responseTime: {samples: 10, p95: %[2]s}}}]
`, i+1, p95))
	}
	return strings.Join(docs, "---\n")
}

func TestTrendOfFiles(t *testing.T) {
	t.Parallel()
	u := newTestUser(t)
	file := write(t, "runs.yaml", finishedRuns("40ms", "41ms", "40ms", "52ms", "51ms", "52ms"))
	got := u.run("trend", "-f", file)
	contains(t, "the trend", got.out, "nightly-1   2026-11-01 02:30   Passed", "40ms",
		"p95 has another level since nightly-4 (2026-11-04 02:30): 52ms instead of 40ms, +30 %.")
	contains(t, "its JSON", u.run("trend", "-f", file, "-o", "json").out, `"metric": "p95"`, `"run": "nightly-4"`, `"changePercent": 30`)
	steady := write(t, "steady.yaml", finishedRuns("40ms", "41ms", "40ms", "40ms", "41ms", "40ms"))
	contains(t, "of one level", u.run("trend", "-f", steady).out, "No run changed the level of what was sustained, or of p95.")
	few := write(t, "few.yaml", finishedRuns("40ms", "40ms", "40ms", "90ms", "90ms"))
	contains(t, "of five runs", u.run("trend", "-f", few).out, "Too few runs to tell a change of a level: it takes 6 that passed or failed, and were measured.")
	if out := u.run("trend", "-f", steady, "-o", "json").out; strings.TrimSpace(out) != "[]" {
		t.Errorf("JSON of no change: %q", out)
	}
}

// A run with loads is one run, with p95 of all its requests, whether its loads are in the file or not.
func TestTrendOfRunsWithLoads(t *testing.T) {
	t.Parallel()
	docs := finishedRuns("40ms", "41ms", "40ms", "52ms", "51ms", "52ms")
	runs := regexp.MustCompile(`steps: \[\{name: s, state.*responseTime: (.*)\}\}\]\n`).ReplaceAllString(docs, "loads: [{name: a, test: of-a}]\n  together: {due: 10, sent: 10, responseTime: $1}\n")
	load := strings.ReplaceAll(finishedRuns("99ms"), "nightly-1", "of-a")
	got := alone(t.Context(), t, "trend", "-f", write(t, "runs.yaml", runs+"---\n"+load))
	contains(t, "the trend", got.out, "p95 has another level since nightly-4 (2026-11-04 02:30): 52ms instead of 40ms, +30 %.")
	if strings.Contains(got.out, "of-a") {
		t.Errorf("a load is taken for a run:\n%s", got.out)
	}
}

func TestTrendSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	u := newTestUser(t)
	contains(t, "without a name", u.run("trend").err, "give the name of a schedule or of runs, or files with -f")
	contains(t, "another form", u.run("trend", "a", "-o", "html").err, `--output must be text or json, not "html"`)
	contains(t, "a file of nothing that has finished", u.run("trend", "-f", write(t, "a.yaml", manifest("a"))).err, "a.yaml: has no LoadTest that has finished")
	contains(t, "a name of nothing", u.run("trend", "none").err, "has no finished run of schedule or name none")
}
