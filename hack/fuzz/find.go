package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// target is a fuzz target of a package.
type target struct{ folder, name string }

var declaration = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)

// find finds the targets below a folder, but for those of modules within its module.
func find(root string) (all []target, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && isOther(path):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		names, err := declared(path)
		for _, name := range names {
			all = append(all, target{folder: filepath.Dir(path), name: name})
		}
		return err
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("there is no fuzz target below %s", root)
	}
	slices.SortFunc(all, func(a, b target) int {
		return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.name, b.name))
	})
	return all, err
}

// isOther says whether a folder is none of the module's packages.
func isOther(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	name := filepath.Base(folder)
	return err == nil || name == "testdata" || strings.HasPrefix(name, ".")
}

func declared(file string) (names []string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for _, match := range declaration.FindAllSubmatch(text, -1) {
		names = append(names, string(match[1]))
	}
	return names, nil
}
