package http2

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// client is a Mux and what became of its requests.
type client struct {
	*Mux
	t       testing.TB
	ends    map[*Stream][]error
	streams []*Stream
	last    []bool // of those that ended: whether they were the last of what was read
}

func newClient(t testing.TB) *client {
	c := &client{t: t, ends: map[*Stream][]error{}}
	c.Mux = NewMux(NewOrigin("http", "shop.test", "agent"))
	return c
}

func (c *client) ended(st *Stream, err error) {
	c.ends[st] = append(c.ends[st], err)
	c.last = append(c.last, c.Consumed())
}

func (c *client) came(st *Stream) { st.events.Tell(0) }

// send sends a request and returns its stream.
func (c *client) send(r *transport.Request) *Stream {
	st := &Stream{}
	c.streams = append(c.streams, st)
	c.Send(st, r, c)
	return st
}

func (c *client) get() *Stream { return c.send(&transport.Request{Method: "GET", Path: []byte("/")}) }

// sent takes what is to be written.
func (c *client) sent() []byte {
	all := bytes.Clone(c.Output())
	c.Wrote(true)
	return all
}

// outcome is that of a stream, "" while it is in flight.
func (c *client) outcome(st *Stream) string {
	switch ends := c.ends[st]; {
	case len(ends) > 1:
		c.t.Fatalf("%d outcomes: %v", len(ends), ends)
	case len(ends) == 0:
		return ""
	case ends[0] == nil:
		return fmt.Sprint(st.Response().Status)
	default:
		return failure.Classify(&failure.Error{Phase: failure.Reading, Err: ends[0]}).String()
	}
	return ""
}

// server makes frames by x/net's Framer.
type server struct {
	bytes.Buffer
	*xhttp2.Framer
	encoder *hpack.Encoder
	block   bytes.Buffer
}

func newServer() *server {
	s := &server{}
	s.Framer = xhttp2.NewFramer(&s.Buffer, nil)
	s.AllowIllegalWrites = true
	s.encoder = hpack.NewEncoder(&s.block)
	return s
}

// fields encodes header fields.
func (s *server) fields(fields ...string) []byte {
	s.block.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = s.encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}) // to memory
	}
	return bytes.Clone(s.block.Bytes())
}

func (s *server) headers(id uint32, end bool, fields ...string) {
	s.must(s.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: id, BlockFragment: s.fields(fields...), EndHeaders: true, EndStream: end}))
}

func (*server) must(err error) {
	if err != nil {
		panic(err)
	}
}

func (s *server) take() []byte {
	b := bytes.Clone(s.Bytes())
	s.Reset()
	return b
}

// frames are those of the client's bytes, as text.
func frames(t testing.TB, b []byte) (list []string) {
	t.Helper()
	b = bytes.TrimPrefix(b, []byte(xhttp2.ClientPreface))
	f := xhttp2.NewFramer(nil, bytes.NewReader(b))
	f.SetMaxReadFrameSize(1 << 20)
	for {
		frame, err := f.ReadFrame()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("after %q: %v", list, err)
		}
		text := fmt.Sprintf("%v %d", frame.Header().Type, frame.Header().StreamID)
		switch frame := frame.(type) {
		case *xhttp2.RSTStreamFrame:
			text += " " + frame.ErrCode.String()
		case *xhttp2.GoAwayFrame:
			text += " " + frame.ErrCode.String()
		case *xhttp2.WindowUpdateFrame:
			text += fmt.Sprint(" ", frame.Increment)
		case *xhttp2.DataFrame:
			text += fmt.Sprint(" ", len(frame.Data()), " ", frame.StreamEnded())
		case *xhttp2.PingFrame:
			text += fmt.Sprint(" ", frame.IsAck(), " ", string(frame.Data[:]))
		case *xhttp2.SettingsFrame:
			text += fmt.Sprint(" ", frame.IsAck())
		}
		list = append(list, text)
	}
}

