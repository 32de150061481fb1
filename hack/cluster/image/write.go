package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
)

// Binary is an image of one static program.
type Binary struct {
	// Name is the image's reference, with a tag.
	Name string
	// Program is the executable, which becomes /Path and the entrypoint.
	Program []byte
	Path    string
	// User is "uid:gid"; empty means root.
	User string
}

// Write writes the archive of the image.
func (b Binary) Write(w io.Writer) error {
	layer, err := archive(file{b.Path, b.Program, 0o755})
	if err != nil {
		return fmt.Errorf("write layer of %s: %w", b.Name, err)
	}
	config, err := json.Marshal(b.config(layer))
	if err != nil {
		return fmt.Errorf("encode configuration of %s: %w", b.Name, err)
	}
	configName, layerName := digest(config)+".json", digest(layer)+".tar"
	manifest, err := json.Marshal([]entry{{Config: configName, RepoTags: []string{b.Name}, Layers: []string{layerName}}})
	if err != nil {
		return fmt.Errorf("encode manifest of %s: %w", b.Name, err)
	}
	content, err := archive(
		file{configName, config, 0o644}, file{layerName, layer, 0o644}, file{manifestName, manifest, 0o644})
	if err != nil {
		return fmt.Errorf("write archive of %s: %w", b.Name, err)
	}
	_, err = w.Write(content)
	return err
}

func (b Binary) config(layer []byte) map[string]any {
	return map[string]any{
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"config":       map[string]any{"Entrypoint": []string{"/" + b.Path}, "User": b.User},
		"rootfs":       map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + digest(layer)}},
	}
}

// entry is an image in the archive's manifest.
type entry struct {
	Config   string
	RepoTags []string
	Layers   []string
}

const manifestName = "manifest.json"

type file struct {
	name    string
	content []byte
	mode    int64
}

func archive(files ...file) ([]byte, error) {
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content)), Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	return buffer.Bytes(), w.Close()
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
