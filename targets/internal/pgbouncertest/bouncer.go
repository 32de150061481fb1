package pgbouncertest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/daemon"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
)

// Start runs a PgBouncer in front of the server until the test ends, and
// returns the host:port at which it has every database of the server. At most
// poolSize connections of it to one database are open.
func Start(t testing.TB, server *postgrestest.Server, poolSize int) string {
	t.Helper()
	binary, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := daemon.Folder("pgbouncer")
	if err != nil {
		t.Fatalf("create a folder for PgBouncer: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the folder of PgBouncer: %v", err)
		}
	})
	address := daemon.Address()
	config := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(config, []byte(configuration(t, server, address, poolSize)), 0o644); err != nil {
		t.Fatalf("write the configuration of PgBouncer: %v", err)
	}
	process, err := daemon.Start(daemon.Program{Path: binary, Args: []string{config}, Ready: "process up", Unprivileged: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { process.End(syscall.SIGKILL) })
	return address
}

func installed() (string, error) {
	// Debian keeps it among the programs of the administrator.
	const debian = "/usr/sbin/pgbouncer"
	if _, err := os.Stat(debian); err == nil {
		return debian, nil
	}
	binary, err := exec.LookPath("pgbouncer")
	if err != nil {
		return "", fmt.Errorf("this test needs pgbouncer in PATH (Debian package pgbouncer): %w", err)
	}
	return binary, nil
}

func configuration(t testing.TB, server *postgrestest.Server, address string, poolSize int) string {
	t.Helper()
	serverHost, serverPort := split(t, server.Addr())
	host, port := split(t, address)
	return strings.Join([]string{
		"[databases]",
		fmt.Sprintf("* = host=%s port=%s user=%s", serverHost, serverPort, postgrestest.User),
		"[pgbouncer]",
		"listen_addr = " + host,
		"listen_port = " + port,
		"unix_socket_dir =",
		"auth_type = any",
		"pool_mode = transaction",
		fmt.Sprintf("default_pool_size = %d", poolSize),
		"max_client_conn = 1000",
		// A server that comes back is asked again after a second, not 15.
		"server_login_retry = 1",
		// The folder of a test's database can go while it is open here.
		"server_idle_timeout = 1",
		"",
	}, "\n")
}

func split(t testing.TB, address string) (host, port string) {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}
