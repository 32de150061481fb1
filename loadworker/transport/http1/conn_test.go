package http1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
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

// Interrupt ends the request and later ones, until Resume.
func TestInterruptEndsRequestsUntilResume(t *testing.T) {
	reached := make(chan struct{})
	d := newTestClient(t, dial.Config{URL: scripted.Serve(t,
		func(_ *net.TCPConn, r *bufio.Reader) {
			_, _ = http.ReadRequest(r)
			close(reached)
			_, _ = io.Copy(io.Discard, r)
		},
		scripted.Stay(scripted.Answer(scripted.Empty)),
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
