package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "promise:", err)
		os.Exit(1)
	}
}

// run compares each definition with the one of the last tag of a release.
func run() error {
	top, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	// A candidate such as v1.0.0-rc.1 comes before its release.
	tags, err := git("-c", "versionsort.suffix=-", "tag", "--list", "v*", "--merged", "HEAD", "--sort", "-version:refname")
	if err != nil {
		return err
	}
	release, _, _ := strings.Cut(tags, "\n")
	changelog, err := os.ReadFile(filepath.Join(top, "CHANGELOG.md"))
	if err != nil {
		return fmt.Errorf("read the changelog: %w", err)
	}
	if release == "" && hasReleases(string(changelog)) {
		return errors.New("CHANGELOG.md has releases, but the repository has no tag of one: fetch the tags")
	}
	if release == "" {
		fmt.Println("promise: nothing has been released, so that nothing is promised")
		return nil
	}
	files, err := filepath.Glob(filepath.Join(top, "config/crd/bases/*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("find the definitions: %d files, %w", len(files), err)
	}
	var broken []string
	for _, path := range files {
		problems, err := compareWith(release, path, string(changelog))
		if err != nil {
			return err
		}
		broken = append(broken, problems...)
	}
	if len(broken) > 0 {
		return fmt.Errorf("what %s promised does not hold:\n%s", release, strings.Join(broken, "\n"))
	}
	fmt.Println("promise: what", release, "promised holds")
	return nil
}

// compareWith compares the definition of a file with that of a release, if the release had one.
func compareWith(release, path, changelog string) (problems []string, err error) {
	name := "config/crd/bases/" + filepath.Base(path)
	if listed, err := git("ls-tree", "--name-only", release, ":/"+name); err != nil || listed == "" {
		return nil, err
	}
	before, err := git("show", release+":"+name)
	if err != nil {
		return nil, err
	}
	now, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read a definition: %w", err)
	}
	problems, err = compare([]byte(before), now, unreleased(changelog))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return problems, nil
}

func git(args ...string) (string, error) {
	var out, wrong bytes.Buffer
	command := exec.Command("git", args...)
	command.Stdout, command.Stderr = &out, &wrong
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(wrong.String()))
	}
	return strings.TrimSpace(out.String()), nil
}
