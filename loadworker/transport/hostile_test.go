// The race detector looks at the tests of this file, too: what a connection writes is read beside it.

package transport_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	http2client "github.com/loadtest-dev/loadtest-operator/loadworker/transport/http2"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/nethttp"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// hostileMemory is how much a connection may keep of what a hostile target sends, with what
// is garbage by the time that it is measured.
const hostileMemory = 8 << 20

// inUse is how much memory is in use.
func inUse() int64 {
	runtime.GC()
	runtime.GC() // what a sync.Pool has
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// again writes a text, and then another again and again until the connection ends.
func again(start, text string) scripted.Script {
	b := []byte(strings.Repeat(text, 1+(16<<10)/len(text)))
	return func(c *net.TCPConn, r *bufio.Reader) {
		if _, err := http.ReadRequest(r); err != nil {
			return
		}
		_, err := io.WriteString(c, start)
		for err == nil {
			_, err = c.Write(b)
		}
	}
}

// However a response goes on, its connection keeps little of it, and the request ends by
// its deadline.
func TestHostileResponsesTakeLittleMemory(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, script := range map[string]scripted.Script{
		"a line without an end":       again("HTTP/1.1 200 OK\r\nX: ", "y"),
		"fields without an end":       again("HTTP/1.1 200 OK\r\n", "Set-Cookie: a=b\r\n"),
		"interim responses":           again("", "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n"),
		"a chunk extension":           again(chunked+"1;", "x"),
		"chunk extensions":            again(chunked, "1;x\r\nx\r\n"),
		"chunks of a byte":            again(chunked, "1\r\nx\r\n"),
		"a chunk size without an end": again(chunked, "0"),
		"trailers":                    again(chunked+"0\r\n", "X: y\r\n"),
		"a body without an end":       again("HTTP/1.1 200 OK\r\n\r\n", "x"),
		"a body of 2^63 bytes":        again("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n", "x"),
		"no end of line but CR":       again("HTTP/1.1 200 OK", "\r"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, newClient := range overHTTP1[:2] {
				wantLittleMemory(t, newClient(scripted.NewDialer(t, dial.Config{URL: scripted.Serve(t, script)})), scripted.Get)
			}
		})
	}
}

// wantLittleMemory sends a request, which keeps a body of 1 MiB and the cookies, and looks
// what is in use before its connection is closed.
func wantLittleMemory(t *testing.T, client transport.Client, r *transport.Request) {
	t.Helper()
	conn := client.NewConn()
	defer conn.Close()
	request := *r
	request.Keep, request.KeepCookies = 1<<20, true
	before := inUse()
	got, err := conn.Do(context.Background(), &request, time.Now().Add(300*time.Millisecond))
	if err == nil {
		t.Errorf("%s: %d, %d bytes; want a failure", client.Name(), got.Status, got.Size)
	}
	kept := inUse() - before
	// What the server allocates between a collection and the reading is not kept.
	for again := 0; kept > hostileMemory && again < 20; again++ {
		kept = inUse() - before
	}
	if kept > hostileMemory {
		t.Errorf("%s: keeps %d KiB, want at most %d (%v)", client.Name(), kept>>10, hostileMemory>>10, err)
	}
	runtime.KeepAlive(conn)
}

// frames writes a first thing to the first stream, once its request has come, and then
// another again and again.
func frames(first, then func(*http2.Framer, uint32) error) scripted.Script {
	return func(c *net.TCPConn, r *bufio.Reader) {
		if _, err := io.CopyN(io.Discard, r, int64(len(http2.ClientPreface))); err != nil {
			return
		}
		out := bufio.NewWriterSize(c, 16<<10)
		framer := http2.NewFramer(out, r)
		framer.AllowIllegalWrites = true
		if framer.WriteSettings() != nil || out.Flush() != nil {
			return
		}
		stream := uint32(0)
		for stream == 0 {
			frame, err := framer.ReadFrame()
			if err != nil {
				return
			}
			if frame.Header().Type == http2.FrameHeaders {
				stream = frame.Header().StreamID
			}
		}
		go func() { _, _ = io.Copy(io.Discard, r) }()
		err := first(framer, stream)
		for end := time.Now().Add(time.Second); err == nil && time.Now().Before(end); {
			err = then(framer, stream)
		}
	}
}

func header(fields ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1], Sensitive: true}) // to memory
	}
	return b.Bytes()
}

