package release

import (
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// SumsFile has the SHA-256 of each file of a release, as sha256sum --check reads it.
const SumsFile = "SHA256SUMS"

// Folder is where the files of a release are written.
type Folder struct {
	path string
	sums map[string]string // by name, in hexadecimal
}

// NewFolder makes a folder. It must have nothing in it: files of another release would be taken for
// files of this one.
func NewFolder(path string) (*Folder, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, err
	}
	there, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	if len(there) > 0 {
		return nil, fmt.Errorf("%s has %s in it: remove the folder, or name another", path, there[0].Name())
	}
	return &Folder{path: path, sums: map[string]string{}}, nil
}

// Write writes a file.
func (f *Folder) Write(name string, content []byte) error {
	return f.Create(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Create has a function write a file.
func (f *Folder) Create(name string, write func(io.Writer) error) (err error) {
	if _, ok := f.sums[name]; ok {
		return fmt.Errorf("%s is written twice", name)
	}
	file, err := os.OpenFile(filepath.Join(f.path, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	sum := sha256.New()
	if err = write(io.MultiWriter(file, sum)); err != nil {
		_ = file.Close()
		return fmt.Errorf("write %s: %w", name, err)
	}
	f.sums[name] = fmt.Sprintf("%x", sum.Sum(nil))
	return file.Close()
}

// Sum is the SHA-256 of a file that was written, in hexadecimal; "": it was not.
func (f *Folder) Sum(name string) string { return f.sums[name] }

// WriteSums writes SumsFile, and its signature beside it if there is a key.
func (f *Folder) WriteSums(key *Key) error {
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(f.sums)) {
		fmt.Fprintf(&list, "%s  %s\n", f.sums[name], name)
	}
	if err := f.Write(SumsFile, []byte(list.String())); err != nil || key == nil {
		return err
	}
	signature, err := key.SignBlob([]byte(list.String()))
	if err != nil {
		return fmt.Errorf("sign %s: %w", SumsFile, err)
	}
	return f.Write(SumsFile+".sig", signature)
}
