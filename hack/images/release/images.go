package release

import (
	"context"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Platforms are the architectures that images are pushed for, all of Linux.
var Platforms = []string{"amd64", "arm64"}

// PushImage pushes the index of an image under its name, and what it lists.
func (r Release) PushImage(ctx context.Context, image string, index v1.ImageIndex) (Pushed, error) {
	tag, err := r.tag(image)
	if err != nil {
		return Pushed{}, err
	}
	if err := remote.WriteIndex(tag, index, options(ctx)...); err != nil {
		return Pushed{}, fmt.Errorf("push %s: %w", tag, err)
	}
	return r.Reference(image, index)
}

// Reference is what the index of an image is called in the registry, once it has been pushed.
func (r Release) Reference(image string, index v1.ImageIndex) (Pushed, error) {
	tag, err := r.tag(image)
	if err != nil {
		return Pushed{}, err
	}
	digest, err := index.Digest()
	return Pushed{tag.Context(), r.Version, digest}, err
}

// Index lists an image's platforms, in their order, each with the annotations that the index has, as some tools read
// these and others those.
func (r Release) Index(image string, platforms []v1.Image) (v1.ImageIndex, error) {
	annotations := r.annotations(image, "The "+image+" of loadtest-operator")
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range platforms {
		annotated, ok := mutate.Annotations(platform, annotations).(v1.Image)
		if !ok {
			return nil, fmt.Errorf("%T is no image", platform)
		}
		config, err := annotated.ConfigFile()
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: annotated, Descriptor: v1.Descriptor{Platform: config.Platform()}})
	}
	annotated, ok := mutate.Annotations(index, annotations).(v1.ImageIndex)
	if !ok {
		return nil, fmt.Errorf("%T is no index", index)
	}
	return annotated, nil
}
