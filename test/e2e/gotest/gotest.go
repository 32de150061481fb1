package gotest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Attribute is the name of the attribute that says what a check has seen.
const Attribute = "seen"

// Check is a test that has seen something, or has failed.
type Check struct {
	// What was checked, for people: the name of the test in words.
	What string
	// Seen is what was seen. It may be empty if the check has failed.
	Seen   string
	Failed bool
	// Output is what the test printed.
	Output string
}

// Read returns the checks, in the order in which they began.
func Read(out []byte) ([]Check, error) {
	tests := tests{byName: map[string]*test{}}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Test == "" {
			continue // of a package as a whole, or of the compiler
		}
		tests.of(e).take(e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the output of go test: %w", err)
	}
	return tests.checks(), nil
}

type event struct{ Action, Package, Test, Key, Value, Output string }

// test is a test, or a part of one.
type test struct {
	Check
	// failures is how many parts of it have failed.
	failures int
	whole    *test
}

// tests are in the order in which they began.
type tests struct {
	byName  map[string]*test
	inOrder []*test
}

func (ts *tests) of(e event) *test {
	key := e.Package + " " + e.Test
	if t := ts.byName[key]; t != nil {
		return t
	}
	t := &test{Check: Check{What: words(e.Test)}}
	if i := strings.LastIndex(key, "/"); i >= 0 {
		t.whole = ts.byName[key[:i]] // nil: the slash is of the package
	}
	ts.byName[key] = t
	ts.inOrder = append(ts.inOrder, t)
	return t
}

// words is the name of a test for people.
func words(name string) string {
	return strings.NewReplacer("_", " ", "/", ": ").Replace(strings.TrimPrefix(name, "Test"))
}

func (t *test) take(e event) {
	switch e.Action {
	case "fail":
		t.Failed = true
		if t.whole != nil {
			t.whole.failures++
		}
	case "output":
		t.Output += e.Output
	case "attr":
		if e.Key == Attribute {
			t.Seen = e.Value
		}
	}
}

func (ts *tests) checks() (checks []Check) {
	for _, t := range ts.inOrder {
		if t.Seen != "" || t.Failed && t.failures == 0 {
			checks = append(checks, t.Check)
		}
	}
	return checks
}
