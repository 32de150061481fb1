package sink

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path"
	"syscall"
)

// Volume is a folder.
type Volume struct{ Folder string }

var _ Store = Volume{}

// Location is the path within the volume: where it is mounted depends on the reader.
func (v Volume) Location(key string) string { return "volume:/" + key }

// Put writes a file beside the final one and renames it, so that a file with the final
// name is whole; it reads it back. One that is there already stays.
func (v Volume) Put(ctx context.Context, key string, c Content) error {
	root, err := os.OpenRoot(v.Folder) // out of which no symbolic link leads
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	folder := path.Dir(key)
	if has(root, key, c) == nil {
		return syncFolders(root, folder)
	}
	if err := root.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	partial := key + "." + rand.Text() + ".partial" // of this attempt alone
	err = write(ctx, root, partial, c)
	if err == nil {
		err = errors.Join(root.Rename(partial, key), syncFolders(root, folder))
	}
	if err != nil {
		_ = root.Remove(partial) // it may not be there
		return err
	}
	return has(root, key, c)
}

func write(ctx context.Context, root *os.Root, name string, c Content) (err error) {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := c.Write(ctx, file); err != nil {
		return err
	}
	return file.Sync()
}

// syncFolders has a folder and those above it survive a loss of power, with the names in
// them. Some file systems of networks know no such call: theirs survive without.
func syncFolders(root *os.Root, folder string) error {
	for {
		file, err := root.Open(folder)
		if err != nil {
			return err
		}
		err = file.Sync()
		_ = file.Close() // nothing was written to it
		if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		if folder == "." {
			return nil
		}
		folder = path.Dir(folder)
	}
}

// has is nil if a file has the content.
func has(root *os.Root, name string, c Content) error {
	file, err := root.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return c.is(file)
}
