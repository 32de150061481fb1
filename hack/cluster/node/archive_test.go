package node

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

func tarOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		must.Succeed(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name]))}))
		if _, err := w.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	must.Succeed(t, w.Close())
	return buffer.Bytes()
}

func TestReadImagesReturnsTheirNames(t *testing.T) {
	const (
		docker = `[{"Config":"c","RepoTags":["a:1","b:2"],"Layers":[]},{"Config":"d","RepoTags":null,"Layers":[]}]`
		oci    = `{"manifests":[{"annotations":{"io.containerd.image.name":"a:1","org.opencontainers.image.ref.name":"1"}},
			{"annotations":{"org.opencontainers.image.ref.name":"b:2"}},{}]}`
	)
	for name, files := range map[string]map[string]string{
		"docker save":          {manifestName: docker},
		"OCI layout":           {indexName: oci},
		"both, of docker save": {indexName: `{}`, manifestName: docker},
	} {
		t.Run(name, func(t *testing.T) {
			content := tarOf(t, files)
			got, err := readImages(bytes.NewReader(content))
			must.Succeed(t, err)
			same.As(t, "names", []string{"a:1", "b:2"}, got.names)
			if sum := sha256.Sum256(content); got.digest != hex.EncodeToString(sum[:]) {
				t.Error("the digest is not that of the whole file")
			}
		})
	}
}

func TestReadImagesRefusesOtherFiles(t *testing.T) {
	for name, test := range map[string]struct {
		content []byte
		want    string
	}{
		"a tar without images": {tarOf(t, map[string]string{"README": "hello"}), "names no image"},
		"a broken manifest":    {tarOf(t, map[string]string{manifestName: "{"}), manifestName},
		"a broken index":       {tarOf(t, map[string]string{indexName: "["}), indexName},
		"no tar":               {bytes.Repeat([]byte("x"), 1024), "tar"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := readImages(bytes.NewReader(test.content)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want it to contain %q", err, test.want)
			}
		})
	}
}
