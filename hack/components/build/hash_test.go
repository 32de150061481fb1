package build

import (
	"testing"
	"testing/fstest"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
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
		must.Succeed(t, err)
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
