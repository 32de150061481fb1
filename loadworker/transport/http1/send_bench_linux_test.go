package http1

import (
	"bufio"
	"net"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// quick is a server that allocates nothing.
func quick(c *net.TCPConn, _ *bufio.Reader) {
	in, out := make([]byte, 4096), []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello")
	for {
		if _, err := c.Read(in); err != nil {
			return
		}
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

func BenchmarkSend(b *testing.B) {
	for _, kind := range []string{"conn", "loop"} {
		b.Run(kind, func(b *testing.B) {
			lis, err := net.Listen("tcp", "127.0.0.1:0")
			must.Succeed(b, err)
			defer func() { _ = lis.Close() }()
			go func() {
				if c, err := lis.Accept(); err == nil {
					quick(c.(*net.TCPConn), nil)
				}
			}()
			d := newTestClient(b, dial.Config{URL: "http://" + lis.Addr().String()})
			var s sender = connSender{d.newConn()}
			if kind == "loop" {
				s = newLoopSender(b, d)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.send(scripted.Get, scripted.Patience); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
