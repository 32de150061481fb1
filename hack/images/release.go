package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/loadtest-dev/loadtest-operator/hack/images/recipe"
	"github.com/loadtest-dev/loadtest-operator/hack/images/release"
)

const (
	defaultRegistry = "ghcr.io/loadtest-dev"
	plugin          = "./cmd/kubectl-loadtest"
	// pluginVersion is the variable that has the plugin's version.
	pluginVersion = "github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/command.Version"
)

func releaseCommand(ctx context.Context, args []string, w io.Writer) error {
	flags, _ := newFlags("release")
	var r release.Release
	flags.StringVar(&r.Registry, "registry", defaultRegistry, "")
	flags.StringVar(&r.Version, "version", "", "")
	out, keyFile := flags.String("out", "", ""), flags.String("key", "", "")
	if help, err := parse(flags, args, w); help || err != nil {
		return err
	}
	if err := r.Validate(); err != nil {
		return err
	}
	key, err := readKey(*keyFile)
	if err != nil {
		return err
	}
	root, err := repositoryRoot()
	if err != nil {
		return err
	}
	if err := describe(ctx, root, &r); err != nil {
		return err
	}
	if strings.HasSuffix(r.Revision, "-dirty") {
		return errors.New("the tree has changes that are not committed: a release is that of a commit")
	}
	images, err := recipe.Select(released)
	if err != nil {
		return err
	}
	b, err := newBuilder(root, filepath.Join(root, "bin", "images"), false, false, w)
	if err != nil {
		return err
	}
	path := cmp.Or(*out, filepath.Join(root, "bin", "release", r.Version))
	folder, err := release.NewFolder(path)
	if err != nil {
		return err
	}
	f := releaseFiles{builder: b, Release: r, root: root, to: folder, references: map[string]release.Pushed{}}
	if err := f.write(ctx, images); err != nil {
		return err
	}
	if now, err := git(ctx, root, revision...); err != nil || now != r.Revision {
		return errors.Join(err, fmt.Errorf("the tree was %s and is %s: it was changed meanwhile, so remove %s and begin again", r.Revision, now, path))
	}
	if err := folder.WriteSums(key); err != nil { // last: with it, the release is whole
		return err
	}
	fmt.Fprintf(w, "the release is in %s\n", path)
	return nil
}

// releaseFiles writes the files of a release.
type releaseFiles struct {
	*builder
	release.Release
	root       string
	to         *release.Folder
	references map[string]release.Pushed // of the images that were written, by name
}

func (f *releaseFiles) write(ctx context.Context, images []recipe.Image) error {
	changelog, err := os.ReadFile(filepath.Join(f.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	if _, err := f.Notes(string(changelog), nil); err != nil {
		return err // before minutes of work
	}
	var all []release.Pushed
	for _, image := range images {
		if err := f.image(ctx, image); err != nil {
			return err
		}
		all = append(all, f.references[image.Name])
	}
	notes, err := f.Notes(string(changelog), all)
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{f.chart, f.definitions, f.plugins} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return f.to.Write("notes.md", []byte(notes))
}

// image writes an image for all platforms, and what is inside it.
func (f *releaseFiles) image(ctx context.Context, image recipe.Image) error {
	fmt.Fprintf(f.w, "release: image %s for %s\n", image.Name, strings.Join(release.Platforms, " and "))
	index, err := f.index(ctx, f.Release, image)
	if err != nil {
		return err
	}
	reference, err := f.Reference(image.Name, index)
	if err != nil {
		return err
	}
	f.references[image.Name] = reference
	documents, err := describeContents(ctx, image.Name, f.Version, index)
	if err != nil {
		return err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for i, document := range documents {
		listed := manifest.Manifests[i]
		fixed, err := f.FixSBOM(document, listed.Digest)
		if err != nil {
			return fmt.Errorf("SBOM of %s: %w", image.Name, err)
		}
		if err := f.to.Write(fmt.Sprintf("%s_linux_%s.spdx.json", image.Name, listed.Platform.Architecture), fixed); err != nil {
			return err
		}
	}
	name, _, _ := strings.Cut(reference.String(), "@")
	return f.to.Create(image.Name+".oci.tar", func(w io.Writer) error { return f.ociArchive(w, index, name) })
}

// ociArchive writes an image as the archive of an OCI layout, under its name.
func (f *releaseFiles) ociArchive(w io.Writer, index v1.ImageIndex, name string) error {
	folder, err := os.MkdirTemp("", "oci-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	at, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	named := map[string]string{"io.containerd.image.name": name, "org.opencontainers.image.ref.name": f.Version}
	if err := at.AppendIndex(index, layout.WithAnnotations(named)); err != nil {
		return err
	}
	archive := tar.NewWriter(w)
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(&tar.Header{Name: filepath.ToSlash(inside), Mode: 0o644, Size: int64(len(content)), ModTime: f.Created}); err != nil {
			return err
		}
		_, err = archive.Write(content)
		return err
	})
	return errors.Join(err, archive.Close())
}

// chart writes the operator's chart, which names the images by their digests.
func (f *releaseFiles) chart(context.Context) error {
	inChart := map[string]release.Pushed{}
	for name, image := range charted {
		inChart[name] = f.references[image]
	}
	chart, err := f.PackChart(filepath.Join(f.root, operatorChart), inChart)
	if err != nil {
		return err
	}
	return f.to.Write(chart.Name+"-"+f.Version+".tgz", chart.Archive)
}

// definitions writes the chart's CRDs, one after another.
func (f *releaseFiles) definitions(context.Context) error {
	files, err := filepath.Glob(filepath.Join(f.root, operatorChart, "crds", "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("find the definitions: %d files, %w", len(files), err)
	}
	var all [][]byte
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		all = append(all, bytes.TrimPrefix(content, []byte("---\n")))
	}
	return f.to.Write("crds.yaml", bytes.Join(all, []byte("---\n")))
}

// plugins writes the plugin's archives, and krew's manifest, which has their sums.
func (f *releaseFiles) plugins(ctx context.Context) error {
	var completion, license, manifest []byte
	for path, to := range map[string]*[]byte{"deploy/krew/kubectl_complete-loadtest": &completion, "LICENSE": &license, "deploy/krew/loadtest.yaml": &manifest} {
		content, err := os.ReadFile(filepath.Join(f.root, path))
		if err != nil {
			return err
		}
		*to = content
	}
	for _, platform := range release.PluginPlatforms {
		fmt.Fprintf(f.w, "release: plugin for %s/%s\n", platform.OS, platform.Architecture)
		program, err := f.program(ctx, platform)
		if err != nil {
			return err
		}
		archive, err := f.PackPlugin(program, completion, license)
		if err != nil {
			return err
		}
		if err := f.to.Write(platform.PluginArchive(), archive); err != nil {
			return err
		}
	}
	filled, err := f.KrewManifest(string(manifest), f.to)
	if err != nil {
		return err
	}
	return f.to.Write("krew-loadtest.yaml", filled)
}

// program builds the plugin, with the release's version in it.
func (f *releaseFiles) program(ctx context.Context, platform release.Platform) ([]byte, error) {
	folder, err := os.MkdirTemp("", "plugin-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	out := filepath.Join(folder, "kubectl-loadtest")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -X "+pluginVersion+"=v"+f.Version, "-o", out, plugin)
	command.Dir = f.root
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+platform.OS, "GOARCH="+platform.Architecture, "GOFLAGS=", "GOWORK=off")
	if output, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build %s: %w\n%s", plugin, err, strings.TrimSpace(string(output)))
	}
	return os.ReadFile(out)
}
