package sqlite

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

// Synchronous says when a commit is on the disk.
type Synchronous string

const (
	// Full syncs the log's WAL in each commit: acknowledged events survive a loss
	// of power.
	Full Synchronous = "full"
	// Normal syncs at checkpoints only: acknowledged events survive the end of the
	// process, but a loss of power may lose the last ones.
	Normal Synchronous = "normal"
)

// ParseSynchronous returns the mode of that name.
func ParseSynchronous(name string) (Synchronous, error) {
	switch s := Synchronous(name); s {
	case Full, Normal:
		return s, nil
	}
	return "", fmt.Errorf("unknown mode %q: use full or normal", name)
}

// DefaultKeyWindow is how many further events an idempotency key outlives. When
// each event has one, keys take 40 to 80 MB of memory, and twice that on disk.
const DefaultKeyWindow = 1_000_000

// Options are how a log is stored.
type Options struct {
	Synchronous Synchronous
	// GroupCommit stores in one transaction what waits together; else each
	// request has a transaction of its own.
	GroupCommit bool
	// Readers is the number of connections that read.
	Readers int
	// KeyWindow is how many further events an idempotency key outlives; 0 is
	// DefaultKeyWindow.
	KeyWindow int64
	// Observe receives each commit; it may be nil.
	Observe func(eventstore.Commit)
}

func (o Options) withDefaults() (Options, error) {
	var errs []error
	if _, err := ParseSynchronous(string(o.Synchronous)); err != nil {
		errs = append(errs, fmt.Errorf("synchronous: %w", err))
	}
	if o.Readers < 1 || o.Readers > 64 {
		errs = append(errs, fmt.Errorf("readers is %d: use 1 to 64 connections", o.Readers))
	}
	if o.KeyWindow < 0 {
		errs = append(errs, fmt.Errorf("key window is %d: use 1 event or more", o.KeyWindow))
	}
	if o.KeyWindow == 0 {
		o.KeyWindow = DefaultKeyWindow
	}
	if o.Observe == nil {
		o.Observe = func(eventstore.Commit) {}
	}
	return o, errors.Join(errs...)
}

// writerCache and readerCache bound the pages that a connection keeps, in KiB.
const (
	writerCache = 16_000
	readerCache = 4_000
)

// PageMemory bounds the memory, outside of Go's heap, in which an open log keeps
// pages: the writer's, those of each reader, and Ping's.
func (o Options) PageMemory() int64 {
	return (writerCache + readerCache*(int64(o.Readers)+1)) << 10
}

// busyTimeout is how long a connection waits for another's lock, in milliseconds.
const busyTimeout = 5000

// writerPragmas are those of the connection that writes. A checkpoint copies
// what the WAL holds into the database within a commit: every 4,000 pages
// (16 MB) that costs little per commit, and the file stays small. Above 64 MB,
// as after readers that held it up, the WAL's file is cut (see restartWAL).
func (o Options) writerPragmas() []string {
	return []string{
		fmt.Sprintf("busy_timeout(%d)", busyTimeout), "journal_mode(wal)", "synchronous(" + string(o.Synchronous) + ")",
		"wal_autocheckpoint(4000)", fmt.Sprintf("journal_size_limit(%d)", walLimit), fmt.Sprintf("cache_size(-%d)", writerCache), "mmap_size(0)", "temp_store(memory)",
	}
}

// readerPragmas are those of each connection that reads.
func readerPragmas() []string {
	return []string{fmt.Sprintf("busy_timeout(%d)", busyTimeout), "query_only(1)", fmt.Sprintf("cache_size(-%d)", readerCache), "mmap_size(0)", "temp_store(memory)"}
}

// readerDSN is the address of the pool that reads. The driver sets the pragmas
// in it on each connection.
func readerDSN(path string) string {
	query := url.Values{"mode": {"ro"}, "_pragma": readerPragmas()}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query.Encode()}).String()
}
