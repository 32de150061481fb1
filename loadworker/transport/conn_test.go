package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

func newTestDialer(t testing.TB, c Config) *Dialer {
	t.Helper()
	c.Policy.AllowSpecial = true
	d, err := NewDialer(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var aGet = &Request{Method: "GET", Path: []byte("/")}

// aLot is a request for which no socket has room. A part that is missing or sent
// twice shows.
var aLot = sync.OnceValue(func() *Request {
	r := &Request{Method: "POST", Path: []byte("/"), Body: make([]byte, 32<<20)}
	for i := range r.Body {
		r.Body[i] = byte(i % 251)
	}
	return r
})

// far is a deadline that no test reaches.
func far() time.Time { return time.Now().Add(30 * time.Second) }

// scripted accepts connections and hands each to the next of the handlers.
func scripted(t *testing.T, handlers ...func(*net.TCPConn, *bufio.Reader)) string {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lis.Close() })
	go func() {
		for _, handle := range handlers {
			conn, err := lis.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				handle(conn.(*net.TCPConn), bufio.NewReader(conn))
			}()
		}
	}()
	return "http://" + lis.Addr().String()
}

// answers reads a request and writes a text, as often as there are texts.
func answers(texts ...string) func(*net.TCPConn, *bufio.Reader) {
	return func(c *net.TCPConn, r *bufio.Reader) {
		for _, text := range texts {
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
			_, _ = io.WriteString(c, text)
		}
	}
}

// stays keeps the connection open after that until the client closes it.
func stays(handle func(*net.TCPConn, *bufio.Reader)) func(*net.TCPConn, *bufio.Reader) {
	return func(c *net.TCPConn, r *bufio.Reader) {
		handle(c, r)
		_, _ = io.Copy(io.Discard, r)
	}
}

const empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

func do(t *testing.T, c *Conn) {
	t.Helper()
	if got, err := c.Do(context.Background(), aGet, far()); err != nil || got.Status != 200 {
		t.Errorf("Do = %d, %v; want 200", got.Status, err)
	}
}

func TestConnIsKept(t *testing.T) {
	d := newTestDialer(t, Config{URL: scripted(t, stays(answers(empty, empty, empty)))})
	c := d.NewConn()
	defer c.Close()
	for range 3 {
		do(t, c)
	}
	if n := d.Opened(); n != 1 {
		t.Errorf("%d connections opened, want 1", n)
	}
}

func TestConnIsOpenedAgain(t *testing.T) {
	tests := map[string]string{
		"after Connection: close": "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
		"after HTTP/1.0":          "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
		"after bytes too many":    empty + "HTTP/1.1 500 not asked for\r\n\r\n",
		"after 101":               "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			d := newTestDialer(t, Config{URL: scripted(t, stays(answers(text)), stays(answers(empty)))})
			c := d.NewConn()
			defer c.Close()
			if _, err := c.Do(context.Background(), aGet, far()); err != nil {
				t.Fatal(err)
			}
			if c.IsOpen() {
				t.Error("the connection is open, want closed")
			}
			do(t, c)
			if n := d.Opened(); n != 2 {
				t.Errorf("%d connections opened, want 2", n)
			}
		})
	}
}

// What fails on an open connection is an outcome, never sent again: the server
// may have acted on it.
func TestNothingIsSentTwice(t *testing.T) {
	var requests atomic.Int32
	hangUp := func(_ *net.TCPConn, r *bufio.Reader) {
		if _, err := http.ReadRequest(r); err == nil {
			requests.Add(1)
		}
	}
	d := newTestDialer(t, Config{URL: scripted(t, hangUp, hangUp, hangUp)})
	c := d.NewConn()
	_, err := c.Do(context.Background(), aGet, far())
	if got := Classify(err); got != measure.Reset {
		t.Errorf("Do = %v, of class %v, want reset", err, got)
	}
	if n := requests.Load(); n != 1 {
		t.Errorf("the server saw %d requests, want 1", n)
	}
}

func TestReadRefuses(t *testing.T) {
	tests := map[string]struct {
		answer string
		want   error
	}{
		"a header without end":          {answer: "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 1100), want: errHeaderTooLarge},
		"interim responses without end": {answer: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 50_000), want: errHeaderTooLarge},
		"a status below 100":            {answer: "HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n", want: errStatus},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newTestDialer(t, Config{URL: scripted(t, stays(answers(tt.answer)))}).NewConn()
			defer c.Close()
			_, err := c.Do(context.Background(), aGet, far())
			if !errors.Is(err, tt.want) || Classify(err) != measure.BadResponse {
				t.Errorf("Do = %v, want %v", err, tt.want)
			}
		})
	}
}

func TestLargeBodiesAreReadThrough(t *testing.T) {
	const size = 20 << 20
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, io.LimitReader(zeros{}, size))
	}))
	defer server.Close()
	d := newTestDialer(t, Config{URL: server.URL})
	c := d.NewConn()
	defer c.Close()
	do(t, c)
	do(t, c)
	if n := d.Opened(); n != 1 {
		t.Errorf("%d connections opened, want 1: the body was read to its end", n)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestInterrupt(t *testing.T) {
	reached := make(chan struct{})
	d := newTestDialer(t, Config{URL: scripted(t,
		func(_ *net.TCPConn, r *bufio.Reader) {
			_, _ = http.ReadRequest(r)
			close(reached)
			_, _ = io.Copy(io.Discard, r)
		},
		stays(answers(empty)),
	)})
	c := d.NewConn()
	defer c.Close()
	go func() {
		<-reached
		c.Interrupt()
	}()
	if _, err := c.Do(context.Background(), aGet, far()); !errors.Is(err, ErrCut) {
		t.Errorf("Do = %v, want ErrCut", err)
	}
	if _, err := c.Do(context.Background(), aGet, far()); !errors.Is(err, ErrCut) {
		t.Errorf("Do after that = %v, want ErrCut", err)
	}
}

func TestResume(t *testing.T) {
	c := newTestDialer(t, Config{URL: scripted(t, stays(answers(empty)))}).NewConn()
	defer c.Close()
	c.Interrupt()
	c.Resume()
	do(t, c)
}

func TestCutWhileDialling(t *testing.T) {
	asked := make(chan struct{})
	d := newTestDialer(t, Config{URL: "http://a.test", Lookup: func(ctx context.Context, _ string) ([]netip.Addr, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	c := d.NewConn()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-asked
		c.Interrupt()
		cancel()
	}()
	if _, err := c.Do(ctx, aGet, far()); !errors.Is(err, ErrCut) {
		t.Errorf("Do = %v, want ErrCut", err)
	}
}

func ExampleClassify() {
	fmt.Println(Classify(&Error{Phase: Reading, Err: io.ErrUnexpectedEOF}))
	// Output: reset
}
