package release

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// sbomType is the media type of a software bill of materials in SPDX, and of what is attached.
const sbomType types.MediaType = "application/spdx+json"

// PushSBOMs attaches what is inside an image that was pushed: a document for each platform, in the
// order of Platforms. A registry lists it among those that refer to the image.
func (r Release) PushSBOMs(ctx context.Context, of Pushed, index v1.ImageIndex, documents [][]byte) (Pushed, error) {
	subject, err := partial.Descriptor(index)
	if err != nil {
		return Pushed{}, fmt.Errorf("describe %s: %w", of, err)
	}
	name := of.repository.RepositoryStr()
	attached := artifact{config: static.NewLayer([]byte("{}"), sbomType), subject: subject, annotations: r.annotations("SBOM", "What is inside "+name)}
	manifest, err := index.IndexManifest()
	if err != nil {
		return Pushed{}, err
	}
	for i, document := range documents {
		fixed, err := r.FixSBOM(document, manifest.Manifests[i].Digest)
		if err != nil {
			return Pushed{}, fmt.Errorf("SBOM of %s for %s: %w", of, Platforms[i], err)
		}
		title := map[string]string{"org.opencontainers.image.title": "linux-" + Platforms[i] + ".spdx.json"}
		attached.layers = append(attached.layers, artifactLayer{static.NewLayer(fixed, sbomType), title})
	}
	return attached.push(ctx, of.repository, "")
}

// FixSBOM replaces what would be another at each making: the time, and the name that must be
// unique, which is made of the image's digest.
func (r Release) FixSBOM(document []byte, of v1.Hash) ([]byte, error) {
	var fields map[string]any
	if err := json.Unmarshal(document, &fields); err != nil {
		return nil, fmt.Errorf("read it: %w", err)
	}
	creation, ok := fields["creationInfo"].(map[string]any)
	if !ok || fields["spdxVersion"] == nil {
		return nil, fmt.Errorf("it is not SPDX: want spdxVersion and creationInfo")
	}
	creation["created"] = r.Created.UTC().Format(time.RFC3339)
	fields["documentNamespace"] = r.Source + "/spdx/" + of.Hex
	return json.Marshal(fields)
}
