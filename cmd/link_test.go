package main

import (
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// link passes connections on to the API server until it is frozen: then nothing is
// answered and nothing is refused, as by a server that was stopped.
type link struct {
	address string
	server  string
	frozen  sync.RWMutex // held for writing while the link is frozen
}

func newLink(t *testing.T, host string) *link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	server, err := url.Parse(host)
	must.Succeed(t, err)
	l := &link{address: listener.Addr().String(), server: server.Host}
	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Go(func() { l.pass(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		connections.Wait()
	})
	return l
}

func (l *link) freeze() { l.frozen.Lock() }
func (l *link) thaw()   { l.frozen.Unlock() }

// pass carries both directions of a connection, until either side closes it.
func (l *link) pass(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", l.server)
	if err != nil {
		return
	}
	defer to.Close()
	var back sync.WaitGroup
	back.Go(func() { l.copy(from, to) })
	l.copy(to, from)
	back.Wait()
}

func (l *link) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		l.frozen.RLock()
		if err == nil {
			_, err = to.Write(buffer[:n])
		}
		l.frozen.RUnlock()
		if err != nil {
			return
		}
	}
}
