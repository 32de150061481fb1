// Package postgrestest runs real Postgres servers for tests.
//
// It owns the processes and their files, but not the tables in them. A test binary
// shares one server, in which each test takes a database of its own (Shared,
// Database); a test of faults runs one that it may crash (New). Only tests import
// it; it imports no target. A machine without Postgres fails the test: a store that
// was never run against Postgres has not been tested.
package postgrestest
