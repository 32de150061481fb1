package http1

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// readStream feeds a response in pieces, and then the end of the connection if it is not whole.
func readStream(of transport.Stream, method string, pieces ...string) (calls []int, r transport.Response, err error) {
	var reader responseReader
	w := &scripted.Watcher{}
	request := &transport.Request{Method: method, Stream: &of, Watcher: w, Keep: 1000}
	reader.begin(request)
	reader.beginStream(request, time.Hour)
	for _, p := range append(pieces, "") {
		if reader.parser.done() {
			break
		}
		if err = reader.feed([]byte(p)); err == nil && len(w.Calls) > 0 && p == "" && !reader.parser.done() {
			err = fmt.Errorf("the response is not whole after the end of its connection")
		}
		reader.tell(0)
		if err != nil {
			break
		}
	}
	r = reader.parser.response()
	r.Streamed = reader.events.Streamed()
	return w.Calls, r, err
}

// streams are responses, and the events of each.
var streams = []struct {
	name   string
	text   string
	method string
	format transport.EventFormat
	until  string
	events int64
	ended  bool
	// reads says that it depends on the reads how many events there are.
	reads bool
}{
	{name: "in chunks", text: lines("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "a", "data: a\n\nd", "8", "ata: b\n\n", "0", "", ""), events: 2},
	{name: "a chunk for each byte", text: chunkedHeader + chunksOf("data: a\r\n\r\ndata: b\r\r"), events: 2},
	{name: "with a trailer", text: lines("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "9;x=y", "data: a\n\n", "0", "data: b", "", ""), events: 1},
	{name: "after an interim response", text: "HTTP/1.1 103 Early Hints\r\n\r\n" + lines("HTTP/1.1 200 OK", "Content-Length: 9", "", "data: a\n\n"), events: 1},
	{name: "of a length", text: lines("HTTP/1.1 200 OK", "Content-Length: 18", "", "data: a\n\ndata: b\n\n"), events: 2},
	{name: "until the connection closes", text: lines("HTTP/1.1 200 OK", "", "data: a\n\ndata: b\n\ndata: c"), events: 2},
	{name: "until the last event", text: lines("HTTP/1.1 200 OK", "Content-Length: 27", "", "data: a\n\ndata: b\n\ndata: c\n\n"), until: "b", events: 2, ended: true},
	{name: "lines of a length", text: lines("HTTP/1.1 200 OK", "Content-Length: 3", "", "a\nb"), format: transport.Lines, until: "b", events: 2, ended: true},
	{name: "lines in chunks", text: lines("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "3", "a\nb", "1", "c", "0", "", ""), format: transport.Lines, until: "bc", events: 2, ended: true},
	{name: "lines until the connection closes", text: lines("HTTP/1.1 200 OK", "", "a\n\nb\r"), format: transport.Lines, until: "b", events: 2, ended: true},
	{name: "chunks", text: chunkedHeader + chunksOf("abc"), format: transport.Chunks, events: 3},
	{name: "chunks until one of them", text: lines("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "1", "a", "2", "bc", "1", "d", "0", "", ""), format: transport.Chunks, until: "bc", events: 2, ended: true},
	{name: "reads of a length", text: lines("HTTP/1.1 200 OK", "Content-Length: 3", "", "abc"), format: transport.Chunks, events: 1, reads: true},
	{name: "reads until the connection closes", text: lines("HTTP/1.1 200 OK", "", "abc"), format: transport.Chunks, events: 1, reads: true},
	{name: "of no length", text: lines("HTTP/1.1 200 OK", "Content-Length: 0", "", "")},
	{name: "to HEAD", method: "HEAD", text: lines("HTTP/1.1 200 OK", "Content-Length: 9", "", "")},
	{name: "of status 204", text: lines("HTTP/1.1 204 No Content", "", "")},
	{name: "of status 304", text: lines("HTTP/1.1 304 Not Modified", "", "")},
	{name: "of an error", text: lines("HTTP/1.1 500 Internal Server Error", "Content-Length: 9", "", "data: a\n\n")},
	{name: "of a redirect", text: lines("HTTP/1.1 302 Found", "Content-Length: 9", "", "data: a\n\n")},
}

// chunksOf is a body in chunks of a byte.
func chunksOf(body string) (text string) {
	for _, c := range []byte(body) {
		text += "1\r\n" + string(c) + "\r\n"
	}
	return text + "0\r\n\r\n"
}

// In whatever pieces a response comes, its events are the same, and each is told of by the read that
// completes it.
func TestEventsOfResponses(t *testing.T) {
	for _, tt := range streams {
		t.Run(tt.name, func(t *testing.T) {
			of := transport.Stream{Events: tt.format, Until: tt.until}
			want := transport.Streamed{Events: tt.events, Ended: tt.ended}
			whole, alone, err := readStream(of, tt.method, tt.text)
			if err != nil || alone.Streamed != want || tt.events > 0 && len(whole) > 2 {
				t.Fatalf("at once: %+v in the reads %v, %v; want %+v", alone.Streamed, whole, err, want)
			}
			for i := 1; i < len(tt.text); i++ {
				calls, r, err := readStream(of, tt.method, tt.text[:i], tt.text[i:])
				if err != nil || r.Streamed != want && !tt.reads || len(calls) > 3 || string(r.Body) != string(alone.Body) {
					t.Fatalf("in pieces of %d and %d bytes: %+v in the reads %v, %v; want %+v", i, len(tt.text)-i, r.Streamed, calls, err, want)
				}
			}
			calls, r, err := readStream(of, tt.method, strings.Split(tt.text, "")...)
			if tt.reads {
				want.Events = r.Size
			}
			if err != nil || r.Streamed != want || int64(len(calls)) != want.Events {
				t.Errorf("byte by byte: %+v in the reads %v, %v; want %+v, each in a read of its own", r.Streamed, calls, err, want)
			}
		})
	}
}

// A response that breaks off has the events that came. Of lines, the one that has no end is none then.
func TestEventsOfResponsesThatBreakOff(t *testing.T) {
	for name, tt := range map[string]struct {
		text   string
		format transport.EventFormat
		want   int64
	}{
		"in a chunk":              {text: chunkedHeader + "ff\r\ndata: a\n\nda", want: 1},
		"in an event of chunks":   {text: chunkedHeader + "2\r\nda\r\n"},
		"in a length":             {text: lines("HTTP/1.1 200 OK", "Content-Length: 9", "", "a\nb"), format: transport.Lines, want: 1},
		"in a chunk that is one":  {text: chunkedHeader + "1\r\na\r\n2\r\nb", format: transport.Chunks, want: 1},
		"in the size of a chunk":  {text: chunkedHeader + "9\r\ndata: a\n\n\r\n9", want: 1},
		"by what is no chunk":     {text: chunkedHeader + "9\r\ndata: a\n\n\r\nx\r\n", want: 1},
		"before a header's end":   {text: "HTTP/1.1 200 OK\r\n"},
		"with a header, at once":  {text: chunkedHeader},
		"in the trailer":          {text: chunkedHeader + "9\r\ndata: a\n\n\r\n0\r\nX: ", want: 1},
		"in the end of a chunk":   {text: chunkedHeader + "9\r\ndata: a\n\n\r", want: 1},
		"after the last read":     {text: lines("HTTP/1.1 200 OK", "Content-Length: 9", "", "ab"), format: transport.Chunks, want: 1},
		"in a byte order mark":    {text: chunkedHeader + "2\r\n\xef\xbb"},
		"before a line is blank":  {text: chunkedHeader + "8\r\ndata: a\n\r\n"},
		"in a line that is empty": {text: chunkedHeader + "1\r\n\n\r\n", format: transport.Lines},
	} {
		t.Run(name, func(t *testing.T) {
			_, r, err := readStream(transport.Stream{Events: tt.format}, "GET", tt.text)
			if err == nil || r.Streamed != (transport.Streamed{Events: tt.want}) {
				t.Errorf("%+v, %v; want %d events and an error", r.Streamed, err, tt.want)
			}
		})
	}
}

// A server that never ends an event takes no memory here, and its events cost none.
func TestAStreamTakesNoMemory(t *testing.T) {
	var reader responseReader
	request := &transport.Request{Method: "GET", Stream: &transport.Stream{Until: "[DONE]"}, Watcher: &scripted.Watcher{Calls: make([]int, 0, 1000)}}
	reader.begin(request)
	reader.beginStream(request, time.Hour)
	feed := func(b []byte) {
		if err := reader.feed(b); err != nil {
			t.Fatal(err)
		}
		reader.tell(0)
	}
	feed([]byte("HTTP/1.1 200 OK\r\n\r\ndata: "))
	long, event := []byte(strings.Repeat("x", 1<<20)), []byte("data: a\n\n")
	if n := testing.AllocsPerRun(100, func() { feed(long) }); n != 0 || reader.held != nil {
		t.Errorf("%v allocations for a megabyte of an event", n)
	}
	feed([]byte("\n\n"))
	if n := testing.AllocsPerRun(100, func() { feed(event) }); n != 0 {
		t.Errorf("%v allocations for an event", n)
	}
	if n := testing.AllocsPerRun(100, func() { reader.begin(request); reader.beginStream(request, time.Hour) }); n != 0 {
		t.Errorf("%v allocations for a response", n)
	}
}

// A stream may have any number of chunks: they are no header, which has a bound.
func TestAStreamHasAnyNumberOfChunks(t *testing.T) {
	const chunks = transport.MaxHeader / 4
	text := chunkedHeader + strings.Repeat("1\r\n\n\r\n", chunks) + "00000001\r\nx\r\n0\r\n\r\n"
	_, r, err := readStream(transport.Stream{Events: transport.Chunks}, "GET", text)
	if err != nil || r.Streamed.Events != chunks+1 || r.Size != chunks+1 {
		t.Errorf("%+v of %d chunks, %v", r.Streamed, chunks+1, err)
	}
}

// FuzzStream: in whatever two pieces a response comes, its events are the same.
func FuzzStream(f *testing.F) {
	for _, tt := range streams {
		f.Add([]byte(tt.text), uint8(tt.format), tt.until, 10)
	}
	f.Fuzz(func(t *testing.T, text []byte, format uint8, until string, cut int) {
		of := transport.Stream{Events: transport.EventFormat(format % 4), Until: until}
		_, want, err := readStream(of, "GET", string(text))
		if cut = max(1, min(cut, len(text))); len(text) == 0 {
			return // of a read, no bytes are the end of the connection
		}
		calls, got, second := readStream(of, "GET", string(text[:cut]), string(text[cut:]))
		if (err == nil) != (second == nil) {
			t.Fatalf("%v at once, %v in two pieces", err, second)
		}
		if got.Streamed != want.Streamed && of.Events != transport.Chunks {
			t.Errorf("%+v in two pieces, %+v at once", got.Streamed, want.Streamed)
		}
		if sum := (&scripted.Watcher{Calls: calls}).Sum(); int64(sum) != got.Streamed.Events {
			t.Errorf("told of %d events of %d", sum, got.Streamed.Events)
		}
	})
}
