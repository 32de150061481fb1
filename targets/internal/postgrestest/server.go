package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/daemon"
)

// User is the superuser of every server, without a password.
const User = "shortener"

// fast are settings of a server that has little to do and keeps nothing over a
// crash of the machine. Settings of a test come after them, and win.
var fast = []string{
	"fsync=off", "full_page_writes=off", "synchronous_commit=off",
	"shared_buffers=16MB", "max_connections=200", "unix_socket_directories=",
}

// Server is one Postgres, running or not, and its data.
type Server struct {
	dir, data string
	bin       string
	addr      string // host:port
	settings  []string
	process   *daemon.Process // nil while it does not run
	databases atomic.Int64
}

// newServer makes the data of a server; it is not started yet.
func newServer(settings []string) (*Server, error) {
	bin, err := installed()
	if err != nil {
		return nil, err
	}
	dir, err := daemon.Folder("postgres")
	if err != nil {
		return nil, fmt.Errorf("create a folder for Postgres: %w", err)
	}
	s := &Server{dir: dir, data: filepath.Join(dir, "data"), bin: bin, addr: daemon.Address(), settings: append(fast[:len(fast):len(fast)], settings...)}
	attr, err := daemon.Unprivileged()
	if err != nil {
		return nil, errors.Join(err, s.remove())
	}
	initdb := exec.Command(filepath.Join(bin, "initdb"), "--pgdata", s.data, "--username", User,
		"--auth", "trust", "--no-sync", "--no-locale", "--encoding", "UTF8")
	initdb.Dir, initdb.SysProcAttr = "/", attr
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("make the data of Postgres: %w\n%s", err, out), s.remove())
	}
	return s, nil
}

// installed returns the folder of Postgres's programs.
func installed() (string, error) {
	// Debian keeps them out of PATH; of several versions the last is taken.
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err == nil && len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	initdb, err := exec.LookPath("initdb")
	if err != nil {
		return "", fmt.Errorf("this test needs Postgres in /usr/lib/postgresql or PATH (Debian package postgresql): %w", err)
	}
	return filepath.Dir(initdb), nil
}

// New runs a server of its own until the test ends. Settings are those of
// postgresql.conf, such as fsync=on.
func New(t testing.TB, settings ...string) *Server {
	t.Helper()
	s, err := newServer(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.stop(syscall.SIGQUIT)
		if err := s.remove(); err != nil {
			t.Error(err)
		}
	})
	s.Start(t)
	return s
}

// Addr is host:port for clients; it stays the same over crashes.
func (s *Server) Addr() string { return s.addr }

// Start starts a server that was crashed or stopped, with its data, and
// returns when it serves. It does nothing if the server is running.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) start() error {
	if s.process != nil {
		return nil
	}
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return fmt.Errorf("address of Postgres: %w", err)
	}
	args := []string{"-D", s.data, "-c", "listen_addresses=" + host, "-c", "port=" + port}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	// A line of level LOG, which log_min_messages must not silence.
	s.process, err = daemon.Start(daemon.Program{
		Path: filepath.Join(s.bin, "postgres"), Args: args, Ready: "database system is ready to accept connections",
		// Postgres passes SIGQUIT on to its children; they notice SIGKILL late.
		Unprivileged: true, DeathSignal: syscall.SIGQUIT,
	})
	return err
}

// Crash kills the server, as a loss of power would: connections break, and the next
// start recovers the commits from the log. The server is restarted by the end of
// the test.
func (s *Server) Crash(t testing.TB) {
	t.Helper()
	if s.process == nil {
		t.Fatal("crash Postgres: it is not running")
	}
	t.Cleanup(func() { s.Start(t) })
	s.stop(syscall.SIGQUIT)
}

func (s *Server) stop(signal syscall.Signal) {
	if s.process != nil {
		s.process.End(signal)
		s.process = nil
	}
}

func (s *Server) remove() error {
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("remove the folder of Postgres: %w", err)
	}
	return nil
}

// Database creates an empty database, which lives until the test ends, and
// returns its name.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", s.databases.Add(1))
	if err := s.exec(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatalf("create a database: %v", err)
	}
	t.Cleanup(func() {
		// The test's context has ended by now.
		if err := s.exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop a database: %v", err)
		}
	})
	return name
}

func (s *Server) exec(ctx context.Context, statement string) (err error) {
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, statement)
	return err
}

// URL is the address of a database.
func (s *Server) URL(database string) string {
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", User, s.Addr(), database)
}
