package release

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// artifact is what a registry keeps that is no image: a configuration and one layer.
type artifact struct {
	config, layer v1.Layer
	annotations   map[string]string
}

func newArtifact(configType types.MediaType, config []byte, layerType types.MediaType, layer []byte, annotations map[string]string) artifact {
	return artifact{static.NewLayer(config, configType), static.NewLayer(layer, layerType), annotations}
}

// MediaType is that of the manifest.
func (artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// RawManifest is the manifest as it is sent.
func (a artifact) RawManifest() ([]byte, error) {
	config, err := partial.Descriptor(a.config)
	if err != nil {
		return nil, err
	}
	layer, err := partial.Descriptor(a.layer)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: *config, Layers: []v1.Descriptor{*layer}, Annotations: a.annotations,
	})
}

// push uploads the parts, and the manifest last. It returns the reference by digest.
func (a artifact) push(ctx context.Context, tag name.Tag) (string, error) {
	for _, blob := range []v1.Layer{a.config, a.layer} {
		if err := remote.WriteLayer(tag.Context(), blob, options(ctx)...); err != nil {
			return "", fmt.Errorf("push %s: %w", tag, err)
		}
	}
	if err := remote.Put(tag, a, options(ctx)...); err != nil {
		return "", fmt.Errorf("push %s: %w", tag, err)
	}
	manifest, err := a.RawManifest()
	if err != nil {
		return "", err
	}
	digest, _, err := v1.SHA256(bytes.NewReader(manifest))
	if err != nil {
		return "", err
	}
	return tag.String() + "@" + digest.String(), nil
}
