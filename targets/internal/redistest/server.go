package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Start runs a redis-server until the test ends and returns its address. It
// listens on a socket in a folder of its own, where no other process can come
// first, as it can with a port that was found free a moment ago.
func Start(t testing.TB) string {
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
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the folder of redis-server: %v", err)
		}
	})
	return start(t, binary, dir)
}

func start(t testing.TB, binary, dir string) string {
	t.Helper()
	socket := filepath.Join(dir, "redis.sock")
	cmd := exec.Command(binary,
		"--port", "0", "--unixsocket", socket, "--dir", dir,
		"--save", "", "--appendonly", "no", "--daemonize", "no")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("pipe the output of redis-server: %v", err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", binary, err)
	}
	drained := make(chan struct{})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-drained
		_ = cmd.Wait() // reports the kill
	})
	ready := make(chan error, 1)
	go func() {
		defer close(drained)
		ready <- awaitReady(stdout)
		_, _ = io.Copy(io.Discard, stdout)
	}()
	if err := <-ready; err != nil {
		t.Fatalf("start %s: %v", binary, err)
	}
	return socket
}

// awaitReady reads the server's log until it says that it accepts connections:
// "Ready to accept connections" by Redis 7.2 and later, "The server is now
// ready to accept connections at <socket>" by those before.
func awaitReady(log io.Reader) error {
	var seen []string
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(strings.ToLower(lines.Text()), "ready to accept connections") {
			return nil
		}
		seen = append(seen, lines.Text())
	}
	return errors.Join(lines.Err(),
		fmt.Errorf("it ended before it was ready:\n%s", strings.Join(seen, "\n")))
}
