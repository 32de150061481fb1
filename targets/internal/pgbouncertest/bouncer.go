package pgbouncertest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/daemon"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
)

// Start runs a PgBouncer in front of the server until the test ends, and
// returns the host:port at which it has every database of the server. At most
// poolSize connections of it to one database are open. Settings are those of
// pgbouncer.ini, such as "query_wait_timeout = 1".
func Start(t testing.TB, server *postgrestest.Server, poolSize int, settings ...string) string {
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
	if err := os.WriteFile(config, []byte(configuration(t, server, address, poolSize, settings)), 0o644); err != nil {
		t.Fatalf("write the configuration of PgBouncer: %v", err)
	}
	process, err := daemon.Start(daemon.Program{Path: binary, Args: []string{config}, Ready: "process up", Unprivileged: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { process.End(syscall.SIGKILL) })
	return address
}

// Set changes a setting of a PgBouncer that runs.
func Set(t testing.TB, address, setting, value string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), console(address))
	if err != nil {
		t.Fatalf("connect to the console of PgBouncer: %v", err)
	}
	_, err = conn.Exec(t.Context(), fmt.Sprintf("SET %s = '%s'", setting, value))
	if err := errors.Join(err, conn.Close(t.Context())); err != nil {
		t.Fatalf("set %s of PgBouncer: %v", setting, err)
	}
}

// console is the URL of what PgBouncer itself answers, which is no database.
func console(address string) string {
	return fmt.Sprintf("postgres://%s@%s/pgbouncer?sslmode=disable&default_query_exec_mode=simple_protocol", postgrestest.User, address)
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

func configuration(t testing.TB, server *postgrestest.Server, address string, poolSize int, settings []string) string {
	t.Helper()
	serverHost, serverPort := split(t, server.Addr())
	host, port := split(t, address)
	return strings.Join(append([]string{
		"[databases]",
		fmt.Sprintf("* = host=%s port=%s user=%s", serverHost, serverPort, postgrestest.User),
		"[pgbouncer]",
		"listen_addr = " + host,
		"listen_port = " + port,
		"unix_socket_dir =",
		"auth_type = any",
		"admin_users = " + postgrestest.User,
		"pool_mode = transaction",
		fmt.Sprintf("default_pool_size = %d", poolSize),
		"max_client_conn = 1000",
		// A server that comes back is asked again after a second, not 15.
		"server_login_retry = 1",
		// The folder of a test's database can go while it is open here.
		"server_idle_timeout = 1",
	}, append(settings, "")...), "\n") // of a setting that comes twice the last counts
}

func split(t testing.TB, address string) (host, port string) {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}
