package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A pragma that is executed on a pool holds on one of its connections, for as
// long as that lives. Ours are asked of each, all open at the same time, and of
// one that was opened in the place of one that broke.
func TestPragmasAreSetOnEveryConnection(t *testing.T) {
	const readers = 3
	s := openStore(t, filepath.Join(t.TempDir(), "events.db"), Options{Synchronous: Full, GroupCommit: true, Readers: readers})
	want := map[string]string{
		"busy_timeout": "5000", "query_only": "1", "cache_size": "-4000", "mmap_size": "0", "temp_store": "2", "journal_mode": "wal",
	}
	for round := range 2 {
		var conns []*sql.Conn
		for range readers {
			conn, err := s.pool.Conn(t.Context())
			must.Succeed(t, err)
			conns = append(conns, conn)
		}
		for i, conn := range conns {
			got := map[string]string{}
			for name := range want {
				var value string
				must.Succeed(t, conn.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&value))
				got[name] = value
			}
			same.As(t, fmt.Sprintf("round %d, connection %d", round, i), want, got)
			// The pool drops a connection that says that it is broken.
			if err := conn.Raw(func(any) error { return driver.ErrBadConn }); !errors.Is(err, driver.ErrBadConn) {
				t.Fatal(err)
			}
			if err := conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) {
				t.Fatal(err)
			}
		}
	}
}

func TestPragmasOfTheWriter(t *testing.T) {
	for mode, number := range map[Synchronous]string{Full: "2", Normal: "1"} {
		s := openStore(t, filepath.Join(t.TempDir(), "events.db"), Options{Synchronous: mode, Readers: 1})
		must.Succeed(t, s.Close())
		w, err := newWriter(s.writer.path, s.writer.options)
		must.Succeed(t, err)
		want := map[string]string{
			"busy_timeout": "5000", "journal_mode": "wal", "synchronous": number, "wal_autocheckpoint": "4000",
			"journal_size_limit": "67108864", "cache_size": "-16000", "mmap_size": "0", "temp_store": "2",
		}
		got := map[string]string{}
		for name := range want {
			read, err := w.conn.Prepare("PRAGMA " + name)
			must.Succeed(t, err)
			if _, err := row(read, func(r *stmt) { got[name] = string(blob(r, 0)) }); err != nil {
				t.Fatal(err)
			}
		}
		same.As(t, string(mode), want, got)
		must.Succeed(t, w.close())
	}
}

// Readers make progress while the writer is in the middle of a transaction, and
// see nothing of it.
func TestReadersDoNotWaitForTheWriter(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "events.db"), Options{Synchronous: Full, GroupCommit: true, Readers: 2})
	appendAll(t, s, "before")
	inside, finish := make(chan struct{}), make(chan struct{})
	stored := make(chan error, 1)
	go func() {
		_, err := submit(context.Background(), s, 1, func(w *writer) (any, error) {
			err := adding("during")(w)
			close(inside)
			<-finish
			return nil, err
		})
		stored <- err
	}()
	<-inside
	checkTypes(t, s, "before")
	must.Report(t, "Ping", s.Ping(t.Context()))
	if got, err := s.Subscription(t.Context(), "a"); got != 0 || err != nil {
		t.Errorf("subscription = %d, %v", got, err)
	}
	select {
	case err := <-stored:
		t.Errorf("the writer ended (%v) before the readers", err)
	default:
	}
	close(finish)
	must.Succeed(t, <-stored)
	checkTypes(t, s, "before", "during")
}

// Nor does the writer wait for a reader that is in the middle of its rows.
func TestTheWriterDoesNotWaitForReaders(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "events.db"), Options{Synchronous: Full, GroupCommit: true, Readers: 1})
	appendAll(t, s, "a", "b", "c")
	seen := 0
	for _, err := range s.Events(t.Context(), 1, 100) {
		must.Succeed(t, err)
		seen++
		appendAll(t, s, "later")
	}
	if seen != 3 {
		t.Errorf("the reader got %d events, want the 3 that there were", seen)
	}
	checkTypes(t, s, "a", "b", "c", "later", "later", "later")
}

// A probe that waited for busy readers would restart a store for being read.
func TestPingDoesNotWaitForReaders(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "events.db"), Options{Synchronous: Full, Readers: 2})
	appendAll(t, s, "a", "b")
	for _, err := range s.Events(t.Context(), 1, 2) {
		must.Succeed(t, err)
		for _, err := range s.Events(t.Context(), 1, 2) {
			must.Succeed(t, err)
			if got := s.pool.Stats().InUse; got != 2 {
				t.Fatalf("%d readers are in use, want both", got)
			}
			must.Report(t, "Ping() while every reader is in use", s.Ping(t.Context()))
		}
	}
}

func TestLogIsLockedByOneProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	s := openStore(t, path, Options{Synchronous: Full, Readers: 1})
	if _, err := Open(path, Options{Synchronous: Full, Readers: 1}); err == nil || !strings.Contains(err.Error(), "another process has this log open") {
		t.Errorf("second Open() = %v", err)
	}
	must.Succeed(t, s.Close())
	openStore(t, path, Options{Synchronous: Full, Readers: 1})
}

// Close leaves one file with all events.
func TestCloseTruncatesWAL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	s := openStore(t, path, Options{Synchronous: Full, Readers: 1})
	appendAll(t, s, "a")
	must.Succeed(t, s.Close())
	for _, suffix := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(path + suffix); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there after Close (%v)", suffix, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	newer := filepath.Join(dir, "newer.db")
	db, err := sql.Open("sqlite", newer)
	must.Succeed(t, err)
	if _, err := db.Exec("PRAGMA user_version = 9"); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, db.Close())
	foreign := filepath.Join(dir, "foreign.db")
	must.Succeed(t, os.WriteFile(foreign, []byte(strings.Repeat("no database ", 100)), 0o600))
	good := Options{Synchronous: Full, Readers: 1}
	tests := map[string]struct {
		path    string
		options Options
		want    string
	}{
		"a folder that is not there": {filepath.Join(dir, "none", "a.db"), good, "lock the log: "},
		"a file of a later program":  {newer, good, "file has version 9 of the schema, and this program reads version 1"},
		"a file of another kind":     {foreign, good, "file is not a database"},
		"no mode":                    {filepath.Join(dir, "a.db"), Options{Readers: 1}, `synchronous: unknown mode "": use full or normal`},
		"no readers":                 {filepath.Join(dir, "a.db"), Options{Synchronous: Full}, "readers is 0: use 1 to 64 connections"},
		"a window of less than none": {filepath.Join(dir, "a.db"), Options{Synchronous: Full, Readers: 1, KeyWindow: -1}, "key window is -1: use 1 event or more"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Open(tc.path, tc.options)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("Open() = %v, want %q", err, tc.want)
			}
			// Nothing is left open: the next try says the same.
			if _, again := Open(tc.path, tc.options); again == nil || again.Error() != err.Error() {
				t.Errorf("Open() again = %v, want %v", again, err)
			}
		})
	}
}
