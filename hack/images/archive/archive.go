package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Saved is the result of Save.
type Saved struct {
	// ID is the digest of the image's configuration. It is what nodes list as
	// the image's id, and covers the layers uncompressed.
	ID v1.Hash
	// Size is the tar's, in bytes.
	Size int64
	// Written is false if the file held this image already.
	Written bool
}

// Save makes file hold the image under the name ref.
func Save(file, ref string, img v1.Image) (Saved, error) {
	tag, err := name.NewTag(ref, name.StrictValidation)
	if err != nil {
		return Saved{}, fmt.Errorf("image name: %w", err)
	}
	id, err := img.ConfigName()
	if err != nil {
		return Saved{}, fmt.Errorf("digest of %s: %w", ref, err)
	}
	held, err := holds(file, tag, id)
	if err != nil {
		return Saved{}, err
	}
	if !held {
		if err := write(file, tag, img); err != nil {
			return Saved{}, fmt.Errorf("write %s: %w", file, err)
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		return Saved{}, err
	}
	return Saved{ID: id, Size: info.Size(), Written: !held}, nil
}

// holds reports whether the file is the tar of that image. A file that is no
// such tar is simply not it, and will be replaced.
func holds(file string, tag name.Tag, id v1.Hash) (bool, error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(file) })
	if err != nil || len(manifest) != 1 {
		return false, nil //nolint:nilerr // see above
	}
	return manifest[0].Config == id.String() && slices.Equal(manifest[0].RepoTags, []string{tag.String()}), nil
}

// write replaces the file in one step: a build that is interrupted leaves the
// old file or the new one, never half of it.
func write(file string, tag name.Tag, img v1.Image) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	if err := tarball.Write(tag, img, tmp); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := errors.Join(tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}
