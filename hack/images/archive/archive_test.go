package archive

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
)

const ref = "loadtest.dev/operator:dev"

func TestSaveWritesOnlyWhatIsNew(t *testing.T) {
	tests := map[string]struct {
		// before is what the file holds when the image of user a is saved.
		before  func(t *testing.T, file string)
		written bool
	}{
		"no file":       {before: func(*testing.T, string) {}, written: true},
		"this image":    {before: saved(ref, "a"), written: false},
		"another image": {before: saved(ref, "b"), written: true},
		"another name":  {before: saved("loadtest.dev/worker:dev", "a"), written: true},
		"no tar": {
			before: func(t *testing.T, file string) {
				must.Succeed(t, os.WriteFile(file, []byte("rubbish"), 0o600))
			},
			written: true,
		},
		"half a tar": {
			before: func(t *testing.T, file string) {
				saved(ref, "a")(t, file)
				must.Succeed(t, os.Truncate(file, 600))
			},
			written: true,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "operator.tar")
			tt.before(t, file)
			old, _ := os.ReadFile(file)

			img := image(t, "a")
			got, err := Save(file, ref, img)
			must.Succeed(t, err)
			if got.Written != tt.written {
				t.Errorf("written = %t, want %t", got.Written, tt.written)
			}
			if id, _ := img.ConfigName(); got.ID != id {
				t.Errorf("id = %s, want %s", got.ID, id)
			}
			content := must.ReadFile(t, file)
			if int64(len(content)) != got.Size {
				t.Errorf("size = %d, but the file has %d bytes", got.Size, len(content))
			}
			if bytes.Equal(old, content) == tt.written {
				t.Errorf("file unchanged: %t, want %t", !tt.written, tt.written)
			}
			loadable(t, file, got.ID)
			alone(t, file)
		})
	}
}

func TestTheTarsBytesAreReproducible(t *testing.T) {
	var contents [2][]byte
	for i := range contents {
		file := filepath.Join(t.TempDir(), "operator.tar")
		saved(ref, "a")(t, file)
		content := must.ReadFile(t, file)
		contents[i] = content
	}
	if !bytes.Equal(contents[0], contents[1]) {
		t.Error("the same image was written as different tars")
	}
}

func saved(ref, user string) func(*testing.T, string) {
	return func(t *testing.T, file string) {
		t.Helper()
		if _, err := Save(file, ref, image(t, user)); err != nil {
			t.Fatal(err)
		}
	}
}

func image(t *testing.T, user string) v1.Image {
	t.Helper()
	img, err := mutate.Config(empty.Image, v1.Config{User: user})
	must.Succeed(t, err)
	return img
}

// loadable reads the file as Docker would.
func loadable(t *testing.T, file string, want v1.Hash) {
	t.Helper()
	tag, err := name.NewTag(ref)
	must.Succeed(t, err)
	img, err := tarball.ImageFromPath(file, &tag)
	must.Succeed(t, err)
	if got, err := img.ConfigName(); err != nil || got != want {
		t.Errorf("the file holds %s (%v), want %s", got, err, want)
	}
}

// alone checks that no temporary file was left.
func alone(t *testing.T, file string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(file))
	must.Succeed(t, err)
	if len(entries) != 1 {
		t.Errorf("%d files beside each other, want only %s", len(entries), filepath.Base(file))
	}
}
