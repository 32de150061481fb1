package http2

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// A connection that is opened before it is used has exchanged settings: a server closes one
// that has sent none for some seconds.
func TestOpenExchangesSettings(t *testing.T) {
	acknowledged := make(chan bool, 1)
	url := scripted.Serve(t, scripted.Stay(func(c *net.TCPConn, r *bufio.Reader) {
		_, _ = r.Discard(len(http2.ClientPreface))
		framer := http2.NewFramer(c, r)
		_ = framer.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 7})
		for {
			f, err := framer.ReadFrame()
			if err != nil {
				acknowledged <- false
				return
			}
			if s, ok := f.(*http2.SettingsFrame); ok && s.IsAck() {
				acknowledged <- true
				return
			}
		}
	}))
	conn := NewClient(scripted.NewDialer(t, dial.Config{URL: url, HTTP2: true}), "agent", Shared{}).NewConn().(*Conn)
	defer conn.Close()
	must.Succeed(t, conn.Open(t.Context(), scripted.Far()))
	if !<-acknowledged {
		t.Error("the server's settings are not acknowledged")
	}
	if !conn.Alive() || conn.mux.Room() != 7 {
		t.Errorf("there is room for %d requests, want 7", conn.mux.Room())
	}
}

// What comes behind the end of a request ends the connection, and does not change the
// outcome.
func TestWhatComesBehindTheResponseEndsTheConnection(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(*server)
		want   measure.Outcome
	}{
		"a response": {func(s *server) { s.headers(1, true, ":status", "200") }, measure.Success},
		"a reset":    {func(s *server) { s.must(s.WriteRSTStream(1, http2.ErrCodeCancel)) }, measure.Reset},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer()
			s.must(s.WriteSettings())
			tt.answer(s)
			s.must(s.WriteData(1, true, []byte("x")))
			url := scripted.Serve(t, scripted.Stay(func(c *net.TCPConn, r *bufio.Reader) {
				_, _ = r.Discard(len(http2.ClientPreface))
				for framer := http2.NewFramer(nil, r); ; {
					if f, err := framer.ReadFrame(); err != nil || f.Header().Type == http2.FrameHeaders {
						break
					}
				}
				_, _ = c.Write(s.take())
			}))
			conn := NewClient(scripted.NewDialer(t, dial.Config{URL: url, HTTP2: true}), "agent", Shared{}).NewConn().(*Conn)
			got, err := conn.Do(t.Context(), scripted.Get, scripted.Far())
			if succeeded := err == nil && got.Status == 200; succeeded != (tt.want == measure.Success) || err != nil && failure.Classify(err) != tt.want || conn.IsOpen() {
				t.Errorf("%d, %v; open: %t", got.Status, err, conn.IsOpen())
			}
		})
	}
}

// A connection is not open if the server says nothing, or another thing, or closes it.
func TestOpenWithoutSettingsFails(t *testing.T) {
	for name, tt := range map[string]struct {
		script scripted.Script
		within time.Duration
		want   measure.Outcome
	}{
		"silent": {func(_ *net.TCPConn, r *bufio.Reader) { _, _ = io.Copy(io.Discard, r) }, 50 * time.Millisecond, measure.Timeout},
		"closes": {func(_ *net.TCPConn, r *bufio.Reader) { _, _ = r.Peek(len(http2.ClientPreface)) }, scripted.Patience, measure.Reset},
		"HTTP/1": {scripted.Stay(scripted.Answer("HTTP/1.1 400 Bad Request\r\n\r\n")), scripted.Patience, measure.BadResponse},
	} {
		t.Run(name, func(t *testing.T) {
			url := scripted.Serve(t, tt.script)
			conn := NewClient(scripted.NewDialer(t, dial.Config{URL: url, HTTP2: true}), "agent", Shared{}).NewConn().(*Conn)
			err := conn.Open(t.Context(), time.Now().Add(tt.within))
			if err == nil || failure.Classify(err) != tt.want || conn.IsOpen() {
				t.Errorf("%v is of class %v, want %v; open: %t", err, failure.Classify(err), tt.want, conn.IsOpen())
			}
		})
	}
}

// The end of the time to open connections ends the wait for settings: a server that is
// silent must not delay a step.
func TestOpenEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := scripted.Serve(t, scripted.Stay(func(_ *net.TCPConn, r *bufio.Reader) {
		_, _ = r.Discard(len(http2.ClientPreface))
		cancel()
	}))
	conn := NewClient(scripted.NewDialer(t, dial.Config{URL: url, HTTP2: true}), "agent", Shared{}).NewConn().(*Conn)
	if err := conn.Open(ctx, scripted.Far()); !errors.Is(err, failure.ErrInterrupted) || conn.IsOpen() {
		t.Errorf("%v, open: %t", err, conn.IsOpen())
	}
}

// If the socket has no room for a request, it has none for close_notify, and Close of TLS would
// block for seconds.
func TestFailureDoesNotWaitForCloseNotify(t *testing.T) {
	secured, waited := scripted.Crowded(t)
	client := NewClient(scripted.NewDialer(t, dial.Config{URL: "https://example.com", HTTP2: true}), "agent", Shared{})
	conn := client.NewConn().(*Conn)
	conn.adopt(secured, NewMux(client.origin), false)
	_, err := conn.Do(t.Context(), scripted.Get, time.Now().Add(100*time.Millisecond))
	if failure.Classify(err) != measure.Timeout || conn.IsOpen() || waited() != 1 {
		t.Errorf("%v, open %v, %d writes waited for room; want a timeout, and that of the request", err, conn.IsOpen(), waited())
	}
}
