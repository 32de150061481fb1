package build

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// module is where the components' module is, from the root of the repository.
const module = "hack/cluster/kubernetes"

// FindSource looks for the components' module from a folder upwards.
func FindSource(from string) (string, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return "", fmt.Errorf("find the source: %w", err)
	}
	for folder := from; ; folder = filepath.Dir(folder) {
		source := filepath.Join(folder, filepath.FromSlash(module))
		if _, err := os.Stat(filepath.Join(source, "go.mod")); err == nil {
			return source, nil
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("no folder %s in %s or above it: "+
				"call cluster inside the repository, or name the folder with --source", module, from)
		}
	}
}

// version is the Kubernetes release that go.mod requires.
func version(gomod string) (string, error) {
	for line := range strings.Lines(gomod) {
		if fields := strings.Fields(strings.TrimPrefix(line, "require ")); len(fields) >= 2 && fields[0] == "k8s.io/kubernetes" {
			return fields[1], nil
		}
	}
	return "", errors.New("go.mod requires no k8s.io/kubernetes")
}

// linkerFlags set the version of the components, on which clients of the API server
// depend.
func linkerFlags(release string) []string {
	numbers := strings.SplitN(strings.TrimPrefix(release, "v"), ".", 3)
	var flags []string
	for _, variable := range [][2]string{
		{"gitVersion", release}, {"gitMajor", numbers[0]}, {"gitMinor", numbers[1]}, {"gitTreeState", "clean"},
	} {
		flags = append(flags, fmt.Sprintf("-X k8s.io/component-base/version.%s=%s", variable[0], variable[1]))
	}
	return flags
}
