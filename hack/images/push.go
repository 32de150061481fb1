package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/loadtest-dev/loadtest-operator/hack/images/recipe"
	"github.com/loadtest-dev/loadtest-operator/hack/images/release"
)

const (
	repository    = "https://github.com/loadtest-dev/loadtest-operator"
	operatorChart = "charts/loadtest-operator"
)

// charted are the images that the chart has, by what it calls them.
var charted = map[string]string{"loadtest-dev/loadtest-operator": "operator", "loadtest-dev/loadtest-worker": "worker"}

// released are the images that are pushed if none is named: those that a cluster needs, and
// the command line for jobs in it.
var released = []string{"operator", "worker", "kubectl-loadtest"}

func pushCommand(ctx context.Context, args []string, w io.Writer) error {
	flags, _ := newFlags("push")
	var to release.Release
	flags.StringVar(&to.Registry, "registry", "", "")
	flags.StringVar(&to.Version, "version", "", "")
	keyFile := flags.String("key", "", "")
	if help, err := parse(flags, args, w); help || err != nil {
		return err
	}
	if err := to.Validate(); err != nil {
		return err
	}
	key, err := readKey(*keyFile)
	if err != nil {
		return err
	}
	sign := func(context.Context, release.Pushed) error { return nil }
	if key != nil {
		sign = key.Sign
	}
	names := flags.Args()
	if len(names) == 0 {
		names = released
	}
	images, err := recipe.Select(names)
	if err != nil {
		return err
	}
	root, err := repositoryRoot()
	if err != nil {
		return err
	}
	if err := describe(ctx, root, &to); err != nil {
		return err
	}
	b, err := newBuilder(root, filepath.Join(root, "bin", "images"), false, false, w)
	if err != nil {
		return err
	}
	return b.push(ctx, root, to, images, sign)
}

// revision are the arguments of git that print the commit, and -dirty behind it if the tree is another.
var revision = []string{"describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"}

// describe notes the commit, and its time.
func describe(ctx context.Context, root string, r *release.Release) error {
	commit, err := git(ctx, root, revision...)
	if err != nil {
		return err
	}
	committed, err := git(ctx, root, "log", "-1", "--format=%cI")
	if err != nil {
		return err
	}
	r.Source, r.Revision = repository, commit
	if r.Created, err = time.Parse(time.RFC3339, committed); err != nil {
		return fmt.Errorf("read the commit's time: %w", err)
	}
	return nil
}

func git(ctx context.Context, root string, args ...string) (string, error) {
	output, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(output)), nil
}

// readKey reads the key of a file; nil without one.
func readKey(file string) (*release.Key, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--key: %w", err)
	}
	key, err := release.ReadKey(text, []byte(os.Getenv("COSIGN_PASSWORD")))
	if err != nil {
		return nil, fmt.Errorf("--key %s: %w", file, err)
	}
	return &key, nil
}

// push pushes the images, each for all platforms and with what is inside it, and the chart last:
// when it is there, so are its images.
func (b *builder) push(ctx context.Context, root string, to release.Release, images []recipe.Image, sign func(context.Context, release.Pushed) error) error {
	for _, image := range images {
		if image.Go == nil || image.Go.Package == "" {
			return fmt.Errorf("image %s is not of this repository's Go code: others are built for this machine alone", image.Name)
		}
	}
	pushed := map[string]release.Pushed{}
	for _, image := range images {
		var err error
		if pushed[image.Name], err = b.pushImage(ctx, to, image, sign); err != nil {
			return err
		}
	}
	inChart := map[string]release.Pushed{}
	for name, image := range charted {
		var ok bool
		if inChart[name], ok = pushed[image]; !ok {
			fmt.Fprintf(b.w, "the chart is not pushed: it names %s by its digest, which is not among %s\n", image, strings.Join(slices.Sorted(maps.Keys(pushed)), ", "))
			return nil
		}
	}
	chart, err := to.PushChart(ctx, filepath.Join(root, operatorChart), inChart)
	if err != nil {
		return err
	}
	if err := sign(ctx, chart); err != nil {
		return err
	}
	fmt.Fprintf(b.w, "pushed %s\n", chart)
	fmt.Fprintf(b.w, "install it: helm install loadtest-operator oci://%s/charts/loadtest-operator --version %s --namespace loadtest-system --create-namespace\n", to.Registry, to.Version)
	return nil
}

// pushImage pushes an image, and its SBOM, and signs both.
func (b *builder) pushImage(ctx context.Context, to release.Release, image recipe.Image, sign func(context.Context, release.Pushed) error) (release.Pushed, error) {
	index, err := b.index(ctx, to, image)
	if err != nil {
		return release.Pushed{}, err
	}
	pushed, err := to.PushImage(ctx, image.Name, index)
	if err != nil {
		return release.Pushed{}, err
	}
	fmt.Fprintf(b.w, "pushed %s (%s)\n", pushed, strings.Join(release.Platforms, ", "))
	documents, err := describeContents(ctx, image.Name, to.Version, index)
	if err != nil {
		return release.Pushed{}, err
	}
	sbom, err := to.PushSBOMs(ctx, pushed, index, documents)
	if err != nil {
		return release.Pushed{}, err
	}
	fmt.Fprintf(b.w, "  its SBOM: %s\n", sbom)
	return pushed, errors.Join(sign(ctx, pushed), sign(ctx, sbom))
}

// index builds an image for all platforms.
func (b *builder) index(ctx context.Context, to release.Release, image recipe.Image) (v1.ImageIndex, error) {
	var platforms []v1.Image
	for _, architecture := range release.Platforms {
		built, err := b.goImage(ctx, *image.Go, architecture)
		if err != nil {
			return nil, fmt.Errorf("build %s for %s: %w", image.Name, architecture, err)
		}
		platforms = append(platforms, built)
	}
	return to.Index(image.Name, platforms)
}

// describeContents are the SBOMs of the images of an index, in their order, as syft finds them.
func describeContents(ctx context.Context, name, version string, index v1.ImageIndex) (documents [][]byte, err error) {
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "sbom-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	for _, listed := range manifest.Manifests {
		image, err := index.Image(listed.Digest)
		if err != nil {
			return nil, err
		}
		at := filepath.Join(folder, listed.Platform.Architecture)
		one, err := layout.Write(at, empty.Index)
		if err != nil {
			return nil, err
		}
		if err := one.AppendImage(image); err != nil {
			return nil, err
		}
		command := exec.CommandContext(ctx, "syft", "scan", "oci-dir:"+at, "--quiet", "--source-name", name, "--source-version", version, "--output", "spdx-json")
		command.Env = append(os.Environ(), "SYFT_CHECK_FOR_APP_UPDATE=false")
		command.Stderr = os.Stderr
		document, err := command.Output()
		if err != nil {
			return nil, fmt.Errorf("SBOM of %s for %s by syft, which make push builds: %w", name, listed.Platform.Architecture, err)
		}
		documents = append(documents, document)
	}
	return documents, nil
}
