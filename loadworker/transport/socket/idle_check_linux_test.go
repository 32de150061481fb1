package socket

import (
	"crypto/tls"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// pair returns the two ends of a connection: of the client, and its socket, and of the
// server, which over TLS can also write records by themselves.
func pair(t *testing.T, secured bool) (client, socket, server net.Conn, records *scripted.Records) {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	defer func() { _ = lis.Close() }()
	if socket, err = net.Dial("tcp", lis.Addr().String()); err == nil {
		server, err = lis.Accept()
	}
	must.Succeed(t, err)
	client = socket
	if secured {
		near, far := scripted.Identity(t)
		shaken := make(chan struct{})
		go func() { server, records = scripted.ShakeHands(t, server, far); close(shaken) }()
		client = tls.Client(Under(socket), near)
		must.Succeed(t, client.(*tls.Conn).Handshake())
		<-shaken
	}
	t.Cleanup(func() { _, _ = client.Close(), server.Close() })
	return client, socket, server, records
}

// What the other side did to an idle connection decides whether it may be used. Session
// tickets, which a server sends after the handshake, are TLS's own.
func TestAliveIfNothingIsToBeRead(t *testing.T) {
	nothing := func(net.Conn) {}
	says := func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 408 Request Timeout\r\n\r\n") }
	leaves := func(c net.Conn) { _ = c.Close() }
	notifies := func(c net.Conn) { _ = c.(*tls.Conn).CloseWrite() }
	breaksOff := func(c net.Conn) { _ = c.(*tls.Conn).NetConn().Close() }
	for name, tt := range map[string]struct {
		secured bool
		then    func(net.Conn)
		message []byte // of TLS, that is sent instead
		event   int16  // that shows at the client
		want    bool
	}{
		"plain":                         {false, nothing, nil, unix.POLLOUT, true},
		"plain, bytes":                  {false, says, nil, unix.POLLIN, false},
		"plain, closed":                 {false, leaves, nil, unix.POLLRDHUP, false},
		"TLS, a ticket":                 {true, nil, scripted.Ticket(100), unix.POLLIN, true},
		"TLS, text":                     {true, says, nil, unix.POLLIN, false},
		"TLS, closed":                   {true, leaves, nil, unix.POLLRDHUP, false},
		"TLS, close_notify":             {true, notifies, nil, unix.POLLIN, false},
		"TLS, closed without notice":    {true, breaksOff, nil, unix.POLLRDHUP, false},
		"TLS, bytes that are no record": {true, func(c net.Conn) { says(c.(*tls.Conn).NetConn()) }, nil, unix.POLLIN, false},
	} {
		t.Run(name, func(t *testing.T) {
			client, socket, server, records := pair(t, tt.secured)
			if tt.message != nil {
				records.Write(scripted.HandshakeRecord, tt.message...)
			} else {
				tt.then(server)
			}
			scripted.AwaitEvent(t, socket, tt.event)
			if err := client.SetDeadline(time.Unix(1, 0)); err != nil { // one that passed is none of its business
				t.Fatal(err)
			}
			for turn := range 2 { // the first look takes nothing that the second needs
				if got := Alive(client); got != tt.want {
					t.Errorf("look %d: alive %v, want %v", turn+1, got, tt.want)
				}
			}
		})
	}
}

// A connection that was looked at, detached and attached again is the same as before.
func TestTLSStaysWhenItsSocketMoves(t *testing.T) {
	client, _, server, _ := pair(t, true)
	go func() { _, _ = io.Copy(server, server) }()
	for turn := range 3 {
		if !Alive(client) {
			t.Fatal("it is not alive")
		}
		fd, secured, err := Detach(client)
		if err != nil || secured == nil {
			t.Fatalf("%v, %v; want its TLS", secured, err)
		}
		again, err := Attach(fd, secured)
		if err != nil || again != client {
			t.Fatalf("%v, %v; want the same connection", again, err)
		}
		in := make([]byte, 4)
		if _, err := io.WriteString(client, "echo"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(client, in); err != nil || string(in) != "echo" {
			t.Fatalf("turn %d: %q, %v", turn, in, err)
		}
	}
}
