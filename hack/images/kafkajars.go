package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/loadtest-dev/loadtest-operator/hack/components/build"
	"github.com/loadtest-dev/loadtest-operator/hack/images/kafka"
	"github.com/loadtest-dev/loadtest-operator/hack/images/prerequisite"
)

var maven = prerequisite.Program{Name: "mvn", Package: "maven"}

// jars are Kafka's, fetched with a Maven that is there or may be installed.
func jars(cache string, install bool, progress io.Writer) kafka.Jars {
	fetch := func(ctx context.Context, folder string) error {
		if err := maven.Ensure(ctx, install, progress); err != nil {
			return err
		}
		fmt.Fprintf(progress, "fetching the jars of Kafka %s\n", kafka.Version)
		return kafka.Maven(ctx, folder)
	}
	return kafka.Jars{CacheDir: cache, Fetch: fetch}
}

// kafkaCommand prints where the jars are, or records the digests of new ones.
func kafkaCommand(ctx context.Context, args []string, out, progress io.Writer) error {
	flags, install := newFlags("kafka")
	if help, err := parse(flags, args, out); help || err != nil {
		return err
	}
	cache, err := build.DefaultCache()
	if err != nil {
		return err
	}
	j := jars(cache, *install, progress)
	switch {
	case flags.NArg() == 0:
		home, _, err := j.Home(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, home)
		return err
	case flags.NArg() == 1 && flags.Arg(0) == "lock":
		return lock(ctx, j)
	}
	return fmt.Errorf("unknown arguments %q: want none, or lock", flags.Args())
}

func lock(ctx context.Context, j kafka.Jars) error {
	root, err := repositoryRoot()
	if err != nil {
		return err
	}
	content, err := j.Lock(ctx)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "hack/images/kafka/jars.sha256"), content, 0o644)
}
