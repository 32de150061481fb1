package archtest

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// foreign are the folders whose modules pin the requirements of one tool, or of one
// component of another project, each.
var foreign = []string{"bin", "hack/tools", "hack/bench/peers", "hack/components/argocd", "hack/components/flux", "hack/components/k6-operator", "hack/components/metrics-server", "hack/components/minio", "hack/components/prometheus", "hack/components/prometheus-operator"}

// requirements are the versions by module, and by the folder of the go.mod that
// requires it.
type requirements map[string]map[string]string

// readRequirements reads every go.mod in the folder, except the foreign ones.
func readRequirements(repo string) (requirements, error) {
	all := requirements{}
	err := fs.WalkDir(os.DirFS(repo), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(foreign, name):
			return fs.SkipDir
		case path.Base(name) != "go.mod":
			return nil
		}
		return all.add(path.Dir(name), filepath.Join(repo, filepath.FromSlash(name)))
	})
	return all, err
}

func (r requirements) add(folder, gomod string) error {
	out, err := exec.Command("go", "mod", "edit", "-json", gomod).Output()
	if err != nil {
		return fmt.Errorf("read %s: %w", gomod, err)
	}
	var file struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(out, &file); err != nil {
		return fmt.Errorf("read %s: %w", gomod, err)
	}
	for _, m := range file.Require {
		if r[m.Path] == nil {
			r[m.Path] = map[string]string{}
		}
		r[m.Path][folder] = m.Version
	}
	return nil
}

// conflicts are the modules that are required in several versions.
func (r requirements) conflicts() []string {
	var found []string
	for _, module := range slices.Sorted(maps.Keys(r)) {
		versions := slices.Sorted(maps.Values(r[module]))
		if len(slices.Compact(versions)) < 2 {
			continue
		}
		var by []string
		for _, folder := range slices.Sorted(maps.Keys(r[module])) {
			by = append(by, fmt.Sprintf("%s in %s", r[module][folder], path.Join(folder, "go.mod")))
		}
		found = append(found, fmt.Sprintf("%s is required as %s", module, strings.Join(by, ", ")))
	}
	return found
}
