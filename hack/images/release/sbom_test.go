package release

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

// document is SPDX as it is made at some time.
const document = `{"spdxVersion": "SPDX-2.3", "creationInfo": {"created": "2026-11-27T01:02:03Z", "creators": ["Tool: syft"]}, "documentNamespace": "https://anchore.com/of-this-once"}`

func TestSBOMIsFoundByItsImage(t *testing.T) {
	to := at(started(t))
	index, err := to.Index("operator", platforms(t))
	must.Succeed(t, err)
	image, err := to.PushImage(t.Context(), "operator", index)
	must.Succeed(t, err)
	attach := func() Pushed {
		sbom, err := to.PushSBOMs(t.Context(), image, index, [][]byte{[]byte(document), []byte(document)})
		must.Succeed(t, err)
		return sbom
	}
	first := attach()
	if again := attach(); again != first {
		t.Errorf("pushed twice, it is %s and %s", first, again)
	}
	found, err := remote.Referrers(image.repository.Digest(image.digest.String()))
	must.Succeed(t, err)
	list, err := found.IndexManifest()
	must.Succeed(t, err)
	if len(list.Manifests) != 1 || list.Manifests[0].Digest != first.digest || list.Manifests[0].ArtifactType != string(sbomType) {
		t.Fatalf("%v refer to the image, want one of SPDX, %s", list.Manifests, first)
	}
	manifest, err := index.IndexManifest()
	must.Succeed(t, err)
	attached, err := remote.Image(image.repository.Digest(first.digest.String()))
	must.Succeed(t, err)
	layers, err := attached.Layers()
	must.Succeed(t, err)
	for i, layer := range layers {
		content, err := layer.Compressed()
		must.Succeed(t, err)
		var fields struct {
			CreationInfo      struct{ Created string }
			DocumentNamespace string
		}
		text, err := io.ReadAll(content)
		must.Succeed(t, err)
		must.Succeed(t, json.Unmarshal(text, &fields))
		same.As(t, "time", "2026-05-01T12:00:00Z", fields.CreationInfo.Created)
		same.As(t, "name", "https://example.com/repository/spdx/"+manifest.Manifests[i].Digest.Hex, fields.DocumentNamespace)
	}
	same.As(t, "documents", 2, len(layers))
}

func TestWhatIsNotSPDXIsNotAttached(t *testing.T) {
	to := at(started(t))
	index, err := to.Index("operator", platforms(t))
	must.Succeed(t, err)
	image := pushedImage(t, to, "operator")
	for _, bad := range []string{"", "null", "[]", "{}", `{"spdxVersion": "SPDX-2.3"}`} {
		_, err := to.PushSBOMs(t.Context(), image, index, [][]byte{[]byte(bad)})
		if err == nil || !strings.Contains(err.Error(), "for amd64") {
			t.Errorf("%q: error = %v, want one that names the platform", bad, err)
		}
	}
}
