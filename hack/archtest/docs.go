package archtest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
)

// introduction is how the comment of a package begins.
var introduction = regexp.MustCompile(`(?m)^// (Package|Command) \S`)

// undocumented are the folders of Go files in which doc.go is missing or does
// not introduce the package, with the reason.
func undocumented(repo fs.FS) ([]string, error) {
	folders := map[string]bool{}
	err := fs.WalkDir(repo, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (name == "bin" || d.Name() == "testdata" || d.Name()[0] == '.' && name != ".") {
			return fs.SkipDir
		}
		if !d.IsDir() && path.Ext(name) == ".go" {
			folders[path.Dir(name)] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var found []string
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		doc, err := fs.ReadFile(repo, path.Join(folder, "doc.go"))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			found = append(found, fmt.Sprintf("%s has no doc.go", folder))
		case err != nil:
			return nil, err
		case !introduction.Match(doc):
			found = append(found, fmt.Sprintf("%s/doc.go has no comment that begins with Package or Command", folder))
		}
	}
	return found, nil
}
