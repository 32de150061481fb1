package reporttest

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Read reads the LoadTest of a file.
func Read(t *testing.T, file string) *v1beta1.LoadTest {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lt := &v1beta1.LoadTest{}
	if err := yaml.UnmarshalStrict(data, lt); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return lt
}

// All are the LoadTests of a folder, by the names of their files, a long ladder, and Faults.
func All(t *testing.T, folder string) map[string]*v1beta1.LoadTest {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no LoadTests in %s (%v)", folder, err)
	}
	all := map[string]*v1beta1.LoadTest{}
	for _, file := range files {
		all[strings.TrimSuffix(filepath.Base(file), ".yaml")] = Read(t, file)
	}
	all["knee"] = Knee(t)
	maps.Copy(all, Faults(t))
	return all
}
