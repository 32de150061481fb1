package apiserver

import (
	"os"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestCRDIsAFile(t *testing.T) {
	root, err := Root()
	must.Succeed(t, err)
	path, err := ServiceMonitor.path(root)
	must.Succeed(t, err)
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "kind: ServiceMonitor\n") {
		t.Errorf("%s is no CRD of ServiceMonitors: %v", path, err)
	}
}

func TestAModuleThatIsNotPinnedIsNamed(t *testing.T) {
	root, err := Root()
	must.Succeed(t, err)
	_, err = CRD{module: "example.com/unknown"}.path(root)
	must.Say(t, err, "example.com/unknown")
}
