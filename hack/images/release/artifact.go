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

// artifact is what a registry keeps that is no image: a configuration, whose media type is that
// of the artifact, and layers.
type artifact struct {
	config      v1.Layer
	layers      []artifactLayer
	subject     *v1.Descriptor // what it is attached to; nil for what stands alone
	annotations map[string]string
}

// artifactLayer is a layer, and what the manifest says of it.
type artifactLayer struct {
	v1.Layer
	annotations map[string]string
}

func newArtifact(configType types.MediaType, config []byte, layerType types.MediaType, layer []byte, annotations map[string]string) artifact {
	return artifact{config: static.NewLayer(config, configType), layers: []artifactLayer{{static.NewLayer(layer, layerType), nil}}, annotations: annotations}
}

// MediaType is that of the manifest.
func (artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// RawManifest is the manifest as it is sent.
func (a artifact) RawManifest() ([]byte, error) {
	config, err := partial.Descriptor(a.config)
	if err != nil {
		return nil, err
	}
	var layers []v1.Descriptor
	for _, layer := range a.layers {
		described, err := partial.Descriptor(layer.Layer)
		if err != nil {
			return nil, err
		}
		described.Annotations = layer.annotations
		layers = append(layers, *described)
	}
	return json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: *config, Layers: layers, Annotations: a.annotations, Subject: a.subject,
	})
}

// digest is that of the manifest.
func (a artifact) digest() (v1.Hash, error) {
	manifest, err := a.RawManifest()
	if err != nil {
		return v1.Hash{}, err
	}
	digest, _, err := v1.SHA256(bytes.NewReader(manifest))
	return digest, err
}

// push uploads the parts, and the manifest last, under its tag or, without one, its digest. It
// returns the reference by digest.
func (a artifact) push(ctx context.Context, in name.Repository, tag string) (Pushed, error) {
	digest, err := a.digest()
	if err != nil {
		return Pushed{}, err
	}
	pushed := Pushed{in, tag, digest}
	for _, blob := range append([]artifactLayer{{a.config, nil}}, a.layers...) {
		if err := remote.WriteLayer(in, blob.Layer, options(ctx)...); err != nil {
			return Pushed{}, fmt.Errorf("push %s: %w", pushed, err)
		}
	}
	var to name.Reference = in.Digest(digest.String())
	if tag != "" {
		to = in.Tag(tag)
	}
	if err := remote.Put(to, a, options(ctx)...); err != nil {
		return Pushed{}, fmt.Errorf("push %s: %w", pushed, err)
	}
	return pushed, nil
}
