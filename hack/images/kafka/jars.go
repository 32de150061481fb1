package kafka

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Version is the one that pom.xml names.
const Version = "4.0.0"

// libs is where the jars are, in the folder that Home returns. Kafka's own
// distribution has them there, too.
const libs = "libs"

//go:embed jars.sha256
var recorded []byte

// Jars keeps the jars.
type Jars struct {
	// CacheDir is where their folder is made.
	CacheDir string
	// Fetch puts them into a folder, which exists; see Maven.
	Fetch func(ctx context.Context, folder string) error
	// Recorded are the digests that they must have, in sha256sum's format;
	// nil stands for the ones of this repository.
	Recorded []byte
}

// Home is the folder with the jars in libs. They are fetched unless all of
// them are there as recorded, which is reported.
func (j Jars) Home(ctx context.Context) (home string, cached bool, err error) {
	want, err := parse(j.recorded())
	if err != nil {
		return "", false, fmt.Errorf("read jars.sha256: %w", err)
	}
	home = filepath.Join(j.CacheDir, "kafka-"+Version)
	if want.check(filepath.Join(home, libs)) == nil {
		return home, true, nil
	}
	fetched, err := j.fetch(ctx)
	if err != nil {
		return "", false, err
	}
	if err := want.check(filepath.Join(fetched, libs)); err != nil {
		return "", false, errors.Join(fmt.Errorf("the jars that were fetched: %w", err), os.RemoveAll(fetched))
	}
	// Another one may have fetched them meanwhile, and use them already.
	if want.check(filepath.Join(home, libs)) == nil {
		return home, false, os.RemoveAll(fetched)
	}
	return home, false, replace(home, fetched)
}

// Lock fetches the jars anew and returns what is to be recorded of them.
func (j Jars) Lock(ctx context.Context) ([]byte, error) {
	fetched, err := j.fetch(ctx)
	if err != nil {
		return nil, err
	}
	found, err := digestsOf(filepath.Join(fetched, libs))
	if err := errors.Join(err, os.RemoveAll(fetched)); err != nil {
		return nil, err
	}
	return found.format(), nil
}

func (j Jars) recorded() []byte {
	if j.Recorded != nil {
		return j.Recorded
	}
	return recorded
}

// fetch makes a new folder beside home, so that no interrupted download is
// ever taken for the jars.
func (j Jars) fetch(ctx context.Context) (folder string, err error) {
	if err := os.MkdirAll(j.CacheDir, 0o755); err != nil {
		return "", fmt.Errorf("make cache: %w", err)
	}
	folder, err = os.MkdirTemp(j.CacheDir, ".kafka-*")
	if err != nil {
		return "", fmt.Errorf("make cache: %w", err)
	}
	// The folder that MkdirTemp makes is its owner's alone.
	err = errors.Join(os.Chmod(folder, 0o755), os.Mkdir(filepath.Join(folder, libs), 0o755))
	if err == nil {
		err = j.Fetch(ctx, filepath.Join(folder, libs))
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("fetch Kafka %s: %w", Version, err), os.RemoveAll(folder))
	}
	return folder, nil
}

// replace puts a folder in another one's place.
func replace(home, fetched string) error {
	if err := errors.Join(os.RemoveAll(home), os.Rename(fetched, home)); err != nil {
		return fmt.Errorf("keep jars: %w", err)
	}
	return nil
}

//go:embed pom.xml
var pom []byte

// copyDependencies is the goal of Maven's dependency plugin, in a version of
// ours: its files go nowhere but to Maven's own cache.
const copyDependencies = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"

// Maven has the host's mvn copy the jars that pom.xml names, and those that
// they need, into the folder.
func Maven(ctx context.Context, folder string) error {
	project, err := os.MkdirTemp("", "kafka-pom-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(project)
	file := filepath.Join(project, "pom.xml")
	if err := os.WriteFile(file, pom, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "mvn", "--batch-mode", "--quiet", "--file", file,
		copyDependencies, "-DincludeScope=runtime", "-DoutputDirectory="+folder)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mvn: %w\n%s", err, strings.TrimSpace(string(output)))
	}
	return nil
}
