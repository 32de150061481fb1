package redis

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

// forgetful is a server that hangs up on every script instead of replying, as a
// network does that fails just then.
func forgetful(t *testing.T, scripts *atomic.Int64) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go forget(conn, scripts)
		}
	}()
	return ln.Addr().String()
}

// forget answers each command of the handshake with an error, which clients
// take for an old server. A command is read whole before it is answered or
// counted: what follows it is then the client's next one.
func forget(conn net.Conn, scripts *atomic.Int64) {
	defer conn.Close()
	for in := bufio.NewReader(conn); ; {
		name, err := command(in)
		if err != nil {
			return
		}
		if name == "evalsha" || name == "eval" {
			scripts.Add(1)
			// Closed with something unread, the connection would be reset, which
			// the client takes for a different failure than its end.
			_ = conn.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, in)
			return
		}
		if _, err := io.WriteString(conn, "-ERR unknown command\r\n"); err != nil {
			return
		}
	}
}

// command reads one command, an array of strings each with its length before it,
// and returns its name in lower case.
func command(in *bufio.Reader) (string, error) {
	var words int
	if _, err := fmt.Fscanf(in, "*%d\r\n", &words); err != nil {
		return "", err
	}
	var name string
	for i := range words {
		var length int
		if _, err := fmt.Fscanf(in, "$%d\r\n", &length); err != nil {
			return "", err
		}
		word := make([]byte, length+len("\r\n"))
		if _, err := io.ReadFull(in, word); err != nil {
			return "", err
		}
		if i == 0 {
			name = strings.ToLower(string(word[:length]))
		}
	}
	return name, nil
}

// A reply that is lost may be that of a grant. To ask again would take a second
// token for one request.
func TestALostReplyIsNotAskedForAgain(t *testing.T) {
	var scripts atomic.Int64
	store, err := Open(Options{Addr: forgetful(t, &scripts), PoolSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	limiter := newLimiter(t, store, Config{Strategy: ratelimiter.Lua, Contract: seed, Now: (&manual{}).Now})
	if got, err := limiter.Take(t.Context(), "client"); err == nil {
		t.Errorf("decision = %+v, want an error", got)
	}
	if got := scripts.Load(); got != 1 {
		t.Errorf("asked %d times, want once", got)
	}
}
