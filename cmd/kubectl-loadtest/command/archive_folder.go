package command

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// mostArchives is how many archives of a folder are read: each has up to some MB. The newest are.
const mostArchives = 1000

// archiveEnd is how the names of archives end.
const archiveEnd = ".json.gz"

// archives are the files of a folder, NAMESPACE/NAME/UID.json.gz as the operator writes them, of the
// runs whose name begins so; an empty namespace: of all. left is how many older ones are left out.
func archives(folder, namespace, name string) (files []string, left int, err error) {
	if !isFolder(folder) {
		return nil, 0, fmt.Errorf("--from %s: is not a folder", folder)
	}
	namespaces := []string{namespace}
	if namespace == "" {
		if namespaces, err = folders(folder, ""); err != nil {
			return nil, 0, err
		}
	}
	type archive struct {
		path    string
		written time.Time
	}
	var found []archive
	for _, namespace := range namespaces {
		names, err := folders(filepath.Join(folder, namespace), name)
		if err != nil {
			return nil, 0, err
		}
		for _, name := range names {
			entries, err := os.ReadDir(filepath.Join(folder, namespace, name))
			if err != nil {
				return nil, 0, fmt.Errorf("--from: %w", err)
			}
			for _, entry := range entries {
				info, err := entry.Info()
				if err == nil && info.Mode().IsRegular() && strings.HasSuffix(entry.Name(), archiveEnd) {
					found = append(found, archive{filepath.Join(folder, namespace, name, entry.Name()), info.ModTime()})
				}
			}
		}
	}
	if len(found) == 0 {
		pattern := filepath.Join(cmp.Or(namespace, "*"), name+"*", "*"+archiveEnd)
		return nil, 0, fmt.Errorf("--from %s: contains no %s: give the folder that has one for each namespace, and the namespace by -n", folder, pattern)
	}
	slices.SortFunc(found, func(a, b archive) int {
		return cmp.Or(b.written.Compare(a.written), cmp.Compare(a.path, b.path))
	})
	left = max(0, len(found)-mostArchives)
	for _, a := range found[:len(found)-left] {
		files = append(files, a.path)
	}
	return files, left, nil
}

// folders are those in a folder whose names begin so; none if there is no such folder.
func folders(in, begin string) ([]string, error) {
	entries, err := os.ReadDir(in)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("--from: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && strings.HasPrefix(entry.Name(), begin) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// leftOut says that a folder has more archives than are read.
func leftOut(n int) string {
	return fmt.Sprintf("The newest %d archives are read; %d older ones are left out.", mostArchives, n)
}
