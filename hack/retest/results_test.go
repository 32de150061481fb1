package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// events are what go test -json prints of a package p.
func events(t *testing.T, lines ...string) (*results, string) {
	t.Helper()
	var out bytes.Buffer
	r := newResults(&out, false)
	r.read(strings.NewReader(strings.Join(lines, "\n") + "\n"))
	return r, out.String()
}

const (
	start    = `{"Action":"run","Package":"p","Test":"TestA"}`
	says     = `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: why\n"}`
	fails    = `{"Action":"fail","Package":"p","Test":"TestA"}`
	passes   = `{"Action":"pass","Package":"p","Test":"TestA"}`
	pkgFails = `{"Action":"fail","Package":"p"}`
)

// action is an event of a test of package p.
func action(name, test string) string {
	return fmt.Sprintf(`{"Action":%q,"Package":"p","Test":%q}`, name, test)
}

// output is a line that a test prints; of the package itself if it has no name.
func output(test, line string) string {
	return fmt.Sprintf(`{"Action":"output","Package":"p","Test":%q,"Output":%q}`, test, line+"\n")
}

func TestOutputIsPrintedOfTestsThatFail(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  string
	}{
		"failed":             {[]string{start, says, fails}, "    a_test.go:1: why\n"},
		"passed":             {[]string{start, says, passes}, ""},
		"of the package":     {[]string{`{"Action":"output","Package":"p","Output":"ok  \tp\t1s\n"}`}, "ok  \tp\t1s\n"},
		"without tests":      {[]string{`{"Action":"output","Package":"p","Output":"?   \tp\t[no test files]\n"}`}, ""},
		"of the build":       {[]string{`{"Action":"build-output","ImportPath":"p","Output":"a.go:1: undefined\n"}`}, "a.go:1: undefined\n"},
		"a line of its own":  {[]string{"go: downloading x"}, "go: downloading x\n"},
		"a line in brackets": {[]string{"{no event}"}, "{no event}\n"},
		"did not end":        {[]string{start, says, pkgFails}, "    a_test.go:1: why\n"},
		"after it failed":    {[]string{start, fails, output("TestA", "panic: why"), pkgFails}, "panic: why\n"},
	} {
		if _, got := events(t, tt.lines...); got != tt.want {
			t.Errorf("%s: printed %q, want %q", name, got, tt.want)
		}
	}
}

// Tests that run at once print in turn, so that what each said is repeated by its name.
func TestWhatFailedIsRepeatedWhereAllIsPrinted(t *testing.T) {
	var out bytes.Buffer
	r := newResults(&out, true)
	long := strings.Repeat("more\n", lastLines)
	lines := []string{output("TestA", "one"), output("TestB", "two"), output("TestA", "three"), action("fail", "TestA"), action("pass", "TestB"), output("TestC", long+"last"), pkgFails}
	r.read(strings.NewReader(strings.Join(lines, "\n") + "\n"))
	same.As(t, "printed", "one\ntwo\nthree\n"+long+"last\n", out.String())
	same.As(t, "repeated", "p.TestA:\none\nthree\np.TestC:\n"+long[len("more\n"):]+"last\n", r.why.String())
}

func TestSuspectsAreTheInnermostTestsThatFailed(t *testing.T) {
	r, _ := events(t,
		`{"Action":"fail","Package":"p","Test":"TestA/one_(x)"}`, `{"Action":"pass","Package":"p","Test":"TestA/two"}`, fails,
		`{"Action":"fail","Package":"p","Test":"TestAB"}`, pkgFails,
		`{"Action":"output","Package":"q","Output":"retest: never\n"}`, `{"Action":"pass","Package":"q"}`) // which did not fail
	failed, why := r.suspects()
	if why != "" || len(failed) != 2 || failed[0].String() != "p.TestA/one_(x)" || failed[1].String() != "p.TestAB" {
		t.Fatalf("suspects %v, %s", failed, why)
	}
	same.As(t, "it is selected by", `^TestA$/^one_\(x\)$`, failed[0].pattern())
}

