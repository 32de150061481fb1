package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const sample = "hack/mutation/testdata/sample"

func TestWhatNoTestNoticesIsNamed(t *testing.T) {
	file, err := filepath.Abs("testdata/lived.txt")
	must.Succeed(t, err)
	t.Chdir("../..")
	sources := must.ReadFile(t, sample+"/sample.go")
	known := []*equivalent{{file: sample + "/sample.go", change: "< is <=", text: "if n < least {"}}
	r, err := options{workers: 2}.try(sample, known)
	must.Succeed(t, err)
	var lines strings.Builder
	for _, m := range r.survivors {
		fmt.Fprintln(&lines, m)
	}
	golden.Check(t, file, lines.String()+r.String()+"\n")
	if after, err := os.ReadFile(sample + "/sample.go"); err != nil || string(after) != string(sources) {
		t.Errorf("%v; the package was changed", err)
	}
	for _, wrong := range []*equivalent{
		{file: known[0].file, change: "> is >=", text: "for n > 1 {"}, {file: known[0].file, change: "< is <=", text: "if n < most {"},
	} {
		if _, err := (options{workers: 2}).try(sample, []*equivalent{wrong}); err == nil {
			t.Errorf("%s, in %s: it is listed as one that does what the original does", wrong.change, wrong.text)
		}
	}
}

func TestASampleOfTheMutantsIsTheSameEachTime(t *testing.T) {
	all := make([]mutant, 50)
	for i := range all {
		all[i].id = i
	}
	first, again := options{sample: 10}.choose(all), options{sample: 10}.choose(all)
	if len(first) != 10 || !slices.Equal(first, again) || len(options{sample: 51}.choose(all)) != 50 || len(options{}.choose(all)) != 50 {
		t.Errorf("%v, then %v", first, again)
	}
	all[7].file = "a/b_c.go"
	if got := (options{files: "b_"}).choose(all); len(got) != 1 || got[0].id != 7 || len(all) != 50 {
		t.Errorf("of the files whose names contain b_: %v", got)
	}
}

func TestEachListedMutantHasAReason(t *testing.T) {
	for text, want := range map[string]string{
		"# none\n": "", "a.go | < is <= | if a < b {\nb.go | < is <= | if a < b {\n\tThey are never equal.\n": "They are never equal. They are never equal.",
		"a.go | < is <= | if a < b {\n": "error", "a.go: < is <=\n\tNo.\n": "error", "\tNo.\n": "error",
	} {
		file := filepath.Join(t.TempDir(), "list")
		must.Succeed(t, os.WriteFile(file, []byte(text), 0o600))
		all, err := equivalents(file)
		var reasons []string
		for _, e := range all {
			reasons = append(reasons, e.reason)
		}
		if got := strings.Join(reasons, " "); (err != nil) != (want == "error") || err == nil && got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// A test that takes long is tried by its subtests.
func TestSubtestsAreFound(t *testing.T) {
	got := subtest.FindAllStringSubmatch("=== RUN   TestA\n=== RUN   TestA/one_thing\n=== RUN   TestA/one_thing/deeper\n--- PASS: TestA/one_thing (0.00s)\n", -1)
	if len(got) != 2 || got[0][1] != "TestA/one_thing" || got[1][1] != "TestA/one_thing" {
		t.Errorf("%q", got)
	}
}

func TestPurePackagesAreThoseOfTheRules(t *testing.T) {
	t.Chdir("../..")
	all, err := pure()
	if err != nil || !slices.Contains(all, "controllers/judge/verdict/...") || !slices.Contains(all, "text") {
		t.Errorf("%v, %v", all, err)
	}
	for _, p := range all {
		if _, err := os.Stat(strings.TrimSuffix(p, "/...")); err != nil {
			t.Error(err)
		}
	}
}

func TestLinesThatDoNotCompileAreSkipped(t *testing.T) {
	skip := map[string]map[int]bool{}
	const output = "# a\n./a/b.go:12:3: undefined: x\na/c.go:7:1: y\n"
	if !skipAlso(skip, output) || skipAlso(skip, output) {
		t.Error("there is nothing new, or there is again")
	}
	same.As(t, "lines", map[string]map[int]bool{"a/b.go": {12: true}, "a/c.go": {7: true}}, skip)
}
