package sqlite

import (
	"fmt"
	"os"
)

const (
	// walLimit is the size to which the WAL's file is truncated at a restart of the
	// WAL. SQLite restarts it only without readers, which never occurs while
	// readers overlap: then the file grows beyond this limit.
	walLimit = 64 << 20
	// walBusyTimeout bounds the writer's wait for readers of the WAL, in
	// milliseconds: many times the time that a part of a reply takes to read.
	walBusyTimeout = 250
)

// restartWAL restarts a WAL that has grown too long: it copies all of it into the
// database, for new readers, and waits for the earlier readers. If one of them
// takes too long, the writer tries again when the file has grown by as much again.
func (w *writer) restartWAL() error {
	info, err := os.Stat(w.path + "-wal")
	if err != nil {
		return fmt.Errorf("look at the WAL: %w", err)
	}
	if info.Size() <= w.walTolerated {
		return nil
	}
	w.walTolerated = info.Size() + walLimit
	if err := execute(w.conn, fmt.Sprintf("PRAGMA busy_timeout(%d)", walBusyTimeout)); err != nil {
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
