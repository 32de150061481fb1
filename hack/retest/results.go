package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// event is one of those that go test -json prints; see go doc test2json.
type event struct {
	Action, Package, Test, Output string
}

// test is a test of a package.
type test struct{ Package, Test string }

func (t test) String() string { return t.Package + "." + t.Test }

// pattern is that of -run which selects the test alone.
func (t test) pattern() string {
	var parts []string
	for part := range strings.SplitSeq(t.Test, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
	}
	return strings.Join(parts, "/")
}

// results are what became of the tests.
type results struct {
	out     io.Writer
	verbose bool

	output   map[test]*strings.Builder // of tests that run
	ended    map[test]bool             // whether it passed, or was skipped
	packages []string                  // that failed
	panicked []string                  // likewise, of packages
}

func (r *results) add(e event) {
	t := test{e.Package, e.Test}
	switch e.Action {
	case "output", "build-output":
		r.say(t, e.Output)
	case "pass", "skip":
		r.end(t, true)
	case "fail":
		r.end(t, false)
	}
}

// say prints what a package says, and keeps what a test says until it fails.
func (r *results) say(t test, text string) {
	if strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ") {
		r.panicked = append(r.panicked, t.Package)
	}
	switch {
	case r.verbose, t.Test == "" && isWorthSaying(text):
		fmt.Fprint(r.out, text)
	case t.Test != "":
		if r.output == nil {
			r.output = map[test]*strings.Builder{}
		}
		if r.output[t] == nil {
			r.output[t] = &strings.Builder{}
		}
		r.output[t].WriteString(text)
	}
}

// isWorthSaying leaves out what says nothing of any test.
func isWorthSaying(text string) bool {
	return text != "PASS\n" && !strings.Contains(text, "[no test files]")
}

func (r *results) end(t test, passed bool) {
	if t.Test == "" {
		if !passed {
			r.packages = append(r.packages, t.Package)
		}
		return
	}
	if r.ended == nil {
		r.ended = map[test]bool{}
	}
	r.ended[t] = passed
	if said := r.output[t]; said != nil && !passed {
		fmt.Fprint(r.out, said.String())
	}
	delete(r.output, t)
}

// passed says whether a test ran and passed.
func (r *results) passed(t test) bool { return r.ended[t] }

// suspects are the tests that failed and have no subtest that did. why is set if they may
// not have failed by chance.
func (r *results) suspects() (failed []test, why string) {
	for t, passed := range r.ended {
		if !passed && !r.hasFailedWithin(t) {
			failed = append(failed, t)
		}
	}
	slices.SortFunc(failed, func(a, b test) int { return strings.Compare(a.String(), b.String()) })
	if len(r.panicked) > 0 {
		return nil, r.panicked[0] + " panicked"
	}
	for _, name := range r.packages {
		if !slices.ContainsFunc(failed, func(t test) bool { return t.Package == name }) {
			return nil, name + " failed without a test that did"
		}
	}
	switch n := len(failed); {
	case n == 0:
		return nil, "no test failed"
	case n > most:
		return nil, fmt.Sprintf("%d tests failed, at most %d do by chance", n, most)
	}
	return failed, ""
}

func (r *results) hasFailedWithin(t test) bool {
	for other, passed := range r.ended {
		if !passed && other.Package == t.Package && strings.HasPrefix(other.Test, t.Test+"/") {
			return true
		}
	}
	return false
}
