package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestTargetsOfTheModuleAreFound(t *testing.T) {
	root := t.TempDir()
	const one = "package p\n\nfunc FuzzOne(f *testing.F) {}\nfunc FuzzHelper(t *testing.T) {}\n"
	for name, text := range map[string]string{
		"b/b_test.go": one + "func FuzzAgain(f *testing.F) {}\n", "a/a_test.go": one, "a/a.go": one,
		"other/go.mod": "module other\n", "other/x_test.go": one, "a/testdata/x_test.go": one, ".git/x_test.go": one,
	} {
		path := filepath.Join(root, name)
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	}
	got, err := find(root)
	must.Succeed(t, err)
	want := []target{{filepath.Join(root, "a"), "FuzzOne"}, {filepath.Join(root, "b"), "FuzzAgain"}, {filepath.Join(root, "b"), "FuzzOne"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(target{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := find(t.TempDir()); err == nil {
		t.Error("no target is no error")
	}
}

func TestOutputOfTheGoCommandIsRead(t *testing.T) {
	const elapsed = `fuzz: elapsed: 0s, gathering baseline coverage: 0/4 completed
fuzz: elapsed: 0s, gathering baseline coverage: 4/4 completed, now fuzzing with 1 workers
fuzz: elapsed: 3s, execs: 30961 (10317/sec), new interesting: 3 (total: 7)
fuzz: elapsed: 5s, execs: 54321 (11680/sec), new interesting: 3 (total: 7)
`
	for name, tt := range map[string]struct {
		out  string
		ok   bool
		want result
	}{
		"a run":               {elapsed + "PASS\nok  \tp\t5.1s\n", true, result{executions: 54321}},
		"its time was over":   {elapsed + "--- FAIL: FuzzOne (5.01s)\n    context deadline exceeded\nFAIL\n", false, result{executions: 54321}},
		"an input that fails": {elapsed + "--- FAIL: FuzzOne (2.01s)\n    --- FAIL: FuzzOne (0.00s)\n        one_test.go:9: wrong\n    \n    Failing input written to testdata/fuzz/FuzzOne/1\n", false, result{executions: 54321, failed: true}},
		"no program":          {"p/one_test.go:9: undefined: x\nFAIL\tp [build failed]\n", false, result{failed: true}},
	} {
		same.As(t, name, tt.want, read([]byte(tt.out), tt.ok), cmp.AllowUnexported(result{}))
	}
}

func TestProgressIsTheLastLine(t *testing.T) {
	sum := tally{targets: 2}
	sum.add(result{executions: 7})
	sum.add(result{executions: 5, failed: true})
	same.As(t, "got", "fuzz: 2 targets, 12 executions, 1 failures", sum.String())
}
