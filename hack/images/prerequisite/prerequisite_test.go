package prerequisite

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

var tool = Program{Name: "tool", Package: "toolbox"}

func TestMissingProgramsAreInstalledOrNamed(t *testing.T) {
	asRoot := os.Geteuid() == 0
	t.Run("there", func(t *testing.T) {
		programs(t, map[string]string{"tool": ""})
		must.Report(t, "Ensure", tool.Ensure(t.Context(), false, &bytes.Buffer{}))
	})
	t.Run("missing", func(t *testing.T) {
		programs(t, nil)
		want := "tool is missing: run apt-get install toolbox, or pass --install"
		if err := tool.Ensure(t.Context(), false, &bytes.Buffer{}); err == nil || err.Error() != want {
			t.Errorf("error = %v, want %s", err, want)
		}
	})
	t.Run("several are missing", func(t *testing.T) {
		programs(t, map[string]string{"tool": ""})
		file := filepath.Join(t.TempDir(), "file")
		all := []Program{tool, {Name: "saw", Package: "sawbox"}, {Name: file, Package: "filebox"}}
		want := "saw, " + file + " are missing: run apt-get install sawbox filebox, or pass --install"
		if err := Ensure(t.Context(), all, false, &bytes.Buffer{}); err == nil || err.Error() != want {
			t.Errorf("error = %v, want %s", err, want)
		}
		must.Succeed(t, os.WriteFile(file, nil, 0o600))
		want = "saw is missing: run apt-get install sawbox, or pass --install"
		if err := Ensure(t.Context(), all, false, &bytes.Buffer{}); err == nil || err.Error() != want {
			t.Errorf("error = %v, want %s", err, want)
		}
	})
	t.Run("installed if asked to, by root", func(t *testing.T) {
		dir := programs(t, map[string]string{"apt-get": `echo "$@" >> "$0.log"`})
		var progress bytes.Buffer
		err := tool.Ensure(t.Context(), true, &progress)
		if !asRoot {
			if err == nil || !strings.Contains(err.Error(), "sudo apt-get install toolbox") {
				t.Errorf("error = %v, want it to say what to run", err)
			}
			return
		}
		must.Succeed(t, err)
		log := must.ReadFile(t, filepath.Join(dir, "apt-get.log"))
		same.As(t, "apt-get's arguments", "update\ninstall --yes --no-install-recommends -o DPkg::Lock::Timeout=300 toolbox\n", string(log))
		same.As(t, "progress", "apt-get update\napt-get install\n", progress.String())
	})
	t.Run("apt-get fails", func(t *testing.T) {
		programs(t, map[string]string{"apt-get": "echo no network; exit 100"})
		err := tool.Ensure(t.Context(), true, &bytes.Buffer{})
		if err == nil || asRoot && !strings.Contains(err.Error(), "apt-get update: exit status 100\nno network") {
			t.Errorf("error = %v, want apt-get's", err)
		}
	})
}

// programs makes the given shell scripts the only programs in PATH.
func programs(t *testing.T, scripts map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, script := range scripts {
		content := []byte("#!/bin/sh\n" + script + "\n")
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o700); err != nil { // a program is to be run
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	return dir
}
