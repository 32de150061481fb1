//go:build e2e

package ecosystem

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/gotest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// module makes the checks that need a component's Go module: the tests of
// hack/components/NAME; see gotest. They compile the component, which takes minutes once.
func (e *ecosystem) module(t *testing.T, component, name string) {
	command := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-json", "./...")
	command.Dir = filepath.Join("..", "..", "..", "hack", "components", name)
	var problems bytes.Buffer
	command.Stderr = &problems
	out, failure := command.Output()
	checks, err := gotest.Read(out)
	must.Succeed(t, err)
	for _, check := range checks {
		e.tell(component, check.What, check.Seen, check.Failed)
		if check.Failed {
			t.Errorf("%s:\n%s", check.What, check.Output)
		}
	}
	if failure != nil && !t.Failed() {
		t.Errorf("go test in %s: %v\n%s%s", command.Dir, failure, problems.Bytes(), out)
	}
}
