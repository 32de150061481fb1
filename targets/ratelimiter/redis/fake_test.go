package redis

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// fake is a server that sends a list of replies to scripts and closes the
// connection after the last, as a failing network does.
type fake struct {
	addr string

	mu      sync.Mutex
	replies []string
	asked   []string
}

func newFake(t *testing.T, replies ...string) *fake {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	t.Cleanup(func() { ln.Close() })
	f := &fake{addr: ln.Addr().String(), replies: replies}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go f.serve(conn)
		}
	}()
	return f
}

// serve answers each command of the handshake with an error, which clients take
// for an old server. A command is read whole before it is answered or noted: what
// follows it is then the client's next one.
func (f *fake) serve(conn net.Conn) {
	defer conn.Close()
	for in := bufio.NewReader(conn); ; {
		name, err := readCommand(in)
		if err != nil {
			return
		}
		reply := "-ERR unknown command\r\n"
		if name == "evalsha" || name == "eval" {
			reply = f.answer(name)
		}
		if reply == "" {
			// Closed with something unread, the connection would be reset, which
			// the client takes for a different failure than its end.
			_ = conn.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, in)
			return
		}
		if _, err := io.WriteString(conn, reply); err != nil {
			return
		}
	}
}

// answer notes the command, and returns its reply; none is to hang up.
func (f *fake) answer(name string) (reply string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, name)
	if len(f.replies) > 0 {
		reply, f.replies = f.replies[0], f.replies[1:]
	}
	return reply
}

// scripts are the commands that were read.
func (f *fake) scripts() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.asked...)
}

// readCommand reads one command, an array of strings each with its length before
// it, and returns its name in lower case.
func readCommand(in *bufio.Reader) (string, error) {
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
