package redistest

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// ask sends one command and returns the first line of the reply.
func ask(t *testing.T, conn net.Conn, command string) string {
	t.Helper()
	if _, err := io.WriteString(conn, command+"\r\n"); err != nil {
		t.Fatal(err)
	}
	reply, err := bufio.NewReader(conn).ReadString('\n')
	must.Succeed(t, err)
	return reply
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", addr)
	must.Succeed(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestStartAnswers(t *testing.T) {
	same.As(t, "reply", "+PONG\r\n", ask(t, dial(t, Start(t)), "PING"))
}

func TestCrash(t *testing.T) {
	server := New(t)
	if got := ask(t, dial(t, server.Addr()), "INCR n"); got != ":1\r\n" {
		t.Fatalf("reply = %q, want 1", got)
	}
	server.Crash(t)
	if conn, err := net.Dial("unix", server.Addr()); err == nil {
		conn.Close()
		t.Error("a crashed server accepts connections")
	}
	server.Start(t)
	server.Start(t) // is running, so that this does nothing
	same.As(t, "reply after a crash", ":2\r\n", ask(t, dial(t, server.Addr()), "INCR n"))
}

func TestHang(t *testing.T) {
	server := New(t)
	server.Hang(t)
	conn := dial(t, server.Addr())
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, conn.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %d bytes of a server that hangs, %v; want a timeout", n, err)
	}
	server.Resume(t)
	same.As(t, "reply", "+PONG\r\n", ask(t, dial(t, server.Addr()), "PING"))
}

func TestServersAreIsolated(t *testing.T) {
	if a, b := Start(t), Start(t); a == b {
		t.Errorf("two servers share the address %s", a)
	}
}
