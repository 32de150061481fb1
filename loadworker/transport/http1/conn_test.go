package http1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

func newTestClient(t testing.TB, c dial.Config) *Client {
	t.Helper()
	return NewClient(scripted.NewDialer(t, c), "")
}

func do(t *testing.T, c *Conn) {
	t.Helper()
	if got, err := c.Do(context.Background(), scripted.Get, scripted.Far()); err != nil || got.Status != 200 {
		t.Errorf("Do = %d, %v; want 200", got.Status, err)
	}
}

func TestConnIsKept(t *testing.T) {
	d := newTestClient(t, dial.Config{URL: scripted.Serve(t, scripted.Stay(scripted.Answer(scripted.Empty, scripted.Empty, scripted.Empty)))})
	c := d.newConn()
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
		"after bytes too many":    scripted.Empty + "HTTP/1.1 500 not asked for\r\n\r\n",
		"after 101":               "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			d := newTestClient(t, dial.Config{URL: scripted.Serve(t, scripted.Stay(scripted.Answer(text)), scripted.Stay(scripted.Answer(scripted.Empty)))})
			c := d.newConn()
			defer c.Close()
			if _, err := c.Do(context.Background(), scripted.Get, scripted.Far()); err != nil {
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

// A request that fails on an open connection is not sent again: the server may have
// acted on it.
func TestNothingIsSentTwice(t *testing.T) {
	var requests atomic.Int32
	hangUp := func(_ *net.TCPConn, r *bufio.Reader) {
		if _, err := http.ReadRequest(r); err == nil {
			requests.Add(1)
		}
	}
	d := newTestClient(t, dial.Config{URL: scripted.Serve(t, hangUp, hangUp, hangUp)})
	c := d.newConn()
	_, err := c.Do(context.Background(), scripted.Get, scripted.Far())
	if got := failure.Classify(err); got != measure.Reset {
		t.Errorf("Do = %v, of class %v, want reset", err, got)
	}
	if n := requests.Load(); n != 1 {
		t.Errorf("the server saw %d requests, want 1", n)
	}
}

func TestBadHeadersAreRefused(t *testing.T) {
	tests := map[string]struct {
		answer string
		want   error
	}{
		"a header without end":          {answer: "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 1100), want: errHeaderTooLarge},
		"interim responses without end": {answer: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 50_000), want: errHeaderTooLarge},
		"a status below 100":            {answer: "HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n", want: transport.ErrStatus},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newTestClient(t, dial.Config{URL: scripted.Serve(t, scripted.Stay(scripted.Answer(tt.answer)))}).newConn()
			defer c.Close()
			_, err := c.Do(context.Background(), scripted.Get, scripted.Far())
			if !errors.Is(err, tt.want) || failure.Classify(err) != measure.BadResponse {
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
	d := newTestClient(t, dial.Config{URL: server.URL})
	c := d.newConn()
	defer c.Close()
	do(t, c)
	do(t, c)
	if n := d.Opened(); n != 1 {
		t.Errorf("%d connections opened, want 1: the body was read to its end", n)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestInterruptEndsTheRequestAndLaterOnes(t *testing.T) {
	reached := make(chan struct{})
	d := newTestClient(t, dial.Config{URL: scripted.Serve(t,
		func(_ *net.TCPConn, r *bufio.Reader) {
			_, _ = http.ReadRequest(r)
			close(reached)
			_, _ = io.Copy(io.Discard, r)
		},
		scripted.Stay(scripted.Answer(scripted.Empty)),
	)})
	c := d.newConn()
	defer c.Close()
	go func() {
		<-reached
		c.Interrupt()
	}()
	if _, err := c.Do(context.Background(), scripted.Get, scripted.Far()); !errors.Is(err, failure.ErrInterrupted) {
		t.Errorf("Do = %v, want failure.ErrInterrupted", err)
	}
	if _, err := c.Do(context.Background(), scripted.Get, scripted.Far()); !errors.Is(err, failure.ErrInterrupted) {
		t.Errorf("Do after that = %v, want failure.ErrInterrupted", err)
	}
}

func TestResumePermitsRequestsAgain(t *testing.T) {
	c := newTestClient(t, dial.Config{URL: scripted.Serve(t, scripted.Stay(scripted.Answer(scripted.Empty)))}).newConn()
	defer c.Close()
	c.Interrupt()
	c.Resume()
	do(t, c)
}

func TestInterruptWhileDialling(t *testing.T) {
	asked := make(chan struct{})
	d := newTestClient(t, dial.Config{URL: "http://a.test", Lookup: func(ctx context.Context, _ string) ([]netip.Addr, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	c := d.newConn()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-asked
		c.Interrupt()
		cancel()
	}()
	if _, err := c.Do(ctx, scripted.Get, scripted.Far()); !errors.Is(err, failure.ErrInterrupted) {
		t.Errorf("Do = %v, want failure.ErrInterrupted", err)
	}
}
