package kafka

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// digests are SHA-256 sums in hexadecimal digits, by file name.
type digests map[string]string

// parse reads the format of sha256sum: a sum, two spaces, a name.
func parse(text []byte) (digests, error) {
	d := digests{}
	for line := range strings.Lines(string(text)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if raw, err := hex.DecodeString(sum); !ok || err != nil || len(raw) != sha256.Size || name != filepath.Base(name) {
			return nil, fmt.Errorf("line %q: want a SHA-256 sum, two spaces and a file name", line)
		}
		d[name] = sum
	}
	if len(d) == 0 {
		return nil, errors.New("no line: write it with images kafka lock")
	}
	return d, nil
}

func (d digests) format() []byte {
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(d)) {
		fmt.Fprintf(&text, "%s  %s\n", d[name], name)
	}
	return text.Bytes()
}

// check returns the differences between a folder's files and the digests.
func (d digests) check(folder string) error {
	found, err := digestsOf(folder)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(d)) {
		switch sum, ok := found[name]; {
		case !ok:
			return fmt.Errorf("%s is missing", name)
		case sum != d[name]:
			return fmt.Errorf("%s has the SHA-256 sum %s, want %s", name, sum, d[name])
		}
		delete(found, name)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		return fmt.Errorf("%s is not in jars.sha256", name)
	}
	return nil
}

func digestsOf(folder string) (digests, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	d := digests{}
	for _, entry := range entries {
		if d[entry.Name()], err = digestOf(filepath.Join(folder, entry.Name())); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func digestOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
