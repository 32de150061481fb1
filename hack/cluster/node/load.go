package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/images/archive"
	"github.com/loadtest-dev/loadtest-operator/hack/images/rootfs"
)

// Load imports the image archives that the node does not have yet.
func (s Nodes) Load(ctx context.Context, n int, archives ...string) error {
	node := s.Layout.Node(n)
	imported, err := readImported(node)
	if err != nil {
		return err
	}
	for _, path := range archives {
		images, err := openImages(path)
		if err != nil {
			return err
		}
		if imported.has(images) {
			continue
		}
		if err := importImage(ctx, node, path); err != nil {
			return err
		}
		imported.add(images)
		// After each import, so that a repetition after a failure skips it.
		if err := imported.write(node); err != nil {
			return err
		}
	}
	return nil
}

func importImage(ctx context.Context, node layout.Node, path string) error {
	out, err := exec.CommandContext(ctx, "ctr",
		"--address", node.Socket(), "--namespace", "k8s.io", "images", "import", path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("import %s into %s: %w: %s", path, node.Name(), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// imported is the digest of the archive that each image of a node comes from, by
// the image's name. containerd's digests cannot be compared with an archive: a
// file of docker save has none, and containerd's depend on its version.
type imported map[string]string

func (l imported) has(images imageArchive) bool {
	for _, name := range images.names {
		if l[name] != images.digest {
			return false
		}
	}
	return true
}

func (l imported) add(images imageArchive) {
	for _, name := range images.names {
		l[name] = images.digest
	}
}

func importedPath(node layout.Node) string { return node.Path("images.json") }

func readImported(node layout.Node) (imported, error) {
	content, err := os.ReadFile(importedPath(node))
	if errors.Is(err, fs.ErrNotExist) {
		return imported{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the images of %s: %w", node.Name(), err)
	}
	known := imported{}
	if err := json.Unmarshal(content, &known); err != nil {
		return nil, fmt.Errorf("decode the images of %s: %w", node.Name(), err)
	}
	return known, nil
}

func (l imported) write(node layout.Node) error {
	content, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the images of %s: %w", node.Name(), err)
	}
	if err := os.WriteFile(importedPath(node), content, 0o644); err != nil {
		return fmt.Errorf("write the images of %s: %w", node.Name(), err)
	}
	return nil
}

// pauseArchive is the path of the pause image's archive.
func (s Nodes) pauseArchive() string { return s.Layout.Data("pause.tar") }

// PackPause writes the archive of the pause image.
func (s Nodes) PackPause() error {
	program, err := os.ReadFile(s.Layout.Binary("pause"))
	if err != nil {
		return fmt.Errorf("read the pause program: %w", err)
	}
	tree := rootfs.Tree{}
	tree.File("pause", 0o755, program)
	image, err := tree.Image(rootfs.Run{Entrypoint: []string{"/pause"}})
	if err != nil {
		return fmt.Errorf("make the pause image: %w", err)
	}
	_, err = archive.Save(s.pauseArchive(), PauseImage, image)
	return err
}
