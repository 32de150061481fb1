package node

import (
	"archive/tar"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// The files that have the images' names.
const (
	manifestName = "manifest.json" // of docker save
	indexName    = "index.json"    // of an OCI layout
)

// imageArchive identifies the content of an image archive.
type imageArchive struct {
	// digest is the SHA-256 of the whole file.
	digest string
	// names are the references of the images in it.
	names []string
}

// openImages reads a file of docker save, or a tar of an OCI layout.
func openImages(path string) (imageArchive, error) {
	source, err := os.Open(path)
	if err != nil {
		return imageArchive{}, fmt.Errorf("open image archive: %w", err)
	}
	defer source.Close()
	a, err := readImages(source)
	if err != nil {
		return imageArchive{}, fmt.Errorf("read image archive %s: %w", path, err)
	}
	return a, nil
}

func readImages(source io.Reader) (imageArchive, error) {
	sum := sha256.New()
	source = io.TeeReader(source, sum)
	var fromManifest, fromIndex []string
	files := tar.NewReader(source)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return imageArchive{}, err
		}
		switch header.Name {
		case manifestName:
			fromManifest, err = manifestNames(files)
		case indexName:
			fromIndex, err = indexNames(files)
		}
		if err != nil {
			return imageArchive{}, fmt.Errorf("%s: %w", header.Name, err)
		}
	}
	if _, err := io.Copy(io.Discard, source); err != nil { // padding after the last file
		return imageArchive{}, err
	}
	names := fromManifest // docker save writes both files
	if names == nil {
		names = fromIndex
	}
	if names == nil {
		return imageArchive{}, errors.New("it names no image: it needs a manifest.json with RepoTags, as docker save writes it")
	}
	return imageArchive{digest: hex.EncodeToString(sum.Sum(nil)), names: names}, nil
}

func manifestNames(content io.Reader) ([]string, error) {
	var manifest tarball.Manifest
	if err := json.NewDecoder(content).Decode(&manifest); err != nil {
		return nil, err
	}
	var names []string
	for _, image := range manifest {
		names = append(names, image.RepoTags...)
	}
	return names, nil
}

func indexNames(content io.Reader) ([]string, error) {
	index, err := v1.ParseIndexManifest(content)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, image := range index.Manifests {
		name := cmp.Or(image.Annotations["io.containerd.image.name"], image.Annotations["org.opencontainers.image.ref.name"])
		if name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}
