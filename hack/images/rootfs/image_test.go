package rootfs

import (
	"runtime"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

func TestImagesRunAsNoRoot(t *testing.T) {
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

func image(t *testing.T, tree Tree, run Run) v1.Image {
	t.Helper()
	img, err := tree.Image(run)
	must.Succeed(t, err)
	return img
}
