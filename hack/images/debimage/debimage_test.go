package debimage

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
	"github.com/loadtest-dev/loadtest-operator/hack/images/recipe"
	"github.com/loadtest-dev/loadtest-operator/hack/images/rootfs"
)

var redis = recipe.Debian{
	Packages: []string{"redis-server", "dash"},
	Command:  []string{"redis-server"},
	Writable: []string{"data"},
	Links:    map[string]string{"var/log/redis.log": "/dev/stdout"},
	Scripts:  map[string]string{"usr/bin/start": "#!/bin/sh\n"},
}

func TestTreeHasPackagesTrimmedAndTheImagesOwnFiles(t *testing.T) {
	b, _ := builder(t)
	tree, _, err := b.Tree(t.Context(), redis)
	must.Succeed(t, err)
	same.As(t, "the program", "extract 1", string(tree["usr/bin/redis-server"].Body))
	if _, ok := tree["usr/share/doc/redis/README"]; ok {
		t.Error("documents were not trimmed")
	}
	if !bytes.Contains(tree["etc/passwd"].Body, []byte("nonroot:x:65532:65532")) {
		t.Errorf("etc/passwd = %q, want the image's own", tree["etc/passwd"].Body)
	}
	same.As(t, "/data belongs to", rootfs.NonRoot, tree["data"].UID)
	same.As(t, "the log is a link to", "/dev/stdout", tree["var/log/redis.log"].Link)
	same.As(t, "script", rootfs.Node{Type: tar.TypeReg, Mode: 0o755, Body: []byte("#!/bin/sh\n")}, tree["usr/bin/start"])
}

func TestTreeIsExtractedAgainWhenItsContentChanges(t *testing.T) {
	tests := map[string]struct {
		change     func(t *testing.T, b *Builder, r *recipe.Debian)
		wantCached bool
	}{
		"again":              {change: func(*testing.T, *Builder, *recipe.Debian) {}, wantCached: true},
		"fresh":              {change: func(_ *testing.T, b *Builder, _ *recipe.Debian) { b.Fresh = true }},
		"another package":    {change: func(_ *testing.T, _ *Builder, r *recipe.Debian) { r.Packages = []string{"redis-server"} }},
		"another command":    {change: func(_ *testing.T, _ *Builder, r *recipe.Debian) { r.Command = []string{"redis-cli"} }, wantCached: true},
		"another source":     {change: func(t *testing.T, b *Builder, _ *recipe.Debian) { addSource(t, b.AptDir, "b.list", "deb b") }},
		"what is no source":  {change: func(t *testing.T, b *Builder, _ *recipe.Debian) { addSource(t, b.AptDir, "b.bak", "deb b") }, wantCached: true},
		"something dropped":  {change: func(_ *testing.T, _ *Builder, r *recipe.Debian) { r.Drop = []string{"usr/lib/x"} }},
		"another script":     {change: func(_ *testing.T, _ *Builder, r *recipe.Debian) { r.Scripts = nil }, wantCached: true},
		"an emptied cache":   {change: func(t *testing.T, b *Builder, _ *recipe.Debian) { b.CacheDir = t.TempDir() }},
		"a different folder": {change: func(_ *testing.T, _ *Builder, r *recipe.Debian) { r.Writable = []string{"var/x"} }, wantCached: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b, extracted := builder(t)
			if _, cached, err := b.Tree(t.Context(), redis); err != nil || cached {
				t.Fatalf("first build: cached = %t, error = %v", cached, err)
			}
			r := redis
			tt.change(t, &b, &r)
			_, cached, err := b.Tree(t.Context(), r)
			must.Succeed(t, err)
			if cached != tt.wantCached || (*extracted == 1) != tt.wantCached {
				t.Errorf("cached = %t after %d extractions, want %t", cached, *extracted, tt.wantCached)
			}
		})
	}
}

