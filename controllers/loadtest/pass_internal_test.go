package loadtest

import (
	"os"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The order of a pass is read in doc.go.
func TestPhasesAreThoseOfTheDocumentation(t *testing.T) {
	var names []string
	for _, p := range phases {
		names = append(names, p.name)
	}
	doc, err := os.ReadFile("doc.go")
	must.Succeed(t, err)
	if want := "\n//\t" + strings.Join(names, " ─▶ ") + "\n"; !strings.Contains(string(doc), want) {
		t.Errorf("doc.go has another order than %s", strings.Join(names, ", "))
	}
}
