package debimage

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/hack/images/recipe"
	"github.com/loadtest-dev/loadtest-operator/hack/images/rootfs"
)

// aptSources are the host's files that name Debian archives, in both formats.
func aptSources(aptDir string) ([]string, error) {
	var files []string
	for _, pattern := range []string{"sources.list", "sources.list.d/*.list", "sources.list.d/*.sources"} {
		found, err := filepath.Glob(filepath.Join(aptDir, pattern))
		if err != nil {
			return nil, fmt.Errorf("look for apt sources: %w", err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no apt sources in %s: the images of Debian packages are built on Debian", aptDir)
	}
	return files, nil
}

// cacheKey changes with everything that the extracted tree depends on, except
// for the versions of the packages: those of the first build stay until a
// fresh one is asked for. The rest of the recipe is applied after the cache.
func cacheKey(r recipe.Debian, sources []string) (string, error) {
	hash := sha256.New()
	if err := json.NewEncoder(hash).Encode([]any{runtime.GOARCH, slices.Sorted(slices.Values(r.Packages)), patterns(r)}); err != nil {
		return "", fmt.Errorf("hash recipe: %w", err)
	}
	for _, file := range sources {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read apt sources: %w", err)
		}
		fmt.Fprintf(hash, "%d\n%s", len(content), content)
	}
	return r.Packages[0] + "-" + hex.EncodeToString(hash.Sum(nil))[:16], nil
}

func load(file string) (rootfs.Tree, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := rootfs.Read(f, func(string) bool { return false })
	if err != nil {
		return nil, fmt.Errorf("cached packages %s (delete it, or build with --fresh): %w", file, err)
	}
	return t, nil
}

// store writes beside the file and renames, so that an interrupted build does
// not leave half a tree for the next one.
func store(file string, t rootfs.Tree) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("make cache: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".packages-*")
	if err != nil {
		return fmt.Errorf("make cache: %w", err)
	}
	if err := errors.Join(t.Write(tmp), tmp.Close()); err != nil {
		return errors.Join(fmt.Errorf("cache packages: %w", err), os.Remove(tmp.Name()))
	}
	return os.Rename(tmp.Name(), file)
}
