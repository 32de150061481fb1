// Package sqlite stores a log of events in a file of SQLite, in WAL mode.
//
//	        Append, Move                       Events, Subscription
//	             │                                      │
//	      queue (bounded)                      pool of read-only
//	             │                               connections
//	writer: one goroutine, one connection               │
//	BEGIN · all that waits · COMMIT (one fsync)         │
//	             └────────────── file.db ───────────────┘
//
// The writer commits all waiting requests together (group commit): while one
// transaction is being written to the disk, the next requests gather, without a
// timer. Each request is answered after its commit. A request that is refused (a
// conflict, a key that is used) leaves the others of its group alone; if the
// transaction itself fails, each request is tried alone, so that only the one that
// cannot be stored fails.
//
// Readers do not wait for the writer, nor it for them, which is what WAL is
// for. Pragmas are part of each connection's address, so that they hold on each
// connection that the pool opens; the writer's one connection is opened with
// the same list.
//
// Memory that SQLite uses is outside of Go's heap and of GOMEMLIMIT: per open log
// at most 16 MB for the writer's pages and 4 MB for each reader's and Ping's. Go's
// heap holds the index of idempotency keys (see keys). Of the logs of many tenants
// only so many are open at a time (see Databases). Files are read by calls, not
// mapped, so that the kernel's cache may shrink under a memory limit without
// stalling readers.
//
// A log's file is of one process at a time, which the lock file beside it
// keeps while the log is open: the position of the last event is held in memory.
//
// It imports the domain, zombiezen.com/go/sqlite for the writer, and
// modernc.org/sqlite, the driver of database/sql that it stands on, for readers.
package sqlite
