// Package pgbouncertest runs a real PgBouncer in front of a test's Postgres.
//
// It owns the process and its configuration: transaction mode, so that a
// client has a server connection for a transaction and no longer. Only tests
// import it; it imports no target. A machine without PgBouncer fails the test.
package pgbouncertest