// ready is a client with a server whose settings have come.
func ready(t testing.TB, settings ...xhttp2.Setting) (*client, *server) {
	c, s := newClient(t), newServer()
	s.must(s.WriteSettings(settings...))
	must.Succeed(t, c.Feed(s.take()))
	c.sent()
	return c, s
}

// feed feeds in pieces of so many bytes.
func (c *client) feed(b []byte, size int) error {
	for len(b) > 0 {
		n := min(size, len(b))
		if err := c.Feed(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

const everything = 1 << 20

func TestAResponseIsReadInAnyPieces(t *testing.T) {
	for size := range 40 {
		c, s := ready(t)
		st := c.send(&transport.Request{Method: "GET", Path: []byte("/a"), Keep: 7, KeepCookies: true, KeepFields: []string{"Location"}})
		s.headers(1, false, ":status", "103", "link", "x", "location", "/no")
		s.headers(1, false, ":status", "200", "content-length", "10", "set-cookie", "a=b", "set-cookie", "c=d", "location", "/a", "location", "/b")
		s.must(s.WriteDataPadded(1, false, []byte("abcde"), make([]byte, 9)))
		s.must(s.WriteData(1, false, []byte("fghij")))
		s.headers(1, true, "checksum", "1")
		s.must(s.WritePing(false, [8]byte{'1', '2', '3', '4', '5', '6', '7', '8'}))
		must.Succeed(t, c.feed(s.take(), size+1))
		r := st.Response()
		if c.outcome(st) != "200" || r.Size != 10 || string(r.Body) != "abcdefg" || string(r.SetCookies) != "a=b\nc=d" || string(r.Fields) != "Location:/a\nLocation:/b\n" {
			t.Errorf("pieces of %d: %s, %d bytes, %q, %q, %q", size+1, c.outcome(st), r.Size, r.Body, r.SetCookies, r.Fields)
		}
		if got := fmt.Sprint(frames(t, c.sent())); got != "[HEADERS 1 PING 0 true 12345678]" {
			t.Errorf("pieces of %d: sent %s", size+1, got)
		}
	}
}

// Of several responses that come with one read, only the end of the last is the last of it.
func TestTheLastOfWhatWasRead(t *testing.T) {
	for size, want := range map[int][]bool{1: {true, true, true}, everything: {false, false, true}} {
		for name, after := range map[string]bool{"nothing after them": false, "a PING after them": true} {
			c, s := ready(t)
			for range 3 {
				c.get()
			}
			s.headers(1, true, ":status", "200")
			s.headers(3, false, ":status", "200")
			s.must(s.WriteDataPadded(3, true, []byte("abc"), make([]byte, 9)))
			s.headers(5, false, ":status", "200")
			s.must(s.WriteData(5, true, []byte("abc")))
			want := slices.Clone(want)
			if after {
				s.must(s.WritePing(false, [8]byte{}))
				want[2] = size == 1
			}
			must.Succeed(t, c.feed(s.take(), size))
			if !slices.Equal(c.last, want) {
				t.Errorf("%s, pieces of %d: last %v, want %v", name, size, c.last, want)
			}
		}
	}
}

func TestResponses(t *testing.T) {
	const head = "HEAD"
	type test struct {
		method string
		answer func(*server)
		want   string
		rest   string // what the client sends after its request
	}
	tests := map[string]test{
		"a header alone":                 {answer: func(s *server) { s.headers(1, true, ":status", "200") }, want: "200"},
		"of HEAD, with a length":         {method: head, answer: func(s *server) { s.headers(1, true, ":status", "200", "content-length", "5") }, want: "200"},
		"of status 304, with a length":   {answer: func(s *server) { s.headers(1, true, ":status", "304", "content-length", "5") }, want: "304"},
		"of status 204":                  {answer: func(s *server) { s.headers(1, true, ":status", "204") }, want: "204"},
		"of status 204, empty DATA":      {answer: func(s *server) { s.headers(1, false, ":status", "204"); s.must(s.WriteData(1, true, nil)) }, want: "204"},
		"with a body":                    {answer: body("200", "12345", "content-length", "5"), want: "200"},
		"with a repeated length":         {answer: body("200", "12345", "content-length", "5", "content-length", "5"), want: "200"},
		"of a status above 599":          {answer: body("799", "12345"), want: "799"},
		"of HEAD, with a body":           {method: head, answer: body("200", "12345"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"of status 204, with a body":     {answer: body("204", "12345"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a body that is too short":       {answer: body("200", "12345", "content-length", "6"), want: "badResponse"},
		"a body that trailers cut short": {answer: cutByTrailers, want: "badResponse"},
		"a body that is too long, in two frames": {answer: func(s *server) {
			s.headers(1, false, ":status", "200", "content-length", "4")
			s.must(s.WriteData(1, false, []byte("123")))
			s.must(s.WriteData(1, true, []byte("45")))
		}, want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"no body, with a length":       {answer: func(s *server) { s.headers(1, true, ":status", "200", "content-length", "6") }, want: "badResponse"},
		"a body after an interim one":  {answer: body("100", "x"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"an interim one that is last":  {answer: func(s *server) { s.headers(1, true, ":status", "103") }, want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"no field":                     {answer: malformed(), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"an empty status":              {answer: malformed(":status", ""), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a status of two digits":       {answer: malformed(":status", "99"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a status below 100":           {answer: malformed(":status", "099"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a status of four digits":      {answer: malformed(":status", "0200"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a status with a sign":         {answer: malformed(":status", "+20"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"status 101":                   {answer: malformed(":status", "101"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"two statuses":                 {answer: malformed(":status", "200", ":status", "200"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a status after a field":       {answer: malformed("a", "b", ":status", "200"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a pseudo-header of requests":  {answer: malformed(":status", "200", ":path", "/"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"an unknown pseudo-header":     {answer: malformed(":status", "200", ":x", "/"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a name with a space":          {answer: malformed(":status", "200", "x ", "y"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a name with a colon":          {answer: malformed(":status", "200", "x:y", "z"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a name with a control":        {answer: malformed(":status", "200", "x\x7f", "y"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a name beyond ASCII":          {answer: malformed(":status", "200", "\xc3\xa4", "y"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a value beyond ASCII":         {answer: func(s *server) { s.headers(1, true, ":status", "200", "x", "\xc3\xa4") }, want: "200"},
		"an empty name":                {answer: malformed(":status", "200", "", "y"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a value with a line end":      {answer: malformed(":status", "200", "x", "y\r\nz"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a value with a null":          {answer: malformed(":status", "200", "x", "y\x00z"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a value that begins in space": {answer: malformed(":status", "200", "x", " y"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a value that ends in a tab":   {answer: malformed(":status", "200", "x", "y\t"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"Connection":                   {answer: malformed(":status", "200", "connection", "close"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"Transfer-Encoding":            {answer: malformed(":status", "200", "transfer-encoding", "chunked"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"Keep-Alive":                   {answer: malformed(":status", "200", "keep-alive", "timeout=5"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"Proxy-Connection":             {answer: malformed(":status", "200", "proxy-connection", "close"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"Upgrade":                      {answer: malformed(":status", "200", "upgrade", "h2c"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a negative length":            {answer: malformed(":status", "200", "content-length", "-1"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a length that is none":        {answer: malformed(":status", "200", "content-length", "two"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a length that is empty":       {answer: malformed(":status", "200", "content-length", ""), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a length beyond 2^63":         {answer: malformed(":status", "200", "content-length", "9223372036854775808"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"two lengths":                  {answer: malformed(":status", "200", "content-length", "1", "content-length", "2"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"trailers that go on":          {answer: func(s *server) { s.headers(1, false, ":status", "200"); s.headers(1, false, "a", "b") }, want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"trailers with a status":       {answer: func(s *server) { s.headers(1, false, ":status", "200"); s.headers(1, true, ":status", "200") }, want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"trailers in upper case":       {answer: func(s *server) { s.headers(1, false, ":status", "200"); s.headers(1, true, "A", "b") }, want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"interim ones without end":     {answer: interim, want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"reset in the body":            {answer: func(s *server) { body("200", "1")(s); s.Truncate(s.Len() - 10); s.must(s.WriteRSTStream(1, 77)) }, want: "reset"},
		"not processed, by GOAWAY":     {answer: func(s *server) { s.must(s.WriteGoAway(0, xhttp2.ErrCodeNo, nil)) }, want: "refused"},
		"processed, by GOAWAY":         {answer: func(s *server) { s.must(s.WriteGoAway(1, xhttp2.ErrCodeNo, nil)); s.headers(1, true, ":status", "200") }, want: "200"},
	}
	for _, f := range groundtruth.Frames() {
		switch f.Scope {
		case groundtruth.OfStream:
			tests[f.Name] = test{answer: sending(f), want: "badResponse", rest: fmt.Sprintf("[RST_STREAM 1 %v]", f.Code)}
		case groundtruth.NoError:
			tests[f.Name] = test{answer: sending(f), want: scripted.OutcomeOf(f).String()}
		}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, s := ready(t)
			if tt.method == "" {
				tt.method = "GET"
			}
			st := c.send(&transport.Request{Method: tt.method, Path: []byte("/")})
			c.sent()
			tt.answer(s)
			must.Succeed(t, c.Feed(s.take()))
			if got := c.outcome(st); got != tt.want {
				t.Errorf("%s (%v), want %s", got, c.ends[st], tt.want)
			}
			if got := fmt.Sprint(frames(t, c.sent())); got != "["+strings.Trim(tt.rest, "[]")+"]" {
				t.Errorf("sent %s, want %s", got, tt.rest)
			}
			if c.InFlight() != 0 {
				t.Error("it is still in flight")
			}
		})
	}
}

// body is a response with a status and a body of one frame.
func body(status, text string, fields ...string) func(*server) {
	return func(s *server) {
		s.headers(1, false, append([]string{":status", status}, fields...)...)
		s.must(s.WriteData(1, true, []byte(text)))
	}
}

func cutByTrailers(s *server) {
	s.headers(1, false, ":status", "200", "content-length", "6")
	s.must(s.WriteData(1, false, []byte("12345")))
	s.headers(1, true, "a", "b")
}

func malformed(fields ...string) func(*server) {
	return func(s *server) { s.headers(1, true, fields...) }
}

// interim is interim responses of more than 1 MiB.
func interim(s *server) {
	for range transport.MaxHeader>>10 + 1 {
		s.headers(1, false, ":status", "103", "a", strings.Repeat("b", 1<<10))
	}
}

// Two streams of a connection must not share the memory of the header fields that they keep.
func TestKeptFieldsAreOfOneStream(t *testing.T) {
	c, s := newClient(t), newServer()
	s.must(s.WriteSettings())
	must.Succeed(t, c.Feed(s.take()))
	follows := &transport.Request{Method: "GET", Path: []byte("/old"), KeepFields: []string{"Location"}}
	plain := &transport.Request{Method: "GET", Path: []byte("/")}
	var a, b Stream
	answer := func(id uint32, end bool, fields ...string) {
		s.headers(id, end, fields...)
		must.Succeed(t, c.Feed(s.take()))
	}
	c.Send(&a, follows, c) // 1
	answer(1, true, ":status", "302", "location", "/x")
	c.Send(&a, plain, c) // 3
	answer(3, true, ":status", "200")
	c.Send(&b, plain, c) // 5
	answer(5, true, ":status", "200")
	c.Send(&a, follows, c) // 7
	c.Send(&b, follows, c) // 9
	answer(7, false, ":status", "302", "location", "/a")
	answer(9, false, ":status", "302", "location", "/b")
	for st, want := range map[*Stream]string{&a: "/a", &b: "/b"} {
		if got, _ := transport.Field(st.Response().Fields, "Location"); string(got) != want {
			t.Errorf("Location %q of stream %d, want %q", got, st.id, want)
		}
	}
}
