package archtest

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// misplaced are the ways in which a tree is not as PROJECT says that it is, which the
// kubebuilder command line and who knows it go by: programs are below cmd, each path is a
// folder of Go files that has the type of its kind, and each kind's controller is a package
// below controllers that is named after it.
func misplaced(repo fs.FS) ([]string, error) {
	var found []string
	atRoot, err := fs.Glob(repo, "*.go")
	if err != nil {
		return nil, err
	}
	for _, name := range atRoot {
		found = append(found, fmt.Sprintf("%s is at the root: programs are below cmd", name))
	}
	if _, err := fs.Stat(repo, "cmd/main.go"); err != nil {
		found = append(found, "there is no cmd/main.go")
	}
	project, err := fs.ReadFile(repo, "PROJECT")
	if err != nil {
		return nil, err
	}
	var kind string
	kinds := 0
	for line := range strings.Lines(string(project)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "repo":
			if value != ours {
				found = append(found, fmt.Sprintf("PROJECT is of module %s, want %s", value, ours))
			}
		case "kind":
			kind = value
			kinds++
			controller := path.Join("controllers", strings.ToLower(kind))
			if files, err := fs.Glob(repo, controller+"/*.go"); err != nil || len(files) == 0 {
				found = append(found, fmt.Sprintf("%s has no controller in %s", kind, controller))
			}
		case "path":
			declares, err := declared(repo, short(value), kind)
			if err != nil {
				return nil, err
			}
			if !declares {
				found = append(found, fmt.Sprintf("%s has no type %s", short(value), kind))
			}
		}
	}
	if kinds == 0 {
		return nil, errors.New("PROJECT has no kind")
	}
	return found, nil
}

// declared says whether a folder declares a struct of that name.
func declared(repo fs.FS, folder, name string) (bool, error) {
	files, err := fs.Glob(repo, folder+"/*.go")
	if err != nil {
		return false, err
	}
	for _, file := range files {
		content, err := fs.ReadFile(repo, file)
		if err != nil {
			return false, err
		}
		if strings.Contains(string(content), "\ntype "+name+" struct {") {
			return true, nil
		}
	}
	return false, nil
}
