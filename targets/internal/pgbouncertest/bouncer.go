package pgbouncertest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

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
	dir, err := postgrestest.Folder("pgbouncer")
	if err != nil {
		t.Fatalf("create a folder for PgBouncer: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the folder of PgBouncer: %v", err)
		}
	})
	host, port := postgrestest.Address()
	config := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(config, []byte(configuration(server, host, port, poolSize)), 0o644); err != nil {
		t.Fatalf("write the configuration of PgBouncer: %v", err)
	}
	process, err := postgrestest.RunProcess("process up", binary, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { process.End(syscall.SIGKILL) })
	return net.JoinHostPort(host, strconv.Itoa(port))
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

func configuration(server *postgrestest.Server, host string, port, poolSize int) string {
	return strings.Join([]string{
		"[databases]",
		fmt.Sprintf("* = host=%s port=%d user=%s", server.Host(), server.Port(), postgrestest.User),
		"[pgbouncer]",
		"listen_addr = " + host,
		fmt.Sprintf("listen_port = %d", port),
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
