package build

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
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

// hash is of the names and contents of the module's files, without tests, and
// of what else determines the build.
func hash(source fs.FS, determinants ...string) (string, error) {
	sum := sha256.New()
	for _, determinant := range determinants {
		fmt.Fprintf(sum, "%q\n", determinant)
	}
	err := fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !compiled(name) {
			return err
		}
		content, err := fs.ReadFile(source, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%q %d\n%s\n", name, len(content), content)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("hash the source: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

func compiled(name string) bool {
	base := path.Base(name)
	return base == "go.mod" || base == "go.sum" ||
		strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go")
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