// What HTTP/2 permits a target to send without end takes little memory, too.
func TestHostileFramesTakeLittleMemory(t *testing.T) {
	nothing := func(*http2.Framer, uint32) error { return nil }
	headers := func(end bool, fields ...string) func(*http2.Framer, uint32) error {
		return func(f *http2.Framer, stream uint32) error {
			return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: header(fields...), EndHeaders: end})
		}
	}
	ok := headers(true, ":status", "200")
	for name, tt := range map[string]struct {
		first, then func(*http2.Framer, uint32) error
	}{
		"settings": {nothing, func(f *http2.Framer, _ uint32) error {
			return f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 7})
		}},
		"pings":          {nothing, func(f *http2.Framer, _ uint32) error { return f.WritePing(false, [8]byte{}) }},
		"window updates": {nothing, func(f *http2.Framer, _ uint32) error { return f.WriteWindowUpdate(0, 1) }},
		"unknown frames": {nothing, func(f *http2.Framer, _ uint32) error { return f.WriteRawFrame(0x7f, 0, 0, make([]byte, 1<<10)) }},
		"goaways":        {nothing, func(f *http2.Framer, s uint32) error { return f.WriteGoAway(s, http2.ErrCodeNo, make([]byte, 1<<10)) }},
		"resets":         {nothing, func(f *http2.Framer, s uint32) error { return f.WriteRSTStream(s, http2.ErrCodeRefusedStream) }},
		"pushes": {nothing, func(f *http2.Framer, s uint32) error {
			return f.WritePushPromise(http2.PushPromiseParam{StreamID: s, PromiseID: 2, BlockFragment: header(":method", "GET"), EndHeaders: true})
		}},
		"interim responses": {nothing, headers(true, ":status", "103", "x", strings.Repeat("y", 1<<10))},
		"a large header":    {nothing, headers(true, append([]string{":status", "200"}, strings.Split(strings.Repeat("x,"+strings.Repeat("y", 99)+",", 3_000), ",")[:6000]...)...)},
		"continuations": {headers(false, ":status", "200"), func(f *http2.Framer, s uint32) error {
			return f.WriteContinuation(s, false, header("x", strings.Repeat("y", 1<<10)))
		}},
		"empty continuations": {headers(false, ":status", "200"), func(f *http2.Framer, s uint32) error { return f.WriteContinuation(s, false, nil) }},
		"empty data":          {ok, func(f *http2.Framer, s uint32) error { return f.WriteData(s, false, nil) }},
		"padding":             {ok, func(f *http2.Framer, s uint32) error { return f.WriteDataPadded(s, false, nil, make([]byte, 255)) }},
		"data":                {ok, func(f *http2.Framer, s uint32) error { return f.WriteData(s, false, make([]byte, 1<<10)) }},
		"trailers":            {ok, headers(true, "x", "y")},
	} {
		t.Run(name, func(t *testing.T) {
			for _, newClient := range []func(*dial.Dialer) transport.Client{
				func(d *dial.Dialer) transport.Client { return nethttp.NewClient(d, "") },
				func(d *dial.Dialer) transport.Client { return http2client.NewClient(d, "", http2client.Shared{}) },
			} {
				wantLittleMemory(t, newClient(scripted.NewDialer(t, dial.Config{URL: scripted.Serve(t, frames(tt.first, tt.then)), HTTP2: true})), scripted.Get)
			}
		})
	}
}

// However many replies a call has, or however long one is, its connection keeps little.
func TestHostileStreamsOfRepliesTakeLittleMemory(t *testing.T) {
	block := header(":status", "200", "content-type", "application/grpc", "grpc-encoding", "gzip")
	begin := func(f *http2.Framer, s uint32) error {
		return f.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: block, EndHeaders: true})
	}
	data := func(b []byte) func(*http2.Framer, uint32) error {
		return func(f *http2.Framer, s uint32) error { return f.WriteData(s, false, b) }
	}
	for name, tt := range map[string]struct {
		first, then func(*http2.Framer, uint32) error
	}{
		"empty replies":      {begin, data(make([]byte, 1000))},
		"replies":            {begin, data(append([]byte{0, 0, 0, 0x20, 0}, make([]byte, 8<<10)...))},
		"compressed replies": {begin, data([]byte{1, 0, 0, 0, 1, 'x'})},
		"prefixes in pieces": {begin, data([]byte{0})},
		"a reply without an end": {func(f *http2.Framer, s uint32) error {
			return errors.Join(begin(f, s), f.WriteData(s, false, []byte{0, 255, 255, 255, 255}))
		}, data(make([]byte, 8<<10))},
	} {
		t.Run(name, func(t *testing.T) {
			client := http2client.NewClient(scripted.NewDialer(t, dial.Config{URL: scripted.Serve(t, frames(tt.first, tt.then)), HTTP2: true}), "", http2client.Shared{})
			wantLittleMemory(t, client, &transport.Request{Method: "POST", Path: []byte("/a.B/C"), Call: true, Replies: transport.Replies{Stream: true, Gzip: true}})
		})
	}
}

// A body is not unpacked, and no redirect is followed.
func TestNothingIsUnpackedOrFollowed(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(make([]byte, 16<<20))
	must.Succeed(t, errors.Join(err, z.Close()))
	var requests atomic.Int64
	for name, config := range scripted.Protocols(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Location", "/again")
		w.WriteHeader(http.StatusFound)
		_, _ = w.Write(packed.Bytes())
	})) {
		for _, client := range []transport.Client{http1.NewClient(scripted.NewDialer(t, config), ""), nethttp.NewClient(scripted.NewDialer(t, config), "")} {
			if config.HTTP2 && client.Name() == "http1" {
				continue
			}
			requests.Store(0)
			conn := client.NewConn()
			request := *scripted.Get
			request.Keep = 1 << 20
			got, err := conn.Do(context.Background(), &request, scripted.Far())
			if n := requests.Load(); err != nil || got.Status != http.StatusFound || got.Size != int64(packed.Len()) || n != 1 {
				t.Errorf("%s, %s: %d, %d bytes, %d requests, %v; want the 302 of %d bytes that was sent, once", name, client.Name(), got.Status, got.Size, n, err, packed.Len())
			}
			conn.Close()
		}
	}
}
