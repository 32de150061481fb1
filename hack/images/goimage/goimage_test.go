package goimage

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
	"github.com/loadtest-dev/loadtest-operator/hack/images/recipe"
	"github.com/loadtest-dev/loadtest-operator/hack/images/rootfs"
)

const hello = "package main\n\nfunc main() { println(\"hello\") }\n"

var program = recipe.Go{Package: "./cmd", Binary: "hello"}

func TestTreeHasTheProgramAndCertificates(t *testing.T) {
	b := builder(t, hello)
	tree, err := b.Tree(t.Context(), program)
	must.Succeed(t, err)
	want := []string{"etc/group", "etc/passwd", "etc/ssl/certs/ca-certificates.crt", "hello", "tmp"}
	same.As(t, "files", want, slices.Sorted(maps.Keys(tree)))
	same.As(t, "certificates", "certificates", string(tree["etc/ssl/certs/ca-certificates.crt"].Body))
	if bytes.Contains(tree["hello"].Body, []byte(b.Root)) {
		t.Errorf("the binary holds the path it was built in, %s", b.Root)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(b.BinDir, "hello")).CombinedOutput()
	if err != nil || string(out) != "hello\n" {
		t.Errorf("the binary printed %q (%v), want hello", out, err)
	}
}

// The image does not depend on the folder of the source or on GOFLAGS.
func TestBuildsAreReproducible(t *testing.T) {
	first := digest(t, builder(t, hello))
	t.Setenv("GOFLAGS", "-tags=other")
	t.Setenv("CGO_ENABLED", "1")
	if second := digest(t, builder(t, hello)); second != first {
		t.Errorf("the same source gave %s, then %s", first, second)
	}
	if other := digest(t, builder(t, strings.Replace(hello, "hello", "other", 1))); other == first {
		t.Error("another source gave the same digest")
	}
}

func TestFailedBuildsSayWhatIsMissing(t *testing.T) {
	tests := map[string]struct {
		source string
		change func(*Builder, *recipe.Go)
		want   []string
	}{
		"no certificates": {
			source: hello,
			change: func(b *Builder, _ *recipe.Go) { b.Certificates = filepath.Join(b.Root, "none") },
			want:   []string{"no certificate authorities at ", "apt-get install ca-certificates"},
		},
		"no package": {
			source: hello,
			change: func(_ *Builder, r *recipe.Go) { r.Package = "./loadworker" },
			want:   []string{"no Go package at ./loadworker"},
		},
		"no compiling": {
			source: "package main\n\nfunc main() { undefined() }\n",
			change: func(*Builder, *recipe.Go) {},
			want:   []string{"go build ./cmd: exit status 1", "cmd/main.go:3:15: undefined: undefined"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b, r := builder(t, tt.source), program
			tt.change(&b, &r)
			_, err := b.Tree(t.Context(), r)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error = %q, want it to say %q", err, want)
				}
			}
		})
	}
}

// builder is for a module of its own, in a folder of its own, with one program.
func builder(t *testing.T, source string) Builder {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":      "module example.com/hello\n\ngo 1.26\n",
		"cmd/main.go": source,
		"ca.crt":      "certificates",
	} {
		file := filepath.Join(root, name)
		must.Succeed(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Succeed(t, os.WriteFile(file, []byte(content), 0o600))
	}
	return Builder{Root: root, BinDir: filepath.Join(root, "bin"), Certificates: filepath.Join(root, "ca.crt")}
}

func digest(t *testing.T, b Builder) v1.Hash {
	t.Helper()
	tree, err := b.Tree(t.Context(), program)
	must.Succeed(t, err)
	img, err := tree.Image(rootfs.Run{Entrypoint: []string{"/hello"}})
	must.Succeed(t, err)
	h, err := img.Digest()
	must.Succeed(t, err)
	return h
}
