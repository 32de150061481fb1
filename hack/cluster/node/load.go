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

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/image"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
)

// Load imports image archives into the node, without those that it has.
func (s Nodes) Load(ctx context.Context, n int, archives ...string) error {
	node := s.Layout.Node(n)
	ledger, err := readLedger(node)
	if err != nil {
		return err
	}
	for _, path := range archives {
		archive, err := image.Open(path)
		if err != nil {
			return err
		}
		if ledger.has(archive) {
			continue
		}
		if err := importImage(ctx, node, path); err != nil {
			return err
		}
		ledger.add(archive)
		// After each import, so that what is done is not done again.
		if err := ledger.write(node); err != nil {
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

// ledger says from which archive a node has each image, by name. The digest in
// containerd is no use for that: an archive in the form of docker save has no
// manifest, and containerd's own depends on its version.
type ledger map[string]string

func (l ledger) has(archive image.Archive) bool {
	for _, name := range archive.Names {
		if l[name] != archive.Digest {
			return false
		}
	}
	return true
}

func (l ledger) add(archive image.Archive) {
	for _, name := range archive.Names {
		l[name] = archive.Digest
	}
}

func ledgerPath(node layout.Node) string { return node.Path("images.json") }

func readLedger(node layout.Node) (ledger, error) {
	content, err := os.ReadFile(ledgerPath(node))
	if errors.Is(err, fs.ErrNotExist) {
		return ledger{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the images of %s: %w", node.Name(), err)
	}
	known := ledger{}
	if err := json.Unmarshal(content, &known); err != nil {
		return nil, fmt.Errorf("decode the images of %s: %w", node.Name(), err)
	}
	return known, nil
}

func (l ledger) write(node layout.Node) error {
	content, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the images of %s: %w", node.Name(), err)
	}
	if err := os.WriteFile(ledgerPath(node), content, 0o644); err != nil {
		return fmt.Errorf("write the images of %s: %w", node.Name(), err)
	}
	return nil
}

// pauseArchive is where the pause image's archive is written.
func (s Nodes) pauseArchive() string { return s.Layout.Data("pause.tar") }

// PackPause writes the archive of the pause image.
func (s Nodes) PackPause() error {
	program, err := os.ReadFile(s.Layout.Binary("pause"))
	if err != nil {
		return fmt.Errorf("read the pause program: %w", err)
	}
	archive, err := os.Create(s.pauseArchive())
	if err != nil {
		return fmt.Errorf("make the pause archive: %w", err)
	}
	pause := image.Binary{Name: PauseImage, Program: program, Path: "pause", User: "65535:65535"}
	return errors.Join(pause.Write(archive), archive.Close())
}
