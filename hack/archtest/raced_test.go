package archtest

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var (
	// raced is the mark of a file of tests with which `make test` uses the race detector, in a package that it
	// tests without it as a whole.
	raced           = regexp.MustCompile(`(?m)^// The race detector looks at the tests of this file, too`)
	startsGoroutine = regexp.MustCompile(`(?m)^\s*go (func|[\w.]+)\(|\.Go\(`)
	hasTest         = regexp.MustCompile(`(?m)^func Test\w+\(t `)
)

// unmarked are the files of tests that start goroutines without the mark, in folders in which a file has it.
func unmarked(tree fs.FS) (list []string, err error) {
	marked, starting := map[string]bool{}, []string{}
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (name == "bin" || strings.HasPrefix(d.Name(), ".") && name != ".") {
			return skipped(err)
		}
		if d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		content, err := fs.ReadFile(tree, name)
		switch {
		case raced.Match(content):
			marked[path.Dir(name)] = true
		case startsGoroutine.Match(content) && hasTest.Match(content):
			starting = append(starting, name)
		}
		return err
	})
	for _, name := range starting {
		if marked[path.Dir(name)] {
			list = append(list, name)
		}
	}
	return list, err
}

// skipped skips a folder, unless it cannot be read.
func skipped(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}

func TestTheRaceDetectorLooksAtGoroutines(t *testing.T) {
	found, err := unmarked(os.DirFS(repository))
	must.Succeed(t, err)
	for _, name := range found {
		t.Errorf("%s starts a goroutine, and `make test` uses no race detector in its package: say at its head why the race detector looks at it", name)
	}
	const mark, test = "// The race detector looks at the tests of this file, too: why.\n\npackage a\n", "func TestA(t *testing.T) {\n\tgo f()\n}\n"
	found, err = unmarked(fstest.MapFS{
		"a/a_test.go": {Data: []byte(mark + test)}, "a/b_test.go": {Data: []byte(test)}, "a/c_test.go": {Data: []byte("func f() {\n\tgo g()\n}\n")},
		"b/b_test.go": {Data: []byte(test)}, "bin/a_test.go": {Data: []byte(mark)}, "bin/b_test.go": {Data: []byte(test)},
	})
	must.Succeed(t, err)
	same.As(t, "found", []string{"a/b_test.go"}, found)
}
