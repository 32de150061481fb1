package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// result is the outcome of a mutant, kept in the user's cache so that a run which was
// interrupted goes on, and one with more tests tries only what lived.
type result struct {
	Code int
	// Tests are the hashes of the files of tests that it was tried with.
	Tests map[string]string
}

// holds says whether the mutant would have the same outcome with these tests. Further
// tests do not make one pass that failed, nor one end that timed out.
func (r result) holds(tests map[string]string) bool {
	if r.Code != killed && r.Code != timedOut {
		return maps.Equal(r.Tests, tests)
	}
	for name, hash := range r.Tests {
		if tests[name] != hash {
			return false
		}
	}
	return true
}

// kept is the place of a mutant's result, and the tests that it is tried with.
type kept struct {
	file  string
	tests map[string]string
}

// recall returns what is known of the mutant in a folder; ok is false if nothing is.
func (p tested) recall(folder string) (k kept, code int, ok bool, err error) {
	all, err := hashes(folder)
	if err != nil {
		return k, notViable, false, err
	}
	production := sha256.New()
	fmt.Fprintln(production, p.Folder, p.Needs)
	k.tests = map[string]string{}
	for _, f := range all {
		if f.isTest() {
			k.tests[f.path] = f.hash
		} else {
			fmt.Fprintln(production, f.path, f.hash)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return k, notViable, false, err
	}
	k.file = filepath.Join(cache, "loadtest-operator", "mutation", hex.EncodeToString(production.Sum(nil)))
	raw, err := os.ReadFile(k.file)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return k, notViable, false, err
	}
	var r result
	if err := json.Unmarshal(raw, &r); err != nil {
		return k, notViable, false, fmt.Errorf("%s: %w", k.file, err)
	}
	return k, r.Code, r.holds(k.tests), nil
}

// store keeps the result for a later run. The file is complete or not there.
func (k kept) store(code int) error {
	raw, err := json.Marshal(result{Code: code, Tests: k.tests})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(k.file), 0o755); err != nil {
		return err
	}
	half := k.file + ".part"
	if err := os.WriteFile(half, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(half, k.file)
}

// hashed is a file of a package: its path below it, and the hash of its content.
type hashed struct{ path, hash string }

func (f hashed) isTest() bool {
	return strings.HasSuffix(f.path, "_test.go") || strings.HasPrefix(f.path, "testdata/")
}

// hashes returns the files of a package, by their path, without those of packages below.
func hashes(folder string) (all []hashed, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && filepath.Dir(path) == folder && d.Name() != "testdata":
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		name, err := filepath.Rel(folder, path)
		all = append(all, hashed{path: filepath.ToSlash(name), hash: hex.EncodeToString(sum[:])})
		return err
	})
	return all, err
}

// hashOfNeeds is that of the packages in these folders, of the modules, and of Go itself.
func hashOfNeeds(folders []string) (string, error) {
	all := sha256.New()
	fmt.Fprintln(all, runtime.Version(), runtime.GOARCH)
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return "", err
		}
		_, _ = all.Write(content)
	}
	for _, folder := range folders {
		files, err := hashes(folder)
		if err != nil {
			return "", err
		}
		for _, f := range files {
			if !f.isTest() {
				fmt.Fprintln(all, filepath.Base(folder), f.path, f.hash)
			}
		}
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}
