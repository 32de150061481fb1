package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/deploy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// TestFilesAreThere keeps the names that the demo has true: those of charts,
// presets and scenarios.
func TestFilesAreThere(t *testing.T) {
	local, err := deploy.ClusterOf(func(string) string { return "" })
	must.Succeed(t, err)
	paths := []string{deploy.OperatorChart + "/Chart.yaml", deploy.OperatorChart + "/crds", deploy.TargetsChart + "/Chart.yaml", local.Operator[1], local.Targets[1]}
	for _, file := range files {
		paths = append(paths, scenarios+"/"+file)
	}
	for _, strategy := range strategies {
		paths = append(paths, deploy.TargetsChart+"/values-seed-004-"+strategy+".yaml")
	}
	for _, path := range paths {
		if _, err := os.Stat(filepath.Join("..", "..", path)); err != nil {
			t.Error(err)
		}
	}
}
