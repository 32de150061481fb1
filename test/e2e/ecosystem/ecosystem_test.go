//go:build e2e

package ecosystem

import (
	"flag"
	"fmt"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

// ecosystemParts are the programs of other projects that must work with ours. One runs
// alone by -run TestEcosystem/NAME.
var ecosystemParts = []ecosystemPart{
	{"chart", checkChart},
	{"argocd-engine", func(t *testing.T, e *ecosystem) { e.module(t, "Argo CD's engine", "argocd") }},
	{"argocd", argoCDChecks},
	{"kstatus", func(t *testing.T, e *ecosystem) { e.module(t, "Flux's kstatus", "flux") }},
	{"flux", checkFlux},
	{"prometheus", checkPrometheus},
	{"minio", checkMinIO},
}

// ecosystemPart makes its checks one after another.
type ecosystemPart struct {
	name string
	run  func(t *testing.T, e *ecosystem)
}

// TestEcosystem: other people's programs see our objects as people expect it. It prints a
// line for each check (component, what was checked, what was seen), and the summary last.
// It needs images that no other test needs, and runs only if it is asked for by its name.
func TestEcosystem(t *testing.T) {
	if flag.Lookup("test.run").Value.String() == "" {
		t.Skip("the components are built by make e2e SUITE=ecosystem")
	}
	e := &ecosystem{}
	t.Cleanup(func() {
		fmt.Println(e)
		if e.All() == 0 {
			t.Error("no check was made")
		}
	})
	for _, part := range ecosystemParts {
		t.Run(part.name, func(t *testing.T) {
			made, failed := e.All(), e.Count(checkFailed)
			defer func() {
				switch {
				case t.Failed() && e.Count(checkFailed) == failed:
					e.tell(part.name, "made ready", "it could not be", true)
				case e.All() == made:
					t.Error("no check was made")
				}
			}()
			part.run(t, e)
		})
	}
}

// What comes of a check.
const (
	checkPassed = "passed"
	checkFailed = "failed"
)

// ecosystem counts the checks.
type ecosystem struct{ cluster.Scores }

func (e *ecosystem) String() string {
	return fmt.Sprintf("ecosystem: %d checks, %d failed", e.All(), e.Count(checkFailed))
}

// tell prints the line of a check.
func (e *ecosystem) tell(component, what, seen string, failed bool) {
	outcome, mark := checkPassed, ""
	if failed {
		outcome, mark = checkFailed, "FAILED: "
	}
	e.Note(outcome, "%s%s: %s: %s", mark, component, what, cluster.Excerpt(seen, ""))
}

// component is a program that checks are about.
type component struct {
	*ecosystem
	name string
}

// check makes one check. see fails its test if what it sees is not right.
func (c component) check(t *testing.T, what string, see func(t *testing.T) (seen string)) {
	t.Helper()
	t.Run(what, func(t *testing.T) {
		seen := "nothing"
		defer func() { c.tell(c.name, what, seen, t.Failed()) }() // also when the test ends in the middle
		seen = see(t)
	})
}
