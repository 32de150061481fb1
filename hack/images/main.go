package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"text/tabwriter"

	"github.com/loadtest-dev/loadtest-operator/hack/images/recipe"
)

const usage = `images builds this repository's container images without Docker or a registry.

Usage:
  images build [--out DIR] [--install] [--fresh] [NAME...]
  images list
  images push --registry HOST/PATH --version VERSION [--key FILE] [NAME...]
  images release --version VERSION [--registry HOST/PATH] [--out DIR] [--key FILE]
  images kafka [--install] [lock]
  images deps [--install] [ecosystem]

build writes one docker-save tar per image (all of them, if none is named). A
tar whose image has not changed is left untouched. Load one with any of
  cluster load bin/images/*.tar
  kind load image-archive bin/images/operator.tar
  docker load --input bin/images/operator.tar

push builds images for linux/amd64 and linux/arm64, and pushes them as
HOST/PATH/NAME:VERSION, and the operator's chart, which then names them, as
oci://HOST/PATH/charts/loadtest-operator: by their digests, so that it is pushed with
operator and worker alone. It is for images of our own binaries; without a name, for
operator, worker and kubectl-loadtest. What syft finds inside an image is attached to
it as SPDX. With --key all of it is signed, as cosign verify --key PUBLIC reads it: FILE
is a private key of cosign generate-key-pair, whose password is in COSIGN_PASSWORD, or
another of ECDSA in PEM. Credentials are those of docker login. Plain HTTP is spoken to
a registry on this machine only.

release writes all files of a release into a folder, bin/release/VERSION without --out, and
pushes nothing: the images as OCI archives for both architectures, what is inside them as
SPDX, the chart as push makes it, the definitions as crds.yaml, the plugin's archives for
Linux and macOS, krew's manifest, notes.md from CHANGELOG.md, SHA256SUMS and, with --key,
its signature. The registry is where the chart takes the images from, ghcr.io/loadtest-dev
without the flag. The tree must be committed: the same commit gives the same files.

kafka fetches Kafka's jars with Maven, unless they are there with the digests
that are recorded in the repository, and prints the folder that has them in
libs. kafka lock records the digests of what Maven brings now.

deps looks for the programs that builds and tests of the repository need, and for
those that the suite ecosystem needs besides.

Flags of build, kafka and deps:
  --install   install what is missing with apt-get (as root)

Flags of build:
  --out DIR   where the tars go, relative to the repository (default bin/images)
  --fresh     extract Debian packages again, with the updates made since

The images of our own binaries need Go; those of Debian packages (all others)
need a Debian host with mmdebstrap, and use the archives in its /etc/apt. That of
Kafka needs Maven, too.
Extracted packages, linked binaries and Kafka's jars are kept in LOADTEST_CACHE,
or ~/.cache/loadtest-operator if that variable is not set.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		stop()
		os.Exit(1)
	}
}

// run writes the command's answer to w, and to progress what is not a part of
// it.
func run(ctx context.Context, args []string, w, progress io.Writer) error {
	if len(args) == 0 {
		return errors.New("which command? build, list, push, release, kafka or deps; --help explains them")
	}
	switch args[0] {
	case "build":
		return buildCommand(ctx, args[1:], w)
	case "list":
		return list(w)
	case "push":
		return pushCommand(ctx, args[1:], w)
	case "release":
		return releaseCommand(ctx, args[1:], w)
	case "kafka":
		return kafkaCommand(ctx, args[1:], w, progress)
	case "deps":
		return depsCommand(ctx, args[1:], w)
	case "help", "-h", "-help", "--help":
		_, err := io.WriteString(w, usage)
		return err
	}
	return fmt.Errorf("unknown command %q: the commands are build, list, push, release, kafka and deps; --help explains them", args[0])
}

func buildCommand(ctx context.Context, args []string, w io.Writer) error {
	flags, install := newFlags("build")
	out := flags.String("out", "bin/images", "")
	fresh := flags.Bool("fresh", false, "")
	if help, err := parse(flags, args, w); help || err != nil {
		return err
	}
	images, err := recipe.Select(flags.Args())
	if err != nil {
		return err
	}
	root, err := repositoryRoot()
	if err != nil {
		return err
	}
	if !filepath.IsAbs(*out) {
		*out = filepath.Join(root, *out)
	}
	b, err := newBuilder(root, *out, *install, *fresh, w)
	if err != nil {
		return err
	}
	return b.buildAll(ctx, images)
}

// newFlags are those of both commands that have any.
func newFlags(command string) (flags *flag.FlagSet, install *bool) {
	flags = flag.NewFlagSet(command, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags, flags.Bool("install", false, "")
}

// parse reads the flags. It reports whether only help was asked for, and given.
func parse(flags *flag.FlagSet, args []string, w io.Writer) (help bool, err error) {
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		_, err := io.WriteString(w, usage)
		return true, err
	} else if err != nil {
		return false, fmt.Errorf("%w; --help explains the flags", err)
	}
	return false, nil
}

func list(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "NAME\tIMAGE\tFILE\tFROM")
	for _, i := range recipe.All() {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", i.Name, i.Ref(), i.File(), i.Source())
	}
	return tw.Flush()
}

// repositoryRoot is the closest folder above that holds a PROJECT file, which
// only the root of an operator's repository does.
func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "PROJECT")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no PROJECT file in this folder or above: run images inside the repository")
		}
	}
}
