package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

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
	if help, err := parse(flags, args, w); help || err != nil {
		return err
	}
	if err := to.Validate(); err != nil {
		return err
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
	return b.push(ctx, root, to, images)
}

// describe notes the commit, and its time.
func describe(ctx context.Context, root string, r *release.Release) error {
	commit, err := git(ctx, root, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
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

// push pushes the images, each for all platforms, and the chart last: when it is there, so
// are its images.
func (b *builder) push(ctx context.Context, root string, to release.Release, images []recipe.Image) error {
	for _, image := range images {
		if image.Go == nil || image.Go.Package == "" {
			return fmt.Errorf("image %s is not of this repository's Go code: others are built for this machine alone", image.Name)
		}
	}
	for _, image := range images {
		var platforms []v1.Image
		for _, architecture := range release.Platforms {
			built, err := b.goImage(ctx, *image.Go, architecture)
			if err != nil {
				return fmt.Errorf("build %s for %s: %w", image.Name, architecture, err)
			}
			platforms = append(platforms, built)
		}
		reference, err := to.PushImage(ctx, image.Name, platforms)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.w, "pushed %s (%s)\n", reference, strings.Join(release.Platforms, ", "))
	}
	reference, err := to.PushChart(ctx, filepath.Join(root, operatorChart), charted)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.w, "pushed %s\n", reference)
	fmt.Fprintf(b.w, "install it: helm install loadtest-operator oci://%s/charts/loadtest-operator --version %s --namespace loadtest-system --create-namespace\n", to.Registry, to.Version)
	return nil
}
