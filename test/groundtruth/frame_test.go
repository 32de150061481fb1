package groundtruth

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// overHTTP2 runs a test over HTTP/2 with TLS and without, with a bare client.
func overHTTP2(t *testing.T, c Config, test func(t *testing.T, s *Server, conn *bareHTTP2)) {
	t.Helper()
	for _, protocol := range []Protocol{HTTP2, H2C} {
		t.Run(string(protocol), func(t *testing.T) {
			c := c
			c.Protocol = protocol
			s := start(t, c)
			test(t, s, dialHTTP2(t, s))
		})
	}
}

// bareHTTP2 is a bare connection of HTTP/2.
type bareHTTP2 struct {
	net.Conn
	*http2.Framer
	t *testing.T
}

func dialHTTP2(t *testing.T, s *Server) *bareHTTP2 {
	t.Helper()
	conn := net.Conn(dial(t, s.Address()))
	if s.protocol.isSecure() {
		conn = tls.Client(conn, &tls.Config{RootCAs: s.authorities(t), ServerName: "example.com", NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	}
	c := &bareHTTP2{conn, http2.NewFramer(conn, conn), t}
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	c.must(c.WriteSettings())
	return c
}

func (c *bareHTTP2) must(err error) {
	c.t.Helper()
	must.Succeed(c.t, err)
}

// get begins a stream.
func (c *bareHTTP2) get(stream uint32, path string) {
	c.t.Helper()
	block := fields(":method", "GET", ":scheme", "http", ":authority", "x", ":path", path)
	c.must(c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block, EndStream: true, EndHeaders: true}))
}

// answered reads until a stream has ended, and returns how many bytes its body has.
func (c *bareHTTP2) answered(stream uint32) (size int) {
	c.t.Helper()
	for {
		f, err := c.ReadFrame()
		c.must(err)
		if f.Header().StreamID != stream {
			continue
		}
		data, ok := f.(*http2.DataFrame)
		if ok {
			size += len(data.Data())
		}
		if _, reset := f.(*http2.RSTStreamFrame); reset || ok && data.StreamEnded() {
			return size
		}
	}
}

// A Frame is all that comes in the place of a response, and the streams after it are served.
func TestFrames(t *testing.T) {
	for _, frame := range Frames() {
		t.Run(frame.Name, func(t *testing.T) {
			routes := map[string]Route{"wrong": {Reply: Reply{Frame: frame.Name}}}
			overHTTP2(t, Config{Routes: routes, Record: 9}, func(t *testing.T, s *Server, c *bareHTTP2) {
				c.get(1, "/1")
				c.answered(1) // by then all has come that is of the connection
				for stream := uint32(3); stream <= 5; stream += 2 {
					c.get(stream, fmt.Sprint("/wrong/", stream))
					want := frame.Bytes(stream)
					got := make([]byte, len(want))
					if _, err := io.ReadFull(c.Conn, got); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("stream %d is answered (-want +got):\n%s", stream, diff)
					}
				}
				c.get(7, "/7")
				if n := c.answered(7); n != defaultBody {
					t.Errorf("the next response has %d bytes", n)
				}
				got := until(t, s, func(c Counters) bool { return c.Answered == 4 })
				if got.Requests != 4 || got.InFlight != 0 || got.Connections != 1 || got.Routes["wrong"] != 2 {
					t.Errorf("counters %+v", got)
				}
				for i, r := range s.Records() {
					if r.Number != int64(2*i+1) || r.Answered < r.Received {
						t.Errorf("record %d is %+v", i, r)
					}
				}
			})
		})
	}
}

