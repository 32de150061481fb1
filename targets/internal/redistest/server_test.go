package redistest

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
)

func TestStartAnswers(t *testing.T) {
	conn, err := net.Dial("unix", Start(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		t.Fatal(err)
	}
	reply, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || reply != "+PONG\r\n" {
		t.Errorf("reply = %q, %v; want +PONG", reply, err)
	}
}

func TestStartsAreApart(t *testing.T) {
	if a, b := Start(t), Start(t); a == b {
		t.Errorf("two servers share the address %s", a)
	}
}

func TestAwaitReady(t *testing.T) {
	for _, line := range []string{
		"* Ready to accept connections unix",
		"* The server is now ready to accept connections at /run/redis.sock",
	} {
		if err := awaitReady(strings.NewReader("# Server started\n" + line + "\nmore\n")); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	err := awaitReady(strings.NewReader("*** FATAL CONFIG FILE ERROR ***\n"))
	if err == nil || !strings.Contains(err.Error(), "FATAL CONFIG FILE ERROR") {
		t.Errorf("error = %v, want what the server said", err)
	}
}
