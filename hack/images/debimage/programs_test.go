package debimage

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
	"github.com/loadtest-dev/loadtest-operator/hack/images/recipe"
)

func TestTrimPatternsAreValid(t *testing.T) {
	all := trim
	for _, image := range recipe.All() {
		if image.Debian != nil {
			all = slices.Concat(all, image.Debian.Drop)
		}
	}
	for _, pattern := range all {
		if _, err := path.Match(pattern, ""); err != nil {
			t.Errorf("pattern %q: %v", pattern, err)
		}
		if strings.HasPrefix(pattern, "/") || strings.HasSuffix(pattern, "/") {
			t.Errorf("pattern %q: paths have no slash at their ends", pattern)
		}
	}
}

func TestTrimmedPathsAreLeftOut(t *testing.T) {
	drop := trimmer(recipe.Debian{Drop: []string{"usr/lib/*/libLLVM*"}})
	for name, want := range map[string]bool{
		"usr/lib/x86_64-linux-gnu/libLLVM-14.so": true,
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
		same.As(t, fmt.Sprintf("drop(%q)", name), want, drop(name))
	}
}

func TestPackagesAreExtractedByMmdebstrap(t *testing.T) {
	dir := programs(t, map[string]string{"mmdebstrap": `echo -n "$*"`})
	got, err := Mmdebstrap(t.Context(), []string{"redis-server", "dash"}, []string{"a.list", "b.sources"})
	must.Succeed(t, err)
	mode := ""
	if os.Geteuid() == 0 {
		mode = "--mode=root "
	}
	want := "--variant=extract --format=tar --include=redis-server,dash " + mode + " - a.list b.sources"
	same.As(t, "arguments", want, string(got))

	write(t, filepath.Join(dir, "mmdebstrap"), "echo E: no such package >&2; exit 7")
	_, err = Mmdebstrap(t.Context(), []string{"redis-server"}, []string{"a.list"})
	same.As(t, "error", "mmdebstrap redis-server: exit status 7\nE: no such package", err.Error())
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
	must.Succeed(t, os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
}
