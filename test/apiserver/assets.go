package apiserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// assetsVariable is the environment variable by which envtest, here and in other
// projects, is told where the programs are.
const assetsVariable = "KUBEBUILDER_ASSETS"

// assets returns the folder of the programs that a test server consists of.
func assets(getenv func(string) string) (string, error) {
	dir := getenv(assetsVariable)
	if dir == "" {
		return "", errors.New(assetsVariable + " is not set, so there is no kube-apiserver to test against; run `make test`, which builds one and sets it")
	}
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() {
			return "", fmt.Errorf("%s=%s holds no program %s; run `make test`, which builds it", assetsVariable, dir, name)
		}
	}
	return dir, nil
}

// Root returns the root of the repository: the nearest folder above the
// package under test, where go test runs it, that has a go.mod.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod in this folder or above it")
		}
		dir = parent
	}
}