func TestWhatIsNoChanceIsNotRunAgain(t *testing.T) {
	many := []string{pkgFails}
	for _, name := range []string{"A", "B", "C", "D", "E", "F"} {
		many = append(many, action("fail", "Test"+name))
	}
	for want, lines := range map[string][]string{
		"p failed without a test that did": {pkgFails},
		"q failed without a test that did": {fails, pkgFails, `{"Action":"fail","Package":"q"}`},
		"p panicked":                       {output("TestA", "panic: test timed out after 1s"), fails, pkgFails},
		"did not end:\n\tp.TestB/one; p panicked": {
			fails, action("run", "TestB"), action("run", "TestB/one"), action("run", "TestC"), action("pause", "TestC"),
			output("TestB/one", "panic: test timed out after 1s"), pkgFails,
		},
		"did not end:\n\tp.TestB": {fails, action("run", "TestB"), pkgFails},
		"did not end:\n\tp.TestC": {fails, action("run", "TestC"), action("pause", "TestC"), pkgFails},
		"p has a data race": {
			start, output("TestA", "WARNING: DATA RACE"), output("TestA", "    testing.go:1: race detected during execution of test"), fails, pkgFails,
		},
		"p did not fail by a test alone": {fails, output("", "retest: never"), pkgFails},
		"6 tests failed, at most 5 do by chance:\n\tp.TestA\n\tp.TestB\n\tp.TestC\n\tp.TestD\n\tp.TestE\n\tp.TestF": many,
		"no test failed": {passes},
	} {
		r, _ := events(t, lines...)
		if failed, why := r.suspects(); why != want || failed != nil {
			t.Errorf("suspects %v, %q, want %q", failed, why, want)
		}
	}
}

func TestEachTestIsCountedOnce(t *testing.T) {
	r, _ := events(t,
		start, fails, start, passes, // it runs twice
		action("run", "TestB"), action("run", "TestB/one"), action("pass", "TestB/one"), action("skip", "TestB/two"), action("pass", "TestB"),
		action("run", "TestC"), action("run", "TestC/one"), action("fail", "TestC/one"), action("fail", "TestC"),
		action("skip", "TestD"), action("run", "TestE"), pkgFails, `{"Action":"fail","Package":"q"}`)
	if got, want := r.count(1), "tests: 1 passed, 3 failed, 2 skipped, 1 flaky\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestArgumentsAreFlagsThenPackages(t *testing.T) {
	flags, packages, err := split([]string{"-race", "-run", "A", "--", "./..."})
	if err != nil || strings.Join(flags, " ") != "-race -run A" || strings.Join(packages, " ") != "./..." {
		t.Errorf("%v, %v, %v", flags, packages, err)
	}
	for _, args := range [][]string{nil, {"./..."}, {"-race", "--"}} {
		if _, _, err := split(args); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}

// A test that fails the first time and passes when it runs alone is said to be flaky.
func TestChanceIsToldFromFailure(t *testing.T) {
	for _, tt := range []struct {
		run     string
		budget  time.Duration
		wantErr string // a part of it
		wantOut string // its end
	}{
		{"TestByChance", time.Minute, "", "flaky: example.com/flaky.TestByChance\ntests: 0 passed, 0 failed, 0 skipped, 1 flaky\n"},
		{"TestByChance", 0, "TestByChance failed, and no time is left", "\ntests: 0 passed, 1 failed, 0 skipped, 0 flaky\n"},
		{"TestAlways", time.Minute, "TestAlways failed again", "\ntests: 0 passed, 1 failed, 0 skipped, 0 flaky\n"},
		{"TestSkipsAlone", time.Minute, "TestSkipsAlone failed, and passed 0 of 3 times", "\ntests: 0 passed, 1 failed, 0 skipped, 0 flaky\n"},
		{"TestByChance|TestExits", time.Minute, "did not end:\n\texample.com/flaky.TestExits", "\ntests: 0 passed, 2 failed, 0 skipped, 0 flaky\n"},
	} {
		var out bytes.Buffer
		file := t.TempDir() + "/results"
		c := command{dir: "testdata/module", out: &out, budget: tt.budget, results: file, flags: []string{"-run", "^(" + tt.run + ")$", "-count=1"}, packages: []string{"."}}
		t.Setenv("RETEST_FIRST", t.TempDir()+"/first")
		err := c.run()
		if tt.wantErr == "" && err != nil || tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)) || !strings.HasSuffix(out.String(), tt.wantOut) {
			t.Errorf("%s: %v, printed:\n%s", tt.run, err, out.String())
		}
		if noted, err := os.ReadFile(file); err != nil || !strings.HasSuffix(out.String(), string(noted)) || !strings.Contains(string(noted), "tests: ") {
			t.Errorf("%s: noted %q, %v", tt.run, noted, err)
		}
	}
}

func TestATestRunsAloneForWhatIsLeft(t *testing.T) {
	c := command{flags: []string{"-race", "-timeout", "20m"}}
	got := strings.Join(c.alone(test{"p", "TestA/one"}, 90*time.Second), " ")
	if want := "-race -timeout 20m -run ^TestA$/^one$ -count=3 -timeout=1m30s"; got != want {
		t.Errorf("flags %s, want %s", got, want)
	}
}
