package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// hash is of the names and contents of the module's files, without tests, and
// of what else determines the build.
func hash(source fs.FS, determinants ...string) (string, error) {
	sum := sha256.New()
	for _, determinant := range determinants {
		fmt.Fprintf(sum, "%q\n", determinant)
	}
	err := fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !compiled(name) {
			return err
		}
		content, err := fs.ReadFile(source, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%q %d\n%s\n", name, len(content), content)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("hash the source: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

func compiled(name string) bool {
	base := path.Base(name)
	return base == "go.mod" || base == "go.sum" ||
		strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go")
}
