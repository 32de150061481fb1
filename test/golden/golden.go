package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

var update = flag.Bool("update", false, "write the files that tests compare with anew")

// Check compares got with a file, whose path is relative to the folder of the test.
func Check(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		must.Succeed(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Succeed(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s; go test -update writes it anew (-want +got):\n%s", file, diff)
	}
}
