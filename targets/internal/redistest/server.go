package redistest

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/daemon"
)

// Start runs a redis-server until the test ends and returns its address.
func Start(t testing.TB) string {
	t.Helper()
	s := newServer(t, "--appendonly", "no")
	s.Start(t)
	return s.Addr()
}

// Server is a redis-server that a test can crash, hang and start again.
//
// It listens on a socket in a folder of its own, where no other process can
// come first, as it can with a port that was found free a moment ago.
type Server struct {
	binary, dir string
	args        []string
	process     *daemon.Process // nil while it does not run
}

// New returns a running server that keeps its data over crashes of its process:
// each answered write is in its log by then, in the kernel's cache if not on the
// disk.
func New(t testing.TB) *Server {
	t.Helper()
	s := newServer(t, "--appendonly", "yes", "--appendfsync", "no")
	s.Start(t)
	return s
}

func newServer(t testing.TB, args ...string) *Server {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatalf("this test needs redis-server in PATH (Debian package redis-server): %v", err)
	}
	// Not t.TempDir: its name holds the test's, and a socket's path may have
	// no more than 107 bytes.
	dir, err := os.MkdirTemp("", "redis")
	if err != nil {
		t.Fatalf("create a folder for redis-server: %v", err)
	}
	s := &Server{binary: binary, dir: dir, args: args}
	t.Cleanup(func() {
		s.stop()
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the folder of redis-server: %v", err)
		}
	})
	return s
}

// Addr is the path of the server's socket; it stays the same over crashes.
func (s *Server) Addr() string { return filepath.Join(s.dir, "redis.sock") }

// Start starts the server with its data. It does nothing if it is running.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if s.process != nil {
		return
	}
	p, err := daemon.Start(daemon.Program{
		Path: s.binary,
		Args: append([]string{"--port", "0", "--unixsocket", s.Addr(), "--dir", s.dir,
			"--save", "", "--daemonize", "no"}, s.args...),
		// "Ready to accept connections" by Redis 7.2 and later, "The server is
		// now ready to accept connections at <socket>" by those before.
		Ready: "eady to accept connections",
	})
	if err != nil {
		t.Fatal(err)
	}
	s.process = p
}

// Crash kills the server, which gets no time for anything.
func (s *Server) Crash(t testing.TB) {
	t.Helper()
	if s.process == nil {
		t.Fatal("crash redis-server: it is not running")
	}
	s.stop()
}

// Hang holds the server: it accepts connections, and answers nothing until
// Resume.
func (s *Server) Hang(t testing.TB) { s.signal(t, syscall.SIGSTOP) }

// Resume lets a server go on that hangs.
func (s *Server) Resume(t testing.TB) { s.signal(t, syscall.SIGCONT) }

func (s *Server) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if s.process == nil {
		t.Fatalf("send %v to redis-server: it is not running", signal)
	}
	if err := s.process.Signal(signal); err != nil {
		t.Fatalf("send %v to redis-server: %v", signal, err)
	}
}

func (s *Server) stop() {
	if s.process != nil {
		s.process.End(syscall.SIGKILL)
		s.process = nil
	}
}
