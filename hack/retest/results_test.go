package main

import (
	"bytes"
	"strings"
	"testing"
)

// events are what go test -json prints of a package p.
func events(t *testing.T, lines ...string) (*results, string) {
	t.Helper()
	var out bytes.Buffer
	r := &results{out: &out}
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
	} {
		if _, got := events(t, tt.lines...); got != tt.want {
			t.Errorf("%s: printed %q, want %q", name, got, tt.want)
		}
	}
}

func TestSuspectsAreTheInnermostTestsThatFailed(t *testing.T) {
	r, _ := events(t,
		`{"Action":"fail","Package":"p","Test":"TestA/one_(x)"}`, `{"Action":"pass","Package":"p","Test":"TestA/two"}`, fails,
		`{"Action":"fail","Package":"p","Test":"TestAB"}`, pkgFails)
	failed, why := r.suspects()
	if why != "" || len(failed) != 2 || failed[0].String() != "p.TestA/one_(x)" || failed[1].String() != "p.TestAB" {
		t.Fatalf("suspects %v, %s", failed, why)
	}
	if got, want := failed[0].pattern(), `^TestA$/^one_\(x\)$`; got != want {
		t.Errorf("it is selected by %s, want %s", got, want)
	}
}

func TestWhatIsNoChanceIsNotRunAgain(t *testing.T) {
	many := []string{pkgFails}
	for _, name := range []string{"A", "B", "C", "D", "E", "F"} {
		many = append(many, `{"Action":"fail","Package":"p","Test":"Test`+name+`"}`)
	}
	for want, lines := range map[string][]string{
		"p failed without a test that did":       {pkgFails},
		"q failed without a test that did":       {fails, pkgFails, `{"Action":"fail","Package":"q"}`},
		"p panicked":                             {`{"Action":"output","Package":"p","Test":"TestA","Output":"panic: test timed out after 1s\n"}`, fails, pkgFails},
		"6 tests failed, at most 5 do by chance": many,
		"no test failed":                         {passes},
	} {
		r, _ := events(t, lines...)
		if failed, why := r.suspects(); why != want || failed != nil {
			t.Errorf("suspects %v, %q, want %q", failed, why, want)
		}
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
	for name, wantErr := range map[string]string{"TestByChance": "", "TestAlways": "failed again"} {
		var out bytes.Buffer
		c := command{dir: "testdata/module", out: &out, flags: []string{"-run", "^" + name + "$", "-count=1"}, packages: []string{"."}}
		t.Setenv("RETEST_FIRST", t.TempDir()+"/first")
		err := c.run("")
		if wantErr == "" && (err != nil || !strings.Contains(out.String(), "flaky: example.com/flaky.TestByChance\n")) ||
			wantErr != "" && (err == nil || !strings.Contains(err.Error(), wantErr)) {
			t.Errorf("%s: %v, printed:\n%s", name, err, out.String())
		}
	}
}
