package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
)

// nobodyID is the user that runs Postgres, which refuses to run as root.
const nobodyID = 65534

// redis starts a server that keeps nothing on the disk.
func (x *testEnv) redis(ctx context.Context) (*service, error) {
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("needs redis-server in PATH (Debian package redis-server): %w", err)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s, err := x.launch(process.Command{Path: binary, Core: generatorCore, Args: []string{
		"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--save", "", "--appendonly", "no", "--dir", x.work,
	}}, syscall.SIGTERM)
	if err != nil {
		return nil, err
	}
	s.url = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return s, awaitReady(ctx, "redis-server", func() error {
		conn, err := net.Dial("tcp", s.url)
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// postgres starts a server with its own settings, which are durable, and an
// empty database.
func (x *testEnv) postgres(ctx context.Context) (*service, error) {
	bin, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	data := x.path("postgres")
	user, err := x.unprivileged(data)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	initdb := append(user, filepath.Join(bin, "initdb"), "--pgdata", data, "--username", "shortener", "--auth", "trust", "--no-locale", "--encoding", "UTF8")
	if err := execute(ctx, initdb[0], initdb[1:]...); err != nil {
		return nil, err
	}
	// Room for the pools of two replicas.
	server := append(user, filepath.Join(bin, "postgres"), "-D", data, "-p", strconv.Itoa(port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=250")
	s, err := x.launch(process.Command{Path: server[0], Args: server[1:], Core: generatorCore}, syscall.SIGINT)
	if err != nil {
		return nil, err
	}
	s.url = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	client := []string{"-h", "127.0.0.1", "-p", strconv.Itoa(port), "-U", "shortener"}
	if err := awaitReady(ctx, "postgres", func() error { return execute(ctx, filepath.Join(bin, "pg_isready"), client...) }); err != nil {
		return nil, err
	}
	return s, execute(ctx, filepath.Join(bin, "createdb"), append(client, "shortener")...)
}

// postgresPrograms is their folder; Debian keeps it out of PATH.
func postgresPrograms() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", errors.New("needs Postgres in /usr/lib/postgresql (Debian package postgresql)")
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// unprivileged makes a folder for a program that refuses to be root, and returns
// what that is started by: nothing, if this is not root either.
func (x *testEnv) unprivileged(folder string) ([]string, error) {
	if err := os.Mkdir(folder, 0o700); err != nil || os.Geteuid() != 0 {
		return nil, err
	}
	if err := errors.Join(os.Chown(folder, nobodyID, nobodyID), os.Chmod(x.work, 0o711)); err != nil {
		return nil, err
	}
	path, err := exec.LookPath("setpriv")
	if err != nil {
		return nil, fmt.Errorf("run Postgres as another user than root: %w", err)
	}
	id := strconv.Itoa(nobodyID)
	// A change of the user forgets what is to happen at this process's end.
	command := []string{path, "--reuid", id, "--regid", id, "--clear-groups", "--pdeathsig", "QUIT"}
	return slices.Clip(command), nil
}

// execute runs a program to its end.
func execute(ctx context.Context, path string, args ...string) error {
	c := exec.CommandContext(ctx, path, args...)
	c.Dir = "/" // one that any user can be in
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(path), err, bytes.TrimSpace(out))
	}
	return nil
}
