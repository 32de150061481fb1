package rootfs

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// searchPath is the search path that the official images have, so that a chart may
// name a program without its folder.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Run is what a container of the image starts.
type Run struct {
	Entrypoint []string
	Command    []string
	WorkingDir string
	// StopSignal ends it; empty means SIGTERM.
	StopSignal string
}

// Image makes an image of one layer from the tree. It runs as NonRoot.
func (t Tree) Image(run Run) (v1.Image, error) {
	layer, err := t.layer()
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, fmt.Errorf("append layer: %w", err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read image config: %w", err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", runtime.GOARCH
	file.Config = v1.Config{
		User:       fmt.Sprintf("%[1]d:%[1]d", NonRoot),
		Env:        []string{searchPath},
		Entrypoint: run.Entrypoint,
		Cmd:        run.Command,
		WorkingDir: run.WorkingDir,
		StopSignal: run.StopSignal,
	}
	return mutate.ConfigFile(img, file)
}

func (t Tree) layer() (v1.Layer, error) {
	var buf bytes.Buffer
	if err := t.Write(&buf); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(buf.Bytes())), nil }
	// The fastest level: every node unpacks the tar from the local disk, where
	// a smaller file buys nothing.
	layer, err := tarball.LayerFromOpener(open, tarball.WithCompressionLevel(gzip.BestSpeed), tarball.WithCompressedCaching)
	if err != nil {
		return nil, fmt.Errorf("make layer: %w", err)
	}
	return layer, nil
}
