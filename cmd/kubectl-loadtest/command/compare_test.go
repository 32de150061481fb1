package command_test

import (
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
	for want, args := range map[string][]string{
		"at least two LoadTests": {"compare", "hello"},
		"not \"junit\"":          {"compare", "hello", "hello", "-o", "junit"},
		"\"missing\" not found":  {"compare", "hello", "missing"},
		"hello has not finished": {"compare", "-f", p.file(manifest("hello")), "hello"},
		"no such file":           {"compare", "-f", "/nowhere/at/all", "hello"},
	} {
		if got := p.run(args...); got.code != 4 || !strings.Contains(got.err, want) {
			t.Errorf("%v: exit code %d, %q, want 4 and %q", args, got.code, got.err, want)
		}
	}
}
