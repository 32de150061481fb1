package apiserver

import (
	"os"
	"strings"
	"testing"
)

func TestCRDIsAFile(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	path, err := ServiceMonitor.path(root)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "kind: ServiceMonitor\n") {
		t.Errorf("%s is no CRD of ServiceMonitors: %v", path, err)
	}
}

func TestAModuleThatIsNotPinnedIsNamed(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	path, err := CRD{module: "example.com/unknown"}.path(root)
	if err == nil || !strings.Contains(err.Error(), "example.com/unknown") {
		t.Errorf("path = %q, %v, want an error that names the module", path, err)
	}
}
