package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
)

func TestFindSourceLooksUpwards(t *testing.T) {
	root := t.TempDir()
	source := filepath.Join(root, "hack", "cluster", "kubernetes")
	deep := filepath.Join(root, "test", "e2e", "suite")
	for _, folder := range []string{source, deep} {
		must.Succeed(t, os.MkdirAll(folder, 0o755))
	}
	if got, err := FindSource(deep); err == nil || !strings.Contains(err.Error(), "--source") {
		t.Errorf("without a go.mod: %q, %v, want an error that names the flag", got, err)
	}
	must.Succeed(t, os.WriteFile(filepath.Join(source, "go.mod"), nil, 0o644))
	for _, from := range []string{root, deep, filepath.Dir(source), source} {
		if got, err := FindSource(from); err != nil || got != source {
			t.Errorf("FindSource(%s) = %q, %v, want %q", from, got, err, source)
		}
	}
}

func TestVersionIsReadFromGoMod(t *testing.T) {
	for gomod, want := range map[string]string{
		"require (\n\tk8s.io/kubectl v0.36.3\n\tk8s.io/kubernetes v1.36.3\n)\n":   "v1.36.3",
		"require k8s.io/x v1.0.0\n\tk8s.io/kubernetes v1.37.0-rc.1 // indirect\n": "v1.37.0-rc.1",
	} {
		if got, err := version(gomod); err != nil || got != want {
			t.Errorf("version = %q, %v, want %q", got, err, want)
		}
	}
	if got, err := version("module k8s.io/kubernetes\n"); err == nil {
		t.Errorf("version = %q, want an error", got)
	}
}

func TestLinkerFlagsCarryTheVersion(t *testing.T) {
	const variable = "-X k8s.io/component-base/version."
	got := strings.Join(linkerFlags("v1.36.3"), " ")
	for _, want := range []string{variable + "gitVersion=v1.36.3", variable + "gitMajor=1", variable + "gitMinor=36"} {
		if !strings.Contains(got+" ", want+" ") {
			t.Errorf("flags %q have no %q", got, want)
		}
	}
}

func TestEveryComponentIsALinkToTheOneBinary(t *testing.T) {
	source := t.TempDir()
	if _, err := Kubernetes(source, "", nil); err == nil {
		t.Error("a folder without a module is taken")
	}
	must.Succeed(t, os.WriteFile(filepath.Join(source, "go.mod"), []byte("require k8s.io/kubernetes v1.36.3\n"), 0o644))
	b, err := Kubernetes(source, "", nil)
	must.Succeed(t, err)
	for _, name := range Components {
		if b.Links[name] != multicall {
			t.Errorf("%s is a link to %q, want %s", name, b.Links[name], multicall)
		}
	}
}
