package image

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// indexName is the file of an OCI layout that has the images' names.
const indexName = "index.json"

// Archive is what is to be known of an image archive without importing it.
type Archive struct {
	// Digest is that of the whole file.
	Digest string
	// Names are the references of the images in it.
	Names []string
}

// Open reads an archive in the form of docker save or of an OCI layout.
func Open(path string) (Archive, error) {
	source, err := os.Open(path)
	if err != nil {
		return Archive{}, fmt.Errorf("open image archive: %w", err)
	}
	defer source.Close()
	archive, err := read(source)
	if err != nil {
		return Archive{}, fmt.Errorf("read image archive %s: %w", path, err)
	}
	return archive, nil
}

func read(source io.Reader) (Archive, error) {
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
			return Archive{}, err
		}
		switch header.Name {
		case manifestName:
			fromManifest, err = manifestNames(files)
		case indexName:
			fromIndex, err = indexNames(files)
		}
		if err != nil {
			return Archive{}, fmt.Errorf("%s: %w", header.Name, err)
		}
	}
	if _, err := io.Copy(io.Discard, source); err != nil { // padding after the last file
		return Archive{}, err
	}
	names := fromManifest // an archive may have both, for both kinds of reader
	if names == nil {
		names = fromIndex
	}
	if names == nil {
		return Archive{}, errors.New("it names no image: it needs a manifest.json with RepoTags, as docker save writes it")
	}
	return Archive{Digest: hex.EncodeToString(sum.Sum(nil)), Names: names}, nil
}

func manifestNames(content io.Reader) ([]string, error) {
	var entries []entry
	if err := json.NewDecoder(content).Decode(&entries); err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.RepoTags...)
	}
	return names, nil
}

func indexNames(content io.Reader) ([]string, error) {
	var index struct {
		Manifests []struct{ Annotations map[string]string }
	}
	if err := json.NewDecoder(content).Decode(&index); err != nil {
		return nil, err
	}
	var names []string
	for _, manifest := range index.Manifests {
		for _, key := range []string{"io.containerd.image.name", "org.opencontainers.image.ref.name"} {
			if name := manifest.Annotations[key]; name != "" {
				names = append(names, name)
				break
			}
		}
	}
	return names, nil
}
