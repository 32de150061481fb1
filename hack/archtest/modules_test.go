package archtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A package that two modules need in two versions is compiled twice, and so is
// every package that imports it.
func TestModulesAgreeOnVersions(t *testing.T) {
	all, err := readRequirements(repository)
	must.Succeed(t, err)
	for _, conflict := range all.conflicts() {
		t.Errorf("%s: go get the highest of them in the folders of the others", conflict)
	}
}

func TestConflictsNameEveryVersionOfOurModules(t *testing.T) {
	repo := t.TempDir()
	for folder, requires := range map[string]string{
		".":                "a.example/x v1.2.0\n a.example/same v1.0.0",
		"hack/one":         "a.example/x v1.10.0 // indirect\n a.example/same v1.0.0",
		"hack/two":         "a.example/x v1.2.0",
		"hack/tools/lint":  "a.example/x v1.3.0",
		"hack/bench/peers": "a.example/x v1.4.0",
		"bin/cache":        "a.example/x v1.5.0",
	} {
		must.Succeed(t, os.MkdirAll(filepath.Join(repo, folder), 0o700))
		content := "module m.example\n\nrequire (\n" + requires + "\n)\n"
		must.Succeed(t, os.WriteFile(filepath.Join(repo, folder, "go.mod"), []byte(content), 0o600))
	}
	all, err := readRequirements(repo)
	must.Succeed(t, err)
	want := []string{"a.example/x is required as v1.2.0 in go.mod, v1.10.0 in hack/one/go.mod, v1.2.0 in hack/two/go.mod"}
	same.As(t, "conflicts", want, all.conflicts())
}

func TestBrokenModuleFileIsAnError(t *testing.T) {
	repo := t.TempDir()
	must.Succeed(t, os.WriteFile(filepath.Join(repo, "go.mod"), []byte("module"), 0o600))
	if all, err := readRequirements(repo); err == nil {
		t.Errorf("requirements are %v, want an error", all)
	}
}
