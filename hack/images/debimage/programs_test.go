package debimage

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTrimPatternsAreValid(t *testing.T) {
	for _, pattern := range trim {
		if _, err := path.Match(pattern, ""); err != nil {
			t.Errorf("pattern %q: %v", pattern, err)
		}
		if strings.HasPrefix(pattern, "/") || strings.HasSuffix(pattern, "/") {
			t.Errorf("pattern %q: paths have no slash at their ends", pattern)
		}
	}
}

func TestTrimmed(t *testing.T) {
	for name, want := range map[string]bool{
		"usr/share/doc":                          true,
		"usr/share/doc/redis/README":             true,
		"usr/share/documents":                    false,
		"usr/lib/x86_64-linux-gnu/perl/5.36/a.h": true,
		"usr/lib/x86_64-linux-gnu/libssl.so.3":   false,
		"lib/x86_64-linux-gnu/libc.so.6":         false,
		"etc/resolv.conf":                        true,
		"etc/redis/redis.conf":                   false,
		"etc/rc3.d/S01redis":                     true,
		"usr/bin/perl5.36":                       true,
		"usr/bin/redis-server":                   false,
		"bin/sh":                                 false,
	} {
		if got := trimmed(name); got != want {
			t.Errorf("trimmed(%q) = %t, want %t", name, got, want)
		}
	}
}

func TestMmdebstrap(t *testing.T) {
	dir := programs(t, map[string]string{"mmdebstrap": `echo -n "$*"`})
	got, err := Mmdebstrap(t.Context(), []string{"redis-server", "dash"}, []string{"a.list", "b.sources"})
	if err != nil {
		t.Fatal(err)
	}
	mode := ""
	if os.Geteuid() == 0 {
		mode = "--mode=root "
	}
	want := "--variant=extract --format=tar --include=redis-server,dash " + mode + " - a.list b.sources"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}

	write(t, filepath.Join(dir, "mmdebstrap"), "echo E: no such package >&2; exit 7")
	_, err = Mmdebstrap(t.Context(), []string{"redis-server"}, []string{"a.list"})
	if diff := cmp.Diff("mmdebstrap redis-server: exit status 7\nE: no such package", err.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestPrerequisite(t *testing.T) {
	asRoot := os.Geteuid() == 0
	t.Run("there", func(t *testing.T) {
		programs(t, map[string]string{"mmdebstrap": ""})
		if err := Prerequisite(t.Context(), false, &bytes.Buffer{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("missing", func(t *testing.T) {
		programs(t, nil)
		want := "mmdebstrap is missing: run apt-get install mmdebstrap, or build with --install"
		if err := Prerequisite(t.Context(), false, &bytes.Buffer{}); err == nil || err.Error() != want {
			t.Errorf("error = %v, want %s", err, want)
		}
	})
	t.Run("installed if asked to, by root", func(t *testing.T) {
		dir := programs(t, map[string]string{"apt-get": `echo "$@" >> "$0.log"`})
		var progress bytes.Buffer
		err := Prerequisite(t.Context(), true, &progress)
		if !asRoot {
			if err == nil || !strings.Contains(err.Error(), "sudo apt-get install mmdebstrap") {
				t.Errorf("error = %v, want it to say what to run", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		log, err := os.ReadFile(filepath.Join(dir, "apt-get.log"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("update\ninstall --yes --no-install-recommends mmdebstrap\n", string(log)); diff != "" {
			t.Errorf("apt-get's arguments (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff("apt-get update\napt-get install\n", progress.String()); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
	})
	t.Run("apt-get fails", func(t *testing.T) {
		programs(t, map[string]string{"apt-get": "echo no network; exit 100"})
		err := Prerequisite(t.Context(), true, &bytes.Buffer{})
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
		write(t, filepath.Join(dir, name), script)
	}
	t.Setenv("PATH", dir)
	return dir
}

func write(t *testing.T, file, script string) {
	t.Helper()
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // a program is to be run
		t.Fatal(err)
	}
}
