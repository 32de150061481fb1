// Package redistest runs a real redis-server for one test, which can crash it,
// hang it, and start it again with its data.
//
// It owns the process and its folder, but not the data in it. Only tests import it;
// it imports no target. A machine without redis-server fails the test: a strategy
// that was never run against Redis has not been tested.
package redistest
