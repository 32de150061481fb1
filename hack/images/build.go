package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/loadtest-dev/loadtest-operator/hack/components/build"
	"github.com/loadtest-dev/loadtest-operator/hack/images/archive"
	"github.com/loadtest-dev/loadtest-operator/hack/images/debimage"
	"github.com/loadtest-dev/loadtest-operator/hack/images/goimage"
	"github.com/loadtest-dev/loadtest-operator/hack/images/kafka"
	"github.com/loadtest-dev/loadtest-operator/hack/images/prerequisite"
	"github.com/loadtest-dev/loadtest-operator/hack/images/recipe"
	"github.com/loadtest-dev/loadtest-operator/hack/images/rootfs"
)

var mmdebstrap = prerequisite.Program{Name: "mmdebstrap", Package: "mmdebstrap"}

// builder turns recipes into tars.
type builder struct {
	out     string
	golang  goimage.Builder
	debian  debimage.Builder
	kafka   kafka.Jars
	install bool
	w       io.Writer
}

func newBuilder(root, out string, install, fresh bool, w io.Writer) (*builder, error) {
	cache, err := build.DefaultCache()
	if err != nil {
		return nil, err
	}
	w = &lines{w: w}
	jars := jars(cache, install, w)
	cache = filepath.Join(cache, "images")
	for _, dir := range []string{out, cache} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	return &builder{
		out:     out,
		golang:  goimage.Builder{Root: root, Component: component(root, w), BinDir: filepath.Join(cache, "bin"), Certificates: goimage.HostCertificates},
		debian:  debimage.Builder{CacheDir: filepath.Join(cache, "debian"), Fresh: fresh, AptDir: "/etc/apt", Extract: debimage.Mmdebstrap},
		kafka:   jars,
		install: install,
		w:       w,
	}, nil
}

// lines are written by several goroutines.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// buildAll builds every image; one that fails does not keep the others from being built. Those of Go
// are built one after the other, as the compiler keeps all cores busy, and the others beside them, as
// they wait for the network.
func (b *builder) buildAll(ctx context.Context, images []recipe.Image) error {
	width := 0
	for _, image := range images {
		width = max(width, len(image.Ref()))
	}
	errs := make([]error, len(images))
	var lanes sync.WaitGroup
	for _, compiled := range []bool{true, false} {
		lanes.Go(func() {
			for i, image := range images {
				if (image.Go != nil) == compiled {
					errs[i] = b.buildOne(ctx, image, width)
				}
			}
		})
	}
	lanes.Wait()
	var failed []string
	for i, err := range errs {
		if err != nil {
			failed = append(failed, images[i].Name)
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d images failed: %s", len(failed), len(images), strings.Join(failed, ", "))
	}
	return nil
}

// buildOne says in one line, whose first column has that width, what became of an image.
func (b *builder) buildOne(ctx context.Context, image recipe.Image, width int) error {
	start := time.Now()
	saved, err := b.build(ctx, image)
	seconds := time.Since(start).Seconds()
	if err != nil {
		fmt.Fprintf(b.w, "%-*s  failed after %.1f s: %v\n", width, image.Ref(), seconds, err)
		return err
	}
	fmt.Fprintf(b.w, "%-*s  %6.1f MB  %s  %s  %.1f s\n", width, image.Ref(),
		float64(saved.Size)/1e6, saved.ID.String()[:len("sha256:")+12], outcome(saved), seconds)
	return nil
}

func outcome(s archive.Saved) string {
	if s.Written {
		return "built "
	}
	return "cached"
}

func (b *builder) build(ctx context.Context, image recipe.Image) (archive.Saved, error) {
	var img v1.Image
	var err error
	switch {
	case image.Go != nil:
		img, err = b.goImage(ctx, *image.Go, "")
	case image.Debian != nil:
		img, err = b.debianImage(ctx, *image.Debian)
	default:
		err = errors.New("the recipe names neither a Go package nor Debian packages")
	}
	if err != nil {
		return archive.Saved{}, err
	}
	return archive.Save(filepath.Join(b.out, image.File()), image.Ref(), img)
}

// goImage is for an architecture; empty means this machine's. Its binaries are kept apart
// from those of others.
func (b *builder) goImage(ctx context.Context, r recipe.Go, architecture string) (v1.Image, error) {
	golang := b.golang
	golang.Architecture, golang.BinDir = architecture, filepath.Join(golang.BinDir, architecture)
	tree, err := golang.Tree(ctx, r)
	if err != nil {
		return nil, err
	}
	return tree.Image(rootfs.Run{Architecture: architecture, Entrypoint: []string{"/" + r.Binary}})
}

func (b *builder) debianImage(ctx context.Context, r recipe.Debian) (v1.Image, error) {
	if err := mmdebstrap.Ensure(ctx, b.install, b.w); err != nil {
		return nil, err
	}
	tree, cached, err := b.debian.Tree(ctx, r)
	if err != nil {
		return nil, err
	}
	if r.KafkaJars != "" {
		if err := b.addJars(ctx, tree, r.KafkaJars); err != nil {
			return nil, err
		}
	}
	for _, name := range r.Components {
		if err := b.addPrograms(ctx, tree, name); err != nil {
			return nil, err
		}
	}
	if r.Requirements != "" {
		if err := b.addPython(ctx, tree, r.Requirements); err != nil {
			return nil, err
		}
	}
	run := rootfs.Run{Entrypoint: []string{"/" + debimage.Entrypoint}, Command: r.Command, StopSignal: r.StopSignal}
	if len(r.Writable) > 0 {
		run.WorkingDir = "/" + r.Writable[0]
	}
	if !cached {
		fmt.Fprintf(b.w, "extracted %s from Debian's packages\n", r.Packages[0])
	}
	return tree.Image(run)
}

// addJars puts Kafka's jars into a folder of the tree.
func (b *builder) addJars(ctx context.Context, tree rootfs.Tree, folder string) error {
	home, _, err := b.kafka.Home(ctx)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(home, "libs", "*"))
	if err != nil {
		return fmt.Errorf("list jars: %w", err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read jar: %w", err)
		}
		tree.File(path.Join(folder, filepath.Base(file)), 0o644, body)
	}
	return nil
}
