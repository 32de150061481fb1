package http1

import (
	"bufio"
	"io"
	"net"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// A server may answer a request whose rest it does not read (RFC 9112, 9.5): the answer counts, and the connection
// carries no other request.
func TestAnAnswerBeforeTheRequestIsWrittenCounts(t *testing.T) {
	for kind, way := range senders(t) {
		t.Run(kind, func(t *testing.T) {
			done := make(chan struct{})
			defer close(done)
			s := way.from(way.client(t, scripted.Serve(t, func(c *net.TCPConn, r *bufio.Reader) {
				_, _ = r.ReadString('\n')
				_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
				<-done
			})))
			must.Succeed(t, s.open())
			if got, err := s.send(scripted.Large(), 20*time.Second); err != nil || got.Status != 413 {
				t.Errorf("%+v, %v; want 413", got, err)
			}
			if s.isOpen() {
				t.Error("the connection is open still")
			}
		})
	}
}
