package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"golang.org/x/net/http2"
)

// watch remembers why a connection of net/http ended. net/http tells of that in
// errors whose types it does not export; what the socket said is nearer to the
// truth.
type watch struct {
	mu  sync.Mutex
	err error // the first of the socket
}

// watchKey is that of a watch in the context of a dial.
type watchKey struct{}

func (w *watch) into(ctx context.Context) context.Context {
	return context.WithValue(ctx, watchKey{}, w)
}

// dialWatched is net/http's way to open a connection: the address is the
// dialer's own.
func (d *Dialer) dialWatched(ctx context.Context, _, _ string) (net.Conn, error) {
	w, _ := ctx.Value(watchKey{}).(*watch)
	return d.open(ctx, func(c net.Conn) net.Conn { return &watched{Conn: c, watch: w} })
}

// note keeps the first error. That the connection was closed here says nothing.
func (w *watch) note(err error) {
	if err == nil || errors.Is(err, net.ErrClosed) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

func (w *watch) cause() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// watched is a connection whose errors are noted.
type watched struct {
	net.Conn
	watch *watch
}

func (c *watched) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.watch.note(err)
	return n, err
}

func (c *watched) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.watch.note(err)
	return n, err
}

// explain is why a request failed that was on its way. What is left in the end
// is net/http's judgement that the bytes were no response.
func explain(err error, w *watch) error {
	if errors.Is(err, context.DeadlineExceeded) || isAlert(err) {
		return err
	}
	if cause := w.cause(); cause != nil {
		if errors.Is(cause, io.EOF) {
			cause = io.ErrUnexpectedEOF
		}
		return cause
	}
	var stream http2.StreamError
	if errors.As(err, &stream) && stream.Code != http2.ErrCodeProtocol {
		return fmt.Errorf("%w: the stream was reset: %v", io.ErrUnexpectedEOF, stream.Code)
	}
	// The type of this one is not exported either, and the socket stays open.
	if strings.Contains(err.Error(), "GOAWAY") {
		return fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
	}
	return err
}
