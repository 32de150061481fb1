package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
)

// CRD is a kind that is not this repository's: a file of a module that hack/crds
// pins.
type CRD struct{ module, file string }

// The kinds of the Prometheus Operator.
var (
	ServiceMonitor = monitoring("servicemonitors")
	PodMonitor     = monitoring("podmonitors")
	PrometheusRule = monitoring("prometheusrules")
)

func monitoring(plural string) CRD {
	return CRD{
		module: "github.com/prometheus-operator/prometheus-operator",
		file:   "example/prometheus-operator-crd/monitoring.coreos.com_" + plural + ".yaml",
	}
}

// path finds the file in Go's cache of modules, and has it downloaded if need be:
// the one module, and none of those that it requires.
func (c CRD) path(root string) (string, error) {
	command := exec.Command("go", "mod", "download", "-json", c.module)
	command.Dir = filepath.Join(root, "hack", "crds")
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	var module struct{ Dir, Error string }
	if decodeErr := json.Unmarshal(out, &module); err == nil {
		err = decodeErr
	}
	if err != nil {
		return "", fmt.Errorf("find the module %s, which hack/crds pins: %w\n%s%s", c.module, err, module.Error, stderr.Bytes())
	}
	return filepath.Join(module.Dir, filepath.FromSlash(c.file)), nil
}
