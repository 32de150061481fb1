package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestHashChangesWithWhatIsBuilt(t *testing.T) {
	base := func() fstest.MapFS {
		return fstest.MapFS{
			"go.mod":        {Data: []byte("module m")},
			"go.sum":        {Data: []byte("sums")},
			"main.go":       {Data: []byte("package main")},
			"dns/main.go":   {Data: []byte("package main // dns")},
			"main_test.go":  {Data: []byte("package main // test")},
			"README.md":     {Data: []byte("read me")},
			"testdata/some": {Data: []byte("data")},
		}
	}
	sum := func(files fstest.MapFS, determinants ...string) string {
		t.Helper()
		got, err := hash(files, determinants...)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := sum(base(), "go1.26")
	for name, test := range map[string]struct {
		change func(fstest.MapFS)
		same   bool
	}{
		"nothing":             {func(fstest.MapFS) {}, true},
		"a test":              {func(f fstest.MapFS) { f["main_test.go"].Data = []byte("other") }, true},
		"a document":          {func(f fstest.MapFS) { delete(f, "README.md") }, true},
		"test data":           {func(f fstest.MapFS) { f["testdata/some"].Data = nil }, true},
		"a source":            {func(f fstest.MapFS) { f["dns/main.go"].Data = []byte("package main // DNS") }, false},
		"a new source":        {func(f fstest.MapFS) { f["new.go"] = &fstest.MapFile{} }, false},
		"a source's name":     {func(f fstest.MapFS) { f["dnsmain.go"] = f["dns/main.go"]; delete(f, "dns/main.go") }, false},
		"a dependency's sum":  {func(f fstest.MapFS) { f["go.sum"].Data = []byte("Sums") }, false},
		"a version in go.mod": {func(f fstest.MapFS) { f["go.mod"].Data = []byte("module m // v2") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			files := base()
			test.change(files)
			if got := sum(files, "go1.26"); (got == want) != test.same {
				t.Errorf("hash %s, before %s, want the same: %t", got, want, test.same)
			}
		})
	}
	if sum(base(), "go1.27") == want {
		t.Error("another Go release does not change the hash")
	}
	if sum(base(), "a", "b") == sum(base(), "ab") {
		t.Error("two determinants are taken for one")
	}
}

func TestFindSourceLooksUpwards(t *testing.T) {
	root := t.TempDir()
	source := filepath.Join(root, "hack", "cluster", "kubernetes")
	deep := filepath.Join(root, "test", "e2e", "suite")
	for _, folder := range []string{source, deep} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := FindSource(deep); err == nil || !strings.Contains(err.Error(), "--source") {
		t.Errorf("without a go.mod: %q, %v, want an error that names the flag", got, err)
	}
	if err := os.WriteFile(filepath.Join(source, "go.mod"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{root, deep, filepath.Dir(source), source} {
		if got, err := FindSource(from); err != nil || got != source {
			t.Errorf("FindSource(%s) = %q, %v, want %q", from, got, err, source)
		}
	}
}

func TestVersion(t *testing.T) {
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
	got := linkerFlags("v1.36.3")
	for _, want := range []string{"-s", "-w", variable + "gitVersion=v1.36.3", variable + "gitMajor=1", variable + "gitMinor=36"} {
		if !strings.Contains(got+" ", want+" ") {
			t.Errorf("flags %q have no %q", got, want)
		}
	}
}

func TestDefaultCache(t *testing.T) {
	t.Setenv("LOADTEST_CACHE", "/somewhere/else")
	if got, err := DefaultCache(); err != nil || got != "/somewhere/else" {
		t.Errorf("DefaultCache = %q, %v, want what LOADTEST_CACHE says", got, err)
	}
	t.Setenv("LOADTEST_CACHE", "")
	t.Setenv("HOME", "/home/me")
	if got, err := DefaultCache(); err != nil || got != "/home/me/.cache/loadtest-operator" {
		t.Errorf("DefaultCache = %q, %v, want it in the home folder", got, err)
	}
}
