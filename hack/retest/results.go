package main

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// lastLines is how many lines of a test that failed are printed again.
const lastLines = 40

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

// state is what has become of a test.
type state string

const (
	running state = "running"
	paused  state = "paused" // until other tests have ended
	passed  state = "passed"
	skipped state = "skipped"
	failed  state = "failed"
)

// states are the states of tests by the actions that lead to them.
var states = map[string]state{"run": running, "cont": running, "pause": paused, "pass": passed, "skip": skipped, "fail": failed}

// results are what became of the tests.
type results struct {
	out     io.Writer
	verbose bool

	output   map[test]*strings.Builder // of tests that run
	why      strings.Builder           // what tests said that failed, if it was printed as it came
	states   map[test]state
	passes   map[test]int        // how often each passed
	packages []string            // that failed
	noChance map[string][]string // what packages say that is no chance
}

func newResults(out io.Writer, verbose bool) *results {
	return &results{
		out: out, verbose: verbose,
		output: map[test]*strings.Builder{}, states: map[test]state{}, passes: map[test]int{}, noChance: map[string][]string{},
	}
}

func (r *results) add(e event) {
	t := test{e.Package, e.Test}
	now, ok := states[e.Action]
	switch {
	case e.Action == "output", e.Action == "build-output":
		r.say(t, e.Output)
	case ok && t.Test != "":
		r.enter(t, now)
	case now == failed:
		r.fail(t.Package)
	}
}

// say prints what a package says, and keeps what a test says until it fails.
func (r *results) say(t test, text string) {
	if why := noChance(text); why != "" {
		r.noChance[t.Package] = append(r.noChance[t.Package], t.Package+" "+why)
	}
	if r.verbose || t.Test == "" && isWorthSaying(text) {
		fmt.Fprint(r.out, text)
	}
	if t.Test != "" {
		if r.output[t] == nil {
			r.output[t] = &strings.Builder{}
		}
		r.output[t].WriteString(text)
	}
}

// noChance is what a line says of its package that is no chance.
func noChance(line string) string {
	switch {
	case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "):
		return "panicked"
	case strings.HasPrefix(line, "WARNING: DATA RACE"), strings.Contains(line, "race detected during execution of test"):
		return "has a data race"
	case strings.HasPrefix(line, "retest: never"):
		return "did not fail by a test alone"
	}
	return ""
}

// isWorthSaying leaves out what says nothing of any test.
func isWorthSaying(text string) bool {
	return text != "PASS\n" && !strings.Contains(text, "[no test files]")
}

// enter notes a state. A test that runs several times has failed if it failed once.
func (r *results) enter(t test, now state) {
	if r.states[t] != failed {
		r.states[t] = now
	}
	switch now {
	case failed:
		r.print(t)
	case passed:
		r.passes[t]++
	}
	if now == passed || now == skipped {
		delete(r.output, t)
	}
}

// print prints what a test has said, or its last lines at the end of the run if they were
// printed as they came.
func (r *results) print(t test) {
	said := r.output[t]
	delete(r.output, t)
	switch {
	case said == nil:
	case r.verbose:
		fmt.Fprintf(&r.why, "%s:\n%s", t, last(said.String(), lastLines))
	default:
		fmt.Fprint(r.out, said.String())
	}
}

// last are the last lines of a text.
func last(text string, most int) string {
	lines := slices.Collect(strings.Lines(text))
	return strings.Join(lines[max(0, len(lines)-most):], "")
}

// fail prints what the tests of a package said that did not end: a panic or the end of its
// time, which is among it, is why.
func (r *results) fail(name string) {
	r.packages = append(r.packages, name)
	for _, t := range sorted(maps.Keys(r.output)) {
		if t.Package == name {
			r.print(t)
		}
	}
}

// suspects are the tests that failed and have no subtest that did. why is set if they may
// not have failed by chance.
func (r *results) suspects() (all []test, why string) {
	all = r.innermost(failed)
	var reasons []string
	for _, name := range r.packages {
		reasons = append(reasons, r.noChance[name]...)
	}
	if unended := r.unended(); len(unended) > 0 {
		reasons = append(reasons, "did not end:"+list(unended))
	}
	for _, name := range r.unexplained() {
		reasons = append(reasons, name+" failed without a test that did")
	}
	switch n := len(all); {
	case n == 0 && len(reasons) == 0:
		reasons = append(reasons, "no test failed")
	case n > most:
		reasons = append(reasons, fmt.Sprintf("%d tests failed, at most %d do by chance:", n, most)+list(all))
	}
	slices.Sort(reasons)
	if why := strings.Join(slices.Compact(reasons), "; "); why != "" {
		return nil, why
	}
	return all, ""
}

// unended are the tests that began and did not end. What only waited for others is not named
// beside one that ran.
func (r *results) unended() []test {
	if all := r.innermost(running); len(all) > 0 {
		return all
	}
	return r.innermost(paused)
}

// unexplained are the packages that failed without a test that failed or did not end.
func (r *results) unexplained() []string {
	return slices.DeleteFunc(slices.Clone(r.packages), func(name string) bool {
		return slices.ContainsFunc(slices.Concat(r.innermost(failed), r.unended()), func(t test) bool { return t.Package == name })
	})
}

// innermost are the tests in a state that have no subtest in it.
func (r *results) innermost(in state) []test {
	all, outer := map[test]bool{}, map[test]bool{}
	for t, now := range r.states {
		if now == in {
			all[t] = true
			t.addOuter(outer)
		}
	}
	maps.DeleteFunc(all, func(t test, _ bool) bool { return outer[t] })
	return sorted(maps.Keys(all))
}

// addOuter adds the tests that a subtest is in.
func (t test) addOuter(to map[test]bool) {
	for at := strings.LastIndex(t.Test, "/"); at >= 0; at = strings.LastIndex(t.Test, "/") {
		t.Test = t.Test[:at]
		to[t] = true
	}
}

// count says what became of the tests, where some of those that failed were flaky.
func (r *results) count(flaky int) string {
	outer, n := map[test]bool{}, map[state]int{}
	for t := range r.states {
		t.addOuter(outer)
	}
	for t, now := range r.states {
		if !outer[t] {
			n[now]++
		}
	}
	bad := len(r.innermost(failed)) + len(r.unended()) + len(r.unexplained()) - flaky
	return fmt.Sprintf("tests: %d passed, %d failed, %d skipped, %d flaky\n", n[passed], bad, n[skipped], flaky)
}

func sorted(tests iter.Seq[test]) []test {
	return slices.SortedFunc(tests, func(a, b test) int { return strings.Compare(a.String(), b.String()) })
}

// list has each test on a line of its own.
func list(tests []test) string {
	text := ""
	for _, t := range tests {
		text += "\n\t" + t.String()
	}
	return text
}