func TestCachedTreeIsTheSame(t *testing.T) {
	b, _ := builder(t)
	var trees [2]rootfs.Tree
	for i := range trees {
		tree, _, err := b.Tree(t.Context(), redis)
		must.Succeed(t, err)
		var buf bytes.Buffer
		must.Succeed(t, tree.Write(&buf))
		if trees[i], err = rootfs.Read(&buf, func(string) bool { return false }); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(trees[0], trees[1]); diff != "" {
		t.Errorf("extracted and cached tree (-extracted +cached):\n%s", diff)
	}
}

func TestFailedExtractionsSayWhatToDo(t *testing.T) {
	tests := map[string]struct {
		change func(t *testing.T, b *Builder)
		want   string
	}{
		"no sources": {
			change: func(t *testing.T, b *Builder) { b.AptDir = t.TempDir() },
			want:   "the images of Debian packages are built on Debian",
		},
		"no extraction": {
			change: func(_ *testing.T, b *Builder) {
				b.Extract = func(context.Context, []string, []string) ([]byte, error) { return nil, errors.New("no network") }
			},
			want: "no network",
		},
		"an extraction that is no tar": {
			change: func(_ *testing.T, b *Builder) {
				b.Extract = func(context.Context, []string, []string) ([]byte, error) { return bytes.Repeat([]byte("x"), 999), nil }
			},
			want: "read tar: ",
		},
		"a broken cache": {
			change: func(t *testing.T, b *Builder) {
				if _, _, err := b.Tree(t.Context(), redis); err != nil {
					t.Fatal(err)
				}
				files, _ := filepath.Glob(filepath.Join(b.CacheDir, "*.tar"))
				must.Succeed(t, os.WriteFile(files[0], bytes.Repeat([]byte("x"), 999), 0o600))
			},
			want: "delete it, or build with --fresh",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b, _ := builder(t)
			tt.change(t, &b)
			_, _, err := b.Tree(t.Context(), redis)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want it to say %q", err, tt.want)
			}
		})
	}
}

func TestOptionsAreGivenToTheProgramAndCommandsReplaceIt(t *testing.T) {
	script := filepath.Join(t.TempDir(), Entrypoint)
	// echo stands for the program, so that what would run is printed.
	must.Succeed(t, os.WriteFile(script, entrypoint("echo program"), 0o600))
	tests := map[string]struct {
		args []string
		want string
	}{
		"options alone":   {[]string{"--port", "1"}, "program --port 1\n"},
		"another program": {[]string{"echo", "a b"}, "a b\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), "/bin/sh", append([]string{script}, tt.args...)...).CombinedOutput()
			if err != nil || string(out) != tt.want {
				t.Errorf("printed %q (%v), want %q", out, err, tt.want)
			}
		})
	}
}

// builder extracts a tree that tells how often that was done.
func builder(t *testing.T) (b Builder, extracted *int) {
	t.Helper()
	apt := t.TempDir()
	addSource(t, apt, "debian.sources", "Types: deb")
	extracted = new(int)
	return Builder{
		CacheDir: t.TempDir(),
		AptDir:   apt,
		Extract: func(_ context.Context, packages, sources []string) ([]byte, error) {
			if len(packages) == 0 || len(sources) == 0 {
				t.Errorf("packages %q from sources %q, want some of both", packages, sources)
			}
			*extracted++
			tree := rootfs.Tree{}
			tree.File("usr/bin/redis-server", 0o755, []byte("extract "+string(rune('0'+*extracted))))
			tree.File("usr/share/doc/redis/README", 0o644, []byte("read me"))
			tree.File("etc/passwd", 0o644, []byte("of a package"))
			var buf bytes.Buffer
			err := tree.Write(&buf)
			return buf.Bytes(), err
		},
	}, extracted
}

func addSource(t *testing.T, apt, name, content string) {
	t.Helper()
	dir := filepath.Join(apt, "sources.list.d")
	must.Succeed(t, os.MkdirAll(dir, 0o755))
	must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
}
