package rootfs

import (
	"runtime"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

func TestImageConfig(t *testing.T) {
	img := image(t, Base(), Run{Entrypoint: []string{"/manager"}, Command: []string{"--help"}, WorkingDir: "/data", StopSignal: "SIGINT"})
	file, err := img.ConfigFile()
	must.Succeed(t, err)
	want := v1.Config{
		User:       "65532:65532",
		Env:        []string{searchPath},
		Entrypoint: []string{"/manager"},
		Cmd:        []string{"--help"},
		WorkingDir: "/data",
		StopSignal: "SIGINT",
	}
	same.As(t, "config", want, file.Config)
	if file.OS != "linux" || file.Architecture != runtime.GOARCH {
		t.Errorf("platform = %s/%s, want linux/%s", file.OS, file.Architecture, runtime.GOARCH)
	}
	if !file.Created.IsZero() {
		t.Errorf("created = %s, want zero", file.Created)
	}
	if n := len(file.RootFS.DiffIDs); n != 1 {
		t.Errorf("%d layers, want 1", n)
	}
}

func TestImageDigest(t *testing.T) {
	run := Run{Entrypoint: []string{"/manager"}}
	tree := func(body string, mode int64) Tree {
		t := Base()
		t.File("manager", mode, []byte(body))
		return t
	}
	first := digest(t, image(t, tree("a", 0o755), run))
	if again := digest(t, image(t, tree("a", 0o755), run)); again != first {
		t.Errorf("the same tree gave %s, then %s", first, again)
	}
	for name, other := range map[string]v1.Image{
		"content":    image(t, tree("b", 0o755), run),
		"mode":       image(t, tree("a", 0o555), run),
		"entrypoint": image(t, tree("a", 0o755), Run{Entrypoint: []string{"/other"}}),
	} {
		if digest(t, other) == first {
			t.Errorf("another %s gave the same digest", name)
		}
	}
}

func image(t *testing.T, tree Tree, run Run) v1.Image {
	t.Helper()
	img, err := tree.Image(run)
	must.Succeed(t, err)
	return img
}

func digest(t *testing.T, img v1.Image) v1.Hash {
	t.Helper()
	h, err := img.Digest()
	must.Succeed(t, err)
	return h
}
