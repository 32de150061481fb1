package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// setWALTolerated sets the size above which the WAL is restarted, and returns the one
// before.
func setWALTolerated(t *testing.T, s *Store, size int64) (before int64) {
	t.Helper()
	before, err := submit(t.Context(), s, 0, func(w *writer) (int64, error) {
		before := w.walTolerated
		w.walTolerated = size
		return before, nil
	})
	must.Succeed(t, err)
	return before
}

func walSize(t *testing.T, s *Store) int64 {
	t.Helper()
	info, err := os.Stat(s.writer.path + "-wal")
	must.Succeed(t, err)
	return info.Size()
}

// Each commit begins at the start of the file again, which stays as it is.
func TestOversizedWALIsRestarted(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "events.db"), Options{Synchronous: Normal, Readers: 1})
	setWALTolerated(t, s, 0)
	appendAll(t, s, "a")
	before := walSize(t, s)
	for range 50 {
		setWALTolerated(t, s, 0)
		appendAll(t, s, "b")
	}
	if after := walSize(t, s); after != before {
		t.Errorf("the WAL has grown from %d to %d bytes", before, after)
	}
	same.As(t, "bytes that are tolerated after that", walLimit, setWALTolerated(t, s, walLimit))
}

// A reader that takes long holds up one commit, and not each.
func TestWALRestartWaitsForReaders(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "events.db"), Options{Synchronous: Normal, Readers: 1})
	appendAll(t, s, "a", "b")
	for _, err := range s.Events(t.Context(), 1, 1) {
		must.Succeed(t, err)
		setWALTolerated(t, s, 0)
		appendAll(t, s, "c")
		if got := setWALTolerated(t, s, 0); got <= walLimit {
			t.Errorf("tolerates %d bytes, want %d more than there are", got, walLimit)
		}
	}
	appendAll(t, s, "d")
	checkTypes(t, s, "a", "b", "c", "d")
}
