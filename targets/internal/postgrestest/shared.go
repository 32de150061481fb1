package postgrestest

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"
)

// shared is the server of this binary.
var shared struct {
	once    sync.Once
	managed bool // Main will end it
	server  *Server
	err     error
}

// Main runs the tests, then ends the server that they shared, if any, and
// removes its data. It returns the exit code.
func Main(m *testing.M) int {
	shared.managed = true
	defer func() {
		if shared.server == nil {
			return
		}
		shared.server.stop(syscall.SIGQUIT)
		if err := shared.server.remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return m.Run()
}

// Shared returns the running server of this binary, which the first call
// starts.
func Shared(t testing.TB) *Server {
	t.Helper()
	if !shared.managed {
		t.Fatal("Postgres would never end: call os.Exit(postgrestest.Main(m)) in TestMain")
	}
	shared.once.Do(func() {
		if shared.server, shared.err = newServer(nil); shared.err == nil {
			shared.err = shared.server.start()
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}
