package docs

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/docs/page"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// TestClaimsAreHeld has each row of what this operator has name a manifest or a test of
// this repository, and each row about others link to what they publish. That the file and
// the test are there is TestLinksLeadSomewhere's.
func TestClaimsAreHeld(t *testing.T) {
	text := must.ReadFile(t, filepath.Join(root, "docs", "comparison.md"))
	ours := rowsBelow(t, string(text), "## What this operator has\n")
	for _, row := range ours {
		if !isHeld(page.Parse([]byte(row)).Links) {
			t.Errorf("name a manifest or a test that holds this: %s", row)
		}
	}
	for _, row := range rowsBelow(t, string(text), "## What was read\n") {
		if !strings.Contains(row, "](https://github.com/") {
			t.Errorf("link to what was read: %s", row)
		}
	}
	if len(ours) < 10 {
		t.Errorf("there are %d claims only", len(ours))
	}
	if isHeld(page.Parse([]byte("[TestX](https://example.com/x_test.go) and [a](../README.md)")).Links) {
		t.Error("links that hold nothing are taken for a test")
	}
}

// isHeld says whether a manifest or a test of the repository is among links.
func isHeld(links []page.Link) bool {
	for _, l := range links {
		isTest := strings.HasPrefix(l.Text, "Test") && strings.HasSuffix(l.Destination, "_test.go")
		isManifest := strings.HasSuffix(l.Destination, ".yaml")
		if strings.HasPrefix(l.Destination, "../") && (isTest || isManifest) {
			return true
		}
	}
	return false
}

// rowsBelow are the rows of the first table below a heading.
func rowsBelow(t *testing.T, text, heading string) []string {
	t.Helper()
	_, below, ok := strings.Cut(text, heading)
	if !ok {
		t.Fatalf("there is no heading %q", heading)
	}
	var rows []string
	for line := range strings.Lines(below) {
		if strings.HasPrefix(line, "|") {
			rows = append(rows, line)
		} else if len(rows) > 0 {
			break
		}
	}
	return rows[2:] // without the head
}
