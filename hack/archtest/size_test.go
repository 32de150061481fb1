package archtest

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestNoFileIsTooLarge(t *testing.T) {
	found, err := oversized(os.DirFS(repository))
	must.Succeed(t, err)
	for _, f := range found {
		t.Error(f)
	}
}

func TestLargeFilesAreFound(t *testing.T) {
	file := func(n int) *fstest.MapFile { return &fstest.MapFile{Data: make([]byte, n)} }
	got, err := oversized(fstest.MapFS{
		"hack/tool/main.go": file(maxFile), "hack/tool/tool": file(maxFile + 1), "bin/tool": file(2 * maxFile), ".git/objects/pack": file(2 * maxFile),
	})
	must.Succeed(t, err)
	same.As(t, "large files", []string{"hack/tool/tool has 1048577 bytes, at most 1048576 are allowed: it was built or downloaded"}, got)
}
