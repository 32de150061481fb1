package nethttp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// saysHTTP2 answers the first request of a connection with that status alone.
func saysHTTP2(t *testing.T, status string) func(*net.TCPConn, *bufio.Reader) {
	var header bytes.Buffer
	must.Succeed(t, hpack.NewEncoder(&header).WriteField(hpack.HeaderField{Name: ":status", Value: status}))
	return func(c *net.TCPConn, r *bufio.Reader) {
		if _, err := io.CopyN(io.Discard, r, int64(len(http2.ClientPreface))); err != nil {
			return
		}
		framer := http2.NewFramer(c, r)
		_ = framer.WriteSettings()
		for {
			frame, err := framer.ReadFrame()
			if err != nil {
				return
			}
			if frame.Header().Type == http2.FrameHeaders {
				_ = framer.WriteHeaders(http2.HeadersFrameParam{
					StreamID: frame.Header().StreamID, BlockFragment: header.Bytes(), EndStream: true, EndHeaders: true,
				})
			}
		}
	}
}

// Responses are counted by status code; net/http accepts any number in HTTP/2.
func TestImpossibleStatusOfHTTP2IsRefused(t *testing.T) {
	for status, want := range map[string]error{"204": nil, "999": nil, "1000": transport.ErrStatus, "99": transport.ErrStatus, "-200": transport.ErrStatus} {
		t.Run(status, func(t *testing.T) {
			conn := newTestClient(t, dial.Config{URL: scripted.Serve(t, saysHTTP2(t, status)), HTTP2: true}).NewConn()
			defer conn.Close()
			got, err := conn.Do(context.Background(), scripted.Get, scripted.Far())
			if !errors.Is(err, want) || err != nil && failure.Classify(err) != measure.BadResponse {
				t.Errorf("Do = %+v, %v; want error %v, a bad response", got, err, want)
			}
		})
	}
}
