package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/objectstore"
)

// fetch copies the archives that are in an object store into a temporary folder, of a namespace and of
// the names that begin so, and returns where they are then and what removes them. Anything else is
// where it is.
func (c *config) fetch(ctx context.Context, from, namespace, name string, most int) (at string, remove func(), err error) {
	remove = func() {}
	if !objectstore.IsURL(from) {
		return from, remove, nil
	}
	store, err := objectstore.Parse(from, os.Getenv)
	if err != nil {
		return "", remove, fmt.Errorf("--from %w", err)
	}
	folder, err := os.MkdirTemp("", "loadtest-archives-")
	if err != nil {
		return "", remove, err
	}
	remove = func() {
		if err := os.RemoveAll(folder); err != nil {
			c.warn(err.Error())
		}
	}
	at = folder
	if key := store.Archive(); key != "" {
		at = filepath.Join(folder, "run"+objectstore.ArchiveEnd)
		err = store.CopyOne(ctx, at, key, time.Time{})
	} else {
		var left int
		if left, err = store.Copy(ctx, folder, namespace, name, most, c.copying(from)); left > 0 && most == mostArchives {
			c.warn(leftOut(left))
		}
	}
	if err != nil {
		remove()
		return "", func() {}, fmt.Errorf("--from %w", err)
	}
	return at, remove, nil
}

// copying says, for each further tenth of many archives, how far their copy is.
func (c *config) copying(from string) func(done, of int) {
	const few, parts = 50, 10
	var mu sync.Mutex
	said := 0
	return func(done, of int) {
		mu.Lock()
		defer mu.Unlock()
		if part := done * parts / of; of > few && part > said && done < of {
			said = part
			c.warn(fmt.Sprintf("Copied %d of %d archives of %s.", done, of, from))
		}
	}
}
