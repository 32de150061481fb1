package rootfs

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// searchPath is the search path that the official images have, so that a chart may
// name a program without its folder.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Run is what a container of the image starts.
type Run struct {
	// Architecture is that of the programs; empty means this machine's.
	Architecture string
	Entrypoint   []string
	Command      []string
	WorkingDir   string
	// StopSignal ends it; empty means SIGTERM.
	StopSignal string
}

// Image makes an image of one layer from the tree. It runs as NonRoot.
func (t Tree) Image(run Run) (v1.Image, error) {
	layer, err := t.layer()
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err = mutate.AppendLayers(img, layer)
	if err != nil {
		return nil, fmt.Errorf("append layer: %w", err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read image config: %w", err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", cmp.Or(run.Architecture, runtime.GOARCH)
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
	layer, err := tarball.LayerFromOpener(open, tarball.WithCompressionLevel(gzip.BestSpeed), tarball.WithCompressedCaching, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("make layer: %w", err)
	}
	return layer, nil
}
