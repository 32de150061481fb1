package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
)

func TestLockIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := Acquire(t.Context(), path, func() { t.Error("the first had to wait") })
	must.Succeed(t, err)
	waits := make(chan struct{})
	acquired := make(chan error)
	go func() {
		release, err := Acquire(t.Context(), path, func() { close(waits) })
		if err == nil {
			release()
		}
		acquired <- err
	}()
	<-waits // it calls waits before it has the lock
	release()
	must.Report(t, "the second did not get the lock", <-acquired)
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock's file is left: %v", err)
	}
}

func TestWaitForTheLockEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := Acquire(t.Context(), path, func() {})
	must.Succeed(t, err)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Acquire(ctx, path, cancel); !errors.Is(err, errHeld) {
		t.Errorf("error is %v, want that another command is running", err)
	}
}

func TestLockOnARemovedFileIsNotHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	file, err := os.Create(path)
	must.Succeed(t, err)
	defer file.Close()
	if !sameFile(file, path) {
		t.Error("the file is not found to be the one of that name")
	}
	must.Succeed(t, os.Remove(path))
	if sameFile(file, path) {
		t.Error("a removed file is taken for the one of that name")
	}
	must.Succeed(t, os.WriteFile(path, nil, 0o600))
	if sameFile(file, path) {
		t.Error("a removed file is taken for a later one of that name")
	}
}
