package archtest

import (
	"fmt"
	"io/fs"
)

// maxFile is the largest file that belongs into the repository, in bytes. What is larger was built
// or downloaded.
const maxFile = 1 << 20

// oversized returns the files of a tree that are too large, without those of .git and of bin, which
// git ignores.
func oversized(tree fs.FS) (found []string, err error) {
	err = fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == ".git" || path == "bin":
			return skip(entry)
		case entry.IsDir():
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Size() > maxFile {
			found = append(found, fmt.Sprintf("%s has %d bytes, at most %d are allowed: it was built or downloaded", path, info.Size(), maxFile))
		}
		return nil
	})
	return found, err
}

// skip leaves out a folder, or a file such as the .git of a worktree.
func skip(entry fs.DirEntry) error {
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}
