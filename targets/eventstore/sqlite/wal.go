package sqlite

import (
	"fmt"
	"os"
)

const (
	// walLimit is what the WAL's file is cut down to when the WAL begins anew. It
	// does so by itself only at a moment when nobody reads from it, which may never
	// come while readers overlap: a file that is larger has waited for that in vain.
	walLimit = 64 << 20
	// walPatience is how long the writer waits for those who read from the WAL, in
	// milliseconds: many times what a part of a reply takes to read.
	walPatience = 250
)

// restartWAL has the WAL begin anew if it has grown too long: all of it is
// brought into the database, from which reads who comes from now on, and who came
// before is waited for. If one of them takes too long, it is tried again when the
// file has grown by as much again.
func (w *writer) restartWAL() error {
	info, err := os.Stat(w.path + "-wal")
	if err != nil {
		return fmt.Errorf("look at the WAL: %w", err)
	}
	if info.Size() <= w.walTolerated {
		return nil
	}
	w.walTolerated = info.Size() + walLimit
	if err := execute(w.conn, fmt.Sprintf("PRAGMA busy_timeout(%d)", walPatience)); err != nil {
		return err
	}
	busy := false
	_, err = row(w.restart, func(r *stmt) { busy = r.ColumnInt64(0) != 0 })
	if !busy && err == nil {
		w.walTolerated = walLimit
	}
	if again := execute(w.conn, fmt.Sprintf("PRAGMA busy_timeout(%d)", busyTimeout)); err == nil {
		err = again
	}
	return err
}
