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

// PushImage pushes an image for each platform, in their order, and the index of them under
// its name. It returns the reference by digest.
func (r Release) PushImage(ctx context.Context, image string, platforms []v1.Image) (string, error) {
	tag, err := r.tag(image)
	if err != nil {
		return "", err
	}
	index, err := r.index(image, platforms)
	if err != nil {
		return "", fmt.Errorf("make the index of %s: %w", tag, err)
	}
	if err := remote.WriteIndex(tag, index, options(ctx)...); err != nil {
		return "", fmt.Errorf("push %s: %w", tag, err)
	}
	digest, err := index.Digest()
	if err != nil {
		return "", err
	}
	return tag.String() + "@" + digest.String(), nil
}

// index lists the images, each with the annotations that the index has, as some tools read
// these and others those.
func (r Release) index(image string, platforms []v1.Image) (v1.ImageIndex, error) {
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
