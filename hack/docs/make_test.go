package docs

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/docs/page"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// made is a target of make in a line of text, and typed one in a line of a block.
var (
	made  = regexp.MustCompile("`make ([a-z][a-z/-]*[a-z])")
	typed = regexp.MustCompile(`(?m)^(?:time )?make ([a-z][a-z/-]*[a-z])`)
)

// TestTargetsOfMakeExist compares what pages call with the Makefile.
func TestTargetsOfMakeExist(t *testing.T) {
	makefile := must.ReadFile(t, filepath.Join(root, "Makefile"))
	found := 0
	for name, text := range currentTexts(t) {
		for _, target := range targetsOf(text) {
			found++
			if !hasTarget(string(makefile), target) {
				t.Errorf("%s: there is no make %s", name, target)
			}
		}
	}
	if found < 50 {
		t.Errorf("%d targets were found only", found)
	}
	same.As(t, "targets", []string{"bench-worker", "try"}, targetsOf("Run `make bench-worker ARGS=x`, and\nmake sure.\n\n```sh\nmake try\n```\n"))
	if hasTarget(string(makefile), "site") {
		t.Error("a target that is not there is found")
	}
}

// targetsOf are the targets of make that a page calls.
func targetsOf(text string) (list []string) {
	calls := made.FindAllStringSubmatch(text, -1)
	for _, b := range page.Parse([]byte(text)).Blocks {
		calls = append(calls, typed.FindAllStringSubmatch(b.Text, -1)...)
	}
	for _, m := range calls {
		list = append(list, m[1])
	}
	return list
}

// hasTarget says whether a target is in a Makefile, alone or among others of one rule.
func hasTarget(makefile, target string) bool {
	return regexp.MustCompile(`(?m)^(?:[a-z][a-z -]* )?` + regexp.QuoteMeta(target) + `(?: [a-z -]*)?:`).MatchString(makefile)
}
