package command_test

import (
	"fmt"
	"strings"
	"testing"
)

// LoadTests of files and of the cluster are compared with the first of the files.
func TestCompare(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.create(finished("Failed"))
	saved := p.file(p.run("report", "hello", "-o", "yaml").out)
	for _, args := range [][]string{
		{"compare", "hello", "hello"}, {"compare", "-f", saved, "hello"}, {"compare", "-f", saved, "-f", saved}, {"compare", "hello", "hello", "-o", "markdown"}, {"compare", "hello", "hello", "-o", "html"},
	} {
		if got := p.run(args...); got.code != 0 || !strings.Contains(got.out, "(hello (2)) Requests failed") {
			t.Errorf("%v: exit code %d, %s\n%s", args, got.code, got.err, got.out)
		}
	}
	if got := p.run("compare", "hello", "hello", "-o", "json"); got.code != 0 || !strings.Contains(got.out, `"hello (2)"`) || !strings.Contains(got.out, `"differences": []`) { // its step lacks a worker
		t.Errorf("-o json: exit code %d, %s\n%s", got.code, got.err, got.out)
	}
	p.refuses(map[string][]string{
		"at least two LoadTests":                                  {"compare", "hello"},
		"must be one of Never, Regression, Change, not \"worse\"": {"compare", "hello", "hello", "--fail-on", "worse"},
		"not \"junit\"":                                           {"compare", "hello", "hello", "-o", "junit"},
		"\"missing\" not found":                                   {"compare", "hello", "missing"},
		"hello has not finished":                                  {"compare", "-f", p.file(manifest("hello")), "hello"},
		"no such file":                                            {"compare", "-f", "/nowhere/at/all", "hello"},
	})
}

// measured is a finished LoadTest of one step, as a file, in which so many of 1000 requests failed.
func measured(failed int, verdict string) string {
	return fmt.Sprintf(`{"apiVersion": "loadtest.dev/v1beta1", "kind": "LoadTest", "metadata": {"name": "shop"},
  "spec": {"target": {"url": "http://shop:80"}, "requests": [{"name": "home", "http": {"path": "/"}}], "steps": [{"name": "10", "users": 10, "duration": "10s"}]},
  "status": {"verdict": %q, "workers": {"desired": 1}, "conditions": [{"type": "Finished", "status": "True", "reason": "Passed", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
    "steps": [{"name": "10", "rung": 1, "state": "Complete", "workersReporting": 1, "load": {"users": 10, "duration": "10s"},
      "result": {"due": 1000, "sent": 1000, "failed": %d, "goodput": "100.0"}}]}}`, verdict, failed)
}

// The exit code follows from what is marked, and only if it was asked for.
func TestExitCodesOfComparisons(t *testing.T) {
	before := write(t, "before.json", measured(2, "Passed"))
	worse, open := write(t, "worse.json", measured(900, "Failed")), write(t, "open.json", measured(2, "Inconclusive"))
	for _, tc := range []struct {
		first, second, failOn string
		code                  int
		log                   string
	}{
		{before, before, "", 0, ""},
		{before, worse, "", 0, ""},
		{before, worse, "Never", 0, ""},
		{before, before, "Regression", 0, "compare: Passed: Of 3 figures that were compared with shop, none is worse beyond chance.\n"},
		{before, worse, "Regression", 1, "compare: Failed: failureRate in step 10 is 90% instead of 0.2%, +44900.0% worse.\n"},
		{worse, before, "Regression", 0, "compare: Passed: Of 3 figures that were compared with shop, none is worse beyond chance.\n"},
		{worse, before, "Change", 1, "compare: Failed: failureRate in step 10 is 0.2% instead of 90%, -99.8% better.\n"},
		{before, open, "Regression", 2, "compare: Inconclusive: The verdict of shop (2) is Inconclusive: its figures may not describe its target.\n"},
	} {
		for _, form := range []string{"text", "comment", "json"} {
			args := []string{"compare", "-f", tc.first, "-f", tc.second, "-o", form}
			if tc.failOn != "" {
				args = append(args, "--fail-on", tc.failOn)
			}
			got := alone(t.Context(), t, args...)
			if got.code != tc.code || got.err != tc.log || got.out == "" {
				t.Errorf("%v: exit code %d, want %d; %q, want %q", args, got.code, tc.code, got.err, tc.log)
			}
		}
	}
}
