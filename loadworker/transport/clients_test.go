// The race detector looks at the tests of this file, too: each client, beside its servers.

package transport_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/nethttp"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// overHTTP1 are the clients of HTTP/1.1.
var overHTTP1 = []func(*dial.Dialer) transport.Client{
	func(d *dial.Dialer) transport.Client { return http1.NewClient(d, "") },
	func(d *dial.Dialer) transport.Client { return nethttp.NewClient(d, "") },
	func(d *dial.Dialer) transport.Client { return throughPool{nethttp.NewPool(d, "", true)} },
}

// The same failure has the same class with all clients.
func TestClientsAgreeOnOutcomes(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	rudely := func(c *net.TCPConn, r *bufio.Reader) {
		_, _ = http.ReadRequest(r)
		_ = c.SetLinger(0)
	}
	tests := map[string]struct {
		serve func(*net.TCPConn, *bufio.Reader)
		want  measure.Outcome
	}{
		"a response":                {scripted.Stay(scripted.Answer(ok)), measure.Success},
		"one in chunks":             {scripted.Stay(scripted.Answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")), measure.Success},
		"one until the end":         {scripted.Answer("HTTP/1.1 200 OK\r\n\r\nok"), measure.Success},
		"an interim one first":      {scripted.Stay(scripted.Answer("HTTP/1.1 103 Early Hints\r\n\r\n" + ok)), measure.Success},
		"closed without a word":     {scripted.Answer(""), measure.Reset},
		"reset":                     {rudely, measure.Reset},
		"closed in the header":      {scripted.Answer("HTTP/1.1 200 OK\r\nContent-"), measure.Reset},
		"a body that is too short":  {scripted.Answer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nok"), measure.Reset},
		"a chunk that is too short": {scripted.Answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nok"), measure.Reset},
		"bytes that are no HTTP":    {scripted.Stay(scripted.Answer("SSH-2.0-OpenSSH_9.2\r\n\r\n")), measure.BadResponse},
		"a status that is none":     {scripted.Stay(scripted.Answer("HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n")), measure.BadResponse},
		"a header without end":      {scripted.Stay(scripted.Answer("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", transport.MaxHeader/6+1))), measure.BadResponse},
		"a length that is none":     {scripted.Stay(scripted.Answer("HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok")), measure.BadResponse},
		"chunks that are none":      {scripted.Stay(scripted.Answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")), measure.BadResponse},
		"silence":                   {scripted.Stay(scripted.Answer("")), measure.Timeout},
		"silence in the body":       {scripted.Stay(scripted.Answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok")), measure.Timeout},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, newClient := range overHTTP1 {
				client := newClient(scripted.NewDialer(t, dial.Config{URL: scripted.Serve(t, tt.serve)}))
				conn := client.NewConn()
				deadline := scripted.Far()
				if tt.want == measure.Timeout {
					deadline = time.Now().Add(50 * time.Millisecond)
				}
				got, err := conn.Do(context.Background(), scripted.Get, deadline)
				switch {
				case tt.want == measure.Success && (err != nil || got.Status != 200 || got.Size != 2):
					t.Errorf("%s: %+v, %v; want 200 with 2 bytes", client.Name(), got, err)
				case tt.want != measure.Success && (err == nil || failure.Classify(err) != tt.want):
					t.Errorf("%s: %v, of class %v, want %v", client.Name(), err, failure.Classify(err), tt.want)
				}
				conn.Close()
			}
		})
	}
}

// Of a header, what is asked for is returned, in order, and no more than there is room for.
func TestClientsAgreeOnTheFieldsThatAreKept(t *testing.T) {
	huge := strings.Repeat("x", transport.MaxFields)
	const first = "HTTP/1.1 103 Early Hints\r\nLocation: /early\r\n\r\n"
	serve := scripted.Stay(scripted.Answer(first + "HTTP/1.1 302 Found\r\nX-Csrf: " + huge + "\r\nlocation:  /a \r\n" +
		"X-CSRF: t1\r\nX-Csrf-Token: no\r\nLOCATION: /b\r\nContent-Length: 0\r\n\r\n"))
	dialer := func() *dial.Dialer { return scripted.NewDialer(t, dial.Config{URL: scripted.Serve(t, serve)}) }
	for _, client := range []transport.Client{http1.NewClient(dialer(), ""), nethttp.NewClient(dialer(), "")} {
		conn := client.NewConn()
		r := *scripted.Get
		r.KeepFields = []string{"Location", "X-Csrf"}
		got, err := conn.Do(context.Background(), &r, scripted.Far())
		location, _ := transport.Field(got.Fields, "Location")
		token, _ := transport.Field(got.Fields, "X-Csrf")
		_, other := transport.Field(got.Fields, "X-Csrf-Token")
		if err != nil || string(location) != "/a" || string(token) != "t1" || other || len(got.Fields) > transport.MaxFields {
			t.Errorf("%s: %v, Location %q, X-Csrf %q, another %t", client.Name(), err, location, token, other)
		}
		conn.Close()
	}
}