// The classes of errors of RFC 9113 are all there, and all codes of RST_STREAM.
func TestFramesCoverTheErrors(t *testing.T) {
	covered := map[Scope][]http2.ErrCode{}
	for _, f := range Frames() {
		covered[f.Scope] = append(covered[f.Scope], f.Code)
	}
	for scope, want := range map[Scope][]http2.ErrCode{
		OfConnection: {http2.ErrCodeProtocol, http2.ErrCodeFlowControl, http2.ErrCodeStreamClosed, http2.ErrCodeFrameSize, http2.ErrCodeCompression, http2.ErrCodeEnhanceYourCalm},
		OfStream:     {http2.ErrCodeProtocol, http2.ErrCodeFlowControl},
		NoError:      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13},
	} {
		got := covered[scope]
		slices.Sort(got)
		same.As(t, fmt.Sprintf("codes of scope %d", scope), want, slices.Compact(got))
	}
}

// A Frame comes between those of other responses, however net/http cuts them in pieces.
func TestFramesDoNotTouchOtherStreams(t *testing.T) {
	const each, size = 200, 50_001 // more than all buffers hold
	routes := map[string]Route{"": {Reply: OK(size)}, "wrong": {Reply: Reply{Frame: "reset-cancel"}}}
	overHTTP2(t, Config{Routes: routes}, func(t *testing.T, s *Server, c *bareHTTP2) {
		c.must(c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: size}))
		c.must(c.WriteWindowUpdate(0, each*size))
		for i := range uint32(each) {
			c.get(4*i+1, "/")
			c.get(4*i+3, "/wrong")
		}
		until(t, s, func(c Counters) bool { return c.Requests == 2*each && c.Answered >= each })
		sizes := map[uint32]int{}
		for ended := 0; ended < 2*each; {
			f, err := c.ReadFrame()
			c.must(err)
			switch f := f.(type) {
			case *http2.DataFrame:
				if sizes[f.StreamID] += len(f.Data()); f.StreamEnded() {
					ended++
				}
			case *http2.RSTStreamFrame:
				if ended++; f.StreamID%4 != 3 || f.ErrCode != http2.ErrCodeCancel {
					t.Errorf("%v", f)
				}
			}
		}
		for stream, n := range sizes {
			if stream%4 != 1 || n != size {
				t.Errorf("stream %d has %d bytes", stream, n)
			}
		}
		got := until(t, s, func(c Counters) bool { return c.Answered == 2*each })
		if got.Requests != 2*each || got.Routes["wrong"] != each || got.InFlight != 0 || len(sizes) != each {
			t.Errorf("counters %+v, %d bodies", got, len(sizes))
		}
	})
}

// The script goes on: an event comes before what the route answers.
func TestResetsBesideAFrame(t *testing.T) {
	routes := map[string]Route{"": {Reply: Reply{Frame: "hpack"}}}
	overHTTP2(t, Config{Routes: routes, Script: []Event{{Kind: Resets, For: time.Hour}}}, func(t *testing.T, s *Server, c *bareHTTP2) {
		c.get(1, "/")
		if _, err := io.Copy(io.Discard, c.Conn); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the connection ends with %v, want a reset", err)
		}
		got := until(t, s, func(c Counters) bool { return c.Open == 0 && c.InFlight == 0 })
		if got.Requests != 1 || got.Answered != 0 {
			t.Errorf("counters %+v, want a request without an answer", got)
		}
	})
}

// A client that takes nothing of a Frame does not keep the server from ending, nor any
// goroutine of it.
func TestServerEndsWhileFramesAreWritten(t *testing.T) {
	const streams = 200 // of 180 kB: more than all buffers hold
	for _, protocol := range []Protocol{HTTP2, H2C} {
		t.Run(string(protocol), func(t *testing.T) {
			before := runtime.NumGoroutine()
			s := start(t, Config{Protocol: protocol, Routes: map[string]Route{"": {Reply: Reply{Frame: "continuation-flood"}}}})
			c := dialHTTP2(t, s)
			for i := range uint32(streams) {
				c.get(2*i+1, "/")
			}
			until(t, s, func(c Counters) bool { return c.Answered == streams })
			s.Close()
			until(t, s, func(c Counters) bool { return c.Open == 0 && runtime.NumGoroutine() <= before })
		})
	}
}
