package http2

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// client is a Mux and what became of its requests.
type client struct {
	*Mux
	t       testing.TB
	ends    map[*Stream][]error
	streams []*Stream
}

func newClient(t testing.TB) *client {
	c := &client{t: t, ends: map[*Stream][]error{}}
	c.Mux = NewMux(NewOrigin("http", "shop.test", "agent"))
	return c
}

func (c *client) ended(st *Stream, err error) { c.ends[st] = append(c.ends[st], err) }

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
	if err := c.Feed(s.take()); err != nil {
		t.Fatal(err)
	}
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
		st := c.send(&transport.Request{Method: "GET", Path: []byte("/a"), Keep: 7, KeepCookies: true})
		s.headers(1, false, ":status", "103", "link", "x")
		s.headers(1, false, ":status", "200", "content-length", "10", "set-cookie", "a=b", "set-cookie", "c=d")
		s.must(s.WriteDataPadded(1, false, []byte("abcde"), make([]byte, 9)))
		s.must(s.WriteData(1, false, []byte("fghij")))
		s.headers(1, true, "checksum", "1")
		s.must(s.WritePing(false, [8]byte{'1', '2', '3', '4', '5', '6', '7', '8'}))
		if err := c.feed(s.take(), size+1); err != nil {
			t.Fatal(err)
		}
		r := st.Response()
		if c.outcome(st) != "200" || r.Size != 10 || string(r.Body) != "abcdefg" || string(r.SetCookies) != "a=b\nc=d" {
			t.Errorf("pieces of %d: %s, %d bytes, %q, %q", size+1, c.outcome(st), r.Size, r.Body, r.SetCookies)
		}
		if got := fmt.Sprint(frames(t, c.sent())); got != "[HEADERS 1 PING 0 true 12345678]" {
			t.Errorf("pieces of %d: sent %s", size+1, got)
		}
	}
}

func TestResponses(t *testing.T) {
	const head = "HEAD"
	for name, tt := range map[string]struct {
		method string
		answer func(*server)
		want   string
		rest   string // what the client sends after its request
	}{
		"a header alone":                {answer: func(s *server) { s.headers(1, true, ":status", "200") }, want: "200"},
		"of HEAD, with a length":        {method: head, answer: func(s *server) { s.headers(1, true, ":status", "200", "content-length", "5") }, want: "200"},
		"of status 304, with a length":  {answer: func(s *server) { s.headers(1, true, ":status", "304", "content-length", "5") }, want: "304"},
		"of status 204":                 {answer: func(s *server) { s.headers(1, true, ":status", "204") }, want: "204"},
		"of status 204, empty DATA":     {answer: func(s *server) { s.headers(1, false, ":status", "204"); s.must(s.WriteData(1, true, nil)) }, want: "204"},
		"with a body":                   {answer: body("200", "12345", "content-length", "5"), want: "200"},
		"with a repeated length":        {answer: body("200", "12345", "content-length", "5", "content-length", "5"), want: "200"},
		"of a status above 599":         {answer: body("799", "12345"), want: "799"},
		"of HEAD, with a body":          {method: head, answer: body("200", "12345"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"of status 204, with a body":    {answer: body("204", "12345"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a body that is too long":       {answer: body("200", "12345", "content-length", "4"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a body that is too short":      {answer: body("200", "12345", "content-length", "6"), want: "badResponse"},
		"no body, with a length":        {answer: func(s *server) { s.headers(1, true, ":status", "200", "content-length", "6") }, want: "badResponse"},
		"a body before the header":      {answer: func(s *server) { s.must(s.WriteData(1, false, []byte("x"))) }, want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a body after an interim one":   {answer: body("100", "x"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"an interim one that is last":   {answer: func(s *server) { s.headers(1, true, ":status", "103") }, want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"no status":                     {answer: malformed("a", "b"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"no field":                      {answer: malformed(), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"an empty status":               {answer: malformed(":status", ""), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a status of two digits":        {answer: malformed(":status", "99"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a status below 100":            {answer: malformed(":status", "099"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a status of four digits":       {answer: malformed(":status", "0200"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a status with a sign":          {answer: malformed(":status", "+20"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"status 101":                    {answer: malformed(":status", "101"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"two statuses":                  {answer: malformed(":status", "200", ":status", "200"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a status after a field":        {answer: malformed("a", "b", ":status", "200"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a pseudo-header of requests":   {answer: malformed(":status", "200", ":path", "/"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"an unknown pseudo-header":      {answer: malformed(":status", "200", ":x", "/"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a name in upper case":          {answer: malformed(":status", "200", "X", "y"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a name with a space":           {answer: malformed(":status", "200", "x ", "y"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"an empty name":                 {answer: malformed(":status", "200", "", "y"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a value with a line end":       {answer: malformed(":status", "200", "x", "y\r\nz"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a value with a null":           {answer: malformed(":status", "200", "x", "y\x00z"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a value that begins in space":  {answer: malformed(":status", "200", "x", " y"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a value that ends in a tab":    {answer: malformed(":status", "200", "x", "y\t"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"Connection":                    {answer: malformed(":status", "200", "connection", "close"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"Transfer-Encoding":             {answer: malformed(":status", "200", "transfer-encoding", "chunked"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a length that is none":         {answer: malformed(":status", "200", "content-length", "two"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a length that is empty":        {answer: malformed(":status", "200", "content-length", ""), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a length beyond 2^63":          {answer: malformed(":status", "200", "content-length", "9223372036854775808"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"two lengths":                   {answer: malformed(":status", "200", "content-length", "1", "content-length", "2"), want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"trailers that go on":           {answer: func(s *server) { s.headers(1, false, ":status", "200"); s.headers(1, false, "a", "b") }, want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"trailers with a status":        {answer: func(s *server) { s.headers(1, false, ":status", "200"); s.headers(1, true, ":status", "200") }, want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"trailers in upper case":        {answer: func(s *server) { s.headers(1, false, ":status", "200"); s.headers(1, true, "A", "b") }, want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"interim ones without end":      {answer: interim, want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"refused":                       {answer: func(s *server) { s.must(s.WriteRSTStream(1, xhttp2.ErrCodeRefusedStream)) }, want: "refused"},
		"reset":                         {answer: func(s *server) { s.must(s.WriteRSTStream(1, xhttp2.ErrCodeInternal)) }, want: "reset"},
		"reset without an error":        {answer: func(s *server) { s.must(s.WriteRSTStream(1, xhttp2.ErrCodeNo)) }, want: "reset"},
		"reset in the body":             {answer: func(s *server) { body("200", "1")(s); s.Truncate(s.Len() - 10); s.must(s.WriteRSTStream(1, 77)) }, want: "reset"},
		"a window that is not extended": {answer: func(s *server) { s.must(s.WriteWindowUpdate(1, 0)) }, want: "badResponse", rest: "[RST_STREAM 1 PROTOCOL_ERROR]"},
		"a window that is too wide":     {answer: func(s *server) { s.must(s.WriteWindowUpdate(1, maxWindow)) }, want: "badResponse", rest: "[RST_STREAM 1 FLOW_CONTROL_ERROR]"},
		"not processed, by GOAWAY":      {answer: func(s *server) { s.must(s.WriteGoAway(0, xhttp2.ErrCodeNo, nil)) }, want: "refused"},
		"processed, by GOAWAY":          {answer: func(s *server) { s.must(s.WriteGoAway(1, xhttp2.ErrCodeNo, nil)); s.headers(1, true, ":status", "200") }, want: "200"},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := ready(t)
			if tt.method == "" {
				tt.method = "GET"
			}
			st := c.send(&transport.Request{Method: tt.method, Path: []byte("/")})
			c.sent()
			tt.answer(s)
			if err := c.Feed(s.take()); err != nil {
				t.Fatal(err)
			}
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

func malformed(fields ...string) func(*server) {
	return func(s *server) { s.headers(1, true, fields...) }
}

// interim is interim responses of more than 1 MiB.
func interim(s *server) {
	for range transport.MaxHeader>>10 + 1 {
		s.headers(1, false, ":status", "103", "a", strings.Repeat("b", 1<<10))
	}
}

// What concerns the connection, and not a stream, ends all that is in flight.
func TestErrorsOfTheConnection(t *testing.T) {
	raw := func(kind xhttp2.FrameType, flags xhttp2.Flags, id uint32, n int) func(*server) {
		return func(s *server) { s.must(s.WriteRawFrame(kind, flags, id, make([]byte, n))) }
	}
	setting := func(id xhttp2.SettingID, value uint32) func(*server) {
		return func(s *server) { s.must(s.WriteSettings(xhttp2.Setting{ID: id, Val: value})) }
	}
	for name, tt := range map[string]struct {
		send func(*server)
		want xhttp2.ErrCode
	}{
		"DATA on stream 0":                 {raw(xhttp2.FrameData, 0, 0, 1), xhttp2.ErrCodeProtocol},
		"DATA on an idle stream":           {raw(xhttp2.FrameData, 0, 5, 1), xhttp2.ErrCodeProtocol},
		"DATA on a stream of the server":   {raw(xhttp2.FrameData, 0, 2, 1), xhttp2.ErrCodeProtocol},
		"DATA after the end":               {func(s *server) { s.headers(1, true, ":status", "200"); raw(xhttp2.FrameData, 0, 1, 1)(s) }, xhttp2.ErrCodeStreamClosed},
		"HEADERS after the end":            {func(s *server) { s.headers(1, true, ":status", "200"); s.headers(1, true, ":status", "200") }, xhttp2.ErrCodeStreamClosed},
		"DATA of padding alone":            {func(s *server) { s.must(s.WriteRawFrame(xhttp2.FrameData, xhttp2.FlagDataPadded, 1, []byte{1})) }, xhttp2.ErrCodeProtocol},
		"DATA without its padding":         {func(s *server) { s.must(s.WriteRawFrame(xhttp2.FrameData, xhttp2.FlagDataPadded, 1, nil)) }, xhttp2.ErrCodeProtocol},
		"a frame that is too large":        {raw(xhttp2.FrameData, 0, 1, maxFrame+1), xhttp2.ErrCodeFrameSize},
		"a large frame of an unknown type": {raw(99, 0, 1, maxFrame+1), xhttp2.ErrCodeFrameSize},
		"HEADERS on stream 0":              {raw(xhttp2.FrameHeaders, xhttp2.FlagHeadersEndHeaders, 0, 1), xhttp2.ErrCodeProtocol},
		"HEADERS on an idle stream":        {func(s *server) { s.headers(5, true, ":status", "200") }, xhttp2.ErrCodeProtocol},
		"HEADERS of padding": {func(s *server) {
			s.must(s.WriteRawFrame(xhttp2.FrameHeaders, xhttp2.FlagHeadersPadded|xhttp2.FlagHeadersEndHeaders, 1, []byte{9, 0x88}))
		}, xhttp2.ErrCodeProtocol},
		"HEADERS without their padding":  {raw(xhttp2.FrameHeaders, xhttp2.FlagHeadersPadded|xhttp2.FlagHeadersEndHeaders, 1, 0), xhttp2.ErrCodeProtocol},
		"HEADERS without their priority": {raw(xhttp2.FrameHeaders, xhttp2.FlagHeadersPriority|xhttp2.FlagHeadersEndHeaders, 1, 4), xhttp2.ErrCodeProtocol},
		"a header that cannot be decoded": {func(s *server) {
			s.must(s.WriteRawFrame(xhttp2.FrameHeaders, xhttp2.FlagHeadersEndHeaders, 1, []byte{0xff, 0xff}))
		}, xhttp2.ErrCodeCompression},
		"a header beyond the table": {func(s *server) {
			s.must(s.WriteRawFrame(xhttp2.FrameHeaders, xhttp2.FlagHeadersEndHeaders, 1, []byte{0xfe}))
		}, xhttp2.ErrCodeCompression},
		"a table that is too large": {func(s *server) {
			s.must(s.WriteRawFrame(xhttp2.FrameHeaders, xhttp2.FlagHeadersEndHeaders, 1, []byte{0x3f, 0xe2, 0x1f, 0x88}))
		}, xhttp2.ErrCodeCompression},
		"a header that is too large":       {largeHeader, xhttp2.ErrCodeEnhanceYourCalm},
		"a field that is too large":        {func(s *server) { s.pieces(1, s.fields(":status", "200", "x", strings.Repeat("\x01", maxField+1))) }, xhttp2.ErrCodeCompression},
		"a header of many frames":          {manyFrames, xhttp2.ErrCodeEnhanceYourCalm},
		"CONTINUATION without HEADERS":     {raw(xhttp2.FrameContinuation, 0, 1, 1), xhttp2.ErrCodeProtocol},
		"CONTINUATION of another stream":   {func(s *server) { raw(xhttp2.FrameHeaders, 0, 1, 0)(s); raw(xhttp2.FrameContinuation, 0, 3, 1)(s) }, xhttp2.ErrCodeProtocol},
		"PING within a header":             {func(s *server) { raw(xhttp2.FrameHeaders, 0, 1, 0)(s); s.must(s.WritePing(false, [8]byte{})) }, xhttp2.ErrCodeProtocol},
		"an unknown frame within a header": {func(s *server) { raw(xhttp2.FrameHeaders, 0, 1, 0)(s); raw(99, 0, 0, 1)(s) }, xhttp2.ErrCodeProtocol},
		"PRIORITY on stream 0":             {raw(xhttp2.FramePriority, 0, 0, 5), xhttp2.ErrCodeProtocol},
		"PRIORITY of 4 bytes":              {raw(xhttp2.FramePriority, 0, 1, 4), xhttp2.ErrCodeFrameSize},
		"RST_STREAM on stream 0":           {raw(xhttp2.FrameRSTStream, 0, 0, 4), xhttp2.ErrCodeProtocol},
		"RST_STREAM on an idle stream":     {raw(xhttp2.FrameRSTStream, 0, 5, 4), xhttp2.ErrCodeProtocol},
		"RST_STREAM of 3 bytes":            {raw(xhttp2.FrameRSTStream, 0, 1, 3), xhttp2.ErrCodeFrameSize},
		"SETTINGS on a stream":             {raw(xhttp2.FrameSettings, 0, 1, 6), xhttp2.ErrCodeProtocol},
		"SETTINGS of 5 bytes":              {raw(xhttp2.FrameSettings, 0, 0, 5), xhttp2.ErrCodeFrameSize},
		"an acknowledgement of 6 bytes":    {raw(xhttp2.FrameSettings, xhttp2.FlagSettingsAck, 0, 6), xhttp2.ErrCodeFrameSize},
		"ENABLE_PUSH":                      {setting(xhttp2.SettingEnablePush, 1), xhttp2.ErrCodeProtocol},
		"a window beyond 2^31":             {setting(xhttp2.SettingInitialWindowSize, 1<<31), xhttp2.ErrCodeFlowControl},
		"a window that has others overflow": {func(s *server) {
			s.must(s.WriteWindowUpdate(1, maxWindow-firstWindow))
			setting(xhttp2.SettingInitialWindowSize, firstWindow+1)(s)
		}, xhttp2.ErrCodeFlowControl},
		"frames below 16 KiB":              {setting(xhttp2.SettingMaxFrameSize, maxFrame-1), xhttp2.ErrCodeProtocol},
		"frames beyond 16 MiB":             {setting(xhttp2.SettingMaxFrameSize, 1<<24), xhttp2.ErrCodeProtocol},
		"PUSH_PROMISE":                     {raw(xhttp2.FramePushPromise, xhttp2.FlagPushPromiseEndHeaders, 1, 5), xhttp2.ErrCodeProtocol},
		"PING on a stream":                 {raw(xhttp2.FramePing, 0, 1, 8), xhttp2.ErrCodeProtocol},
		"PING of 7 bytes":                  {raw(xhttp2.FramePing, 0, 0, 7), xhttp2.ErrCodeFrameSize},
		"GOAWAY on a stream":               {raw(xhttp2.FrameGoAway, 0, 1, 8), xhttp2.ErrCodeProtocol},
		"GOAWAY of 7 bytes":                {raw(xhttp2.FrameGoAway, 0, 0, 7), xhttp2.ErrCodeFrameSize},
		"GOAWAY that takes back another":   {func(s *server) { s.must(s.WriteGoAway(1, 0, nil)); s.must(s.WriteGoAway(3, 0, nil)) }, xhttp2.ErrCodeProtocol},
		"WINDOW_UPDATE of 3 bytes":         {raw(xhttp2.FrameWindowUpdate, 0, 0, 3), xhttp2.ErrCodeFrameSize},
		"WINDOW_UPDATE of nothing":         {raw(xhttp2.FrameWindowUpdate, 0, 0, 4), xhttp2.ErrCodeProtocol},
		"WINDOW_UPDATE that is too much":   {func(s *server) { s.must(s.WriteWindowUpdate(0, maxWindow)) }, xhttp2.ErrCodeFlowControl},
		"WINDOW_UPDATE on an idle stream":  {func(s *server) { s.must(s.WriteWindowUpdate(5, 1)) }, xhttp2.ErrCodeProtocol},
		"SETTINGS without end":             {again(func(s *server) { s.must(s.WriteSettings()) }), xhttp2.ErrCodeEnhanceYourCalm},
		"acknowledgements without end":     {again(func(s *server) { s.must(s.WriteSettingsAck()) }), xhttp2.ErrCodeEnhanceYourCalm},
		"PINGs without end":                {again(func(s *server) { s.must(s.WritePing(false, [8]byte{})) }), xhttp2.ErrCodeEnhanceYourCalm},
		"PINGs beside a body, without end": {pingsBesideBody, xhttp2.ErrCodeEnhanceYourCalm},
		"empty DATA without end":           {func(s *server) { s.headers(1, false, ":status", "200"); again(raw(xhttp2.FrameData, 0, 1, 0))(s) }, xhttp2.ErrCodeEnhanceYourCalm},
		"padding without end": {func(s *server) {
			s.headers(1, false, ":status", "200")
			again(raw(xhttp2.FrameData, xhttp2.FlagDataPadded, 1, 1))(s)
		}, xhttp2.ErrCodeEnhanceYourCalm},
		"empty CONTINUATION without end": {func(s *server) {
			raw(xhttp2.FrameHeaders, 0, 1, 0)(s)
			again(raw(xhttp2.FrameContinuation, 0, 1, 0))(s)
		}, xhttp2.ErrCodeEnhanceYourCalm},
		"GOAWAYs without end":                   {again(func(s *server) { s.must(s.WriteGoAway(1, 0, nil)) }), xhttp2.ErrCodeEnhanceYourCalm},
		"priorities without end":                {again(raw(xhttp2.FramePriority, 0, 1, 5)), xhttp2.ErrCodeEnhanceYourCalm},
		"windows without end":                   {again(func(s *server) { s.must(s.WriteWindowUpdate(0, 1)) }), xhttp2.ErrCodeEnhanceYourCalm},
		"unknown frames without end":            {again(raw(99, 0, 1, 10)), xhttp2.ErrCodeEnhanceYourCalm},
		"resets of an ended stream without end": {func(s *server) { s.headers(1, true, ":status", "200"); again(raw(xhttp2.FrameRSTStream, 0, 1, 4))(s) }, xhttp2.ErrCodeEnhanceYourCalm},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{everything, 7} {
				c, s := ready(t)
				st, other := c.get(), c.get()
				c.sent()
				tt.send(s)
				err := c.feed(s.take(), size)
				if err == nil {
					t.Fatal("it was accepted")
				}
				sent := frames(t, c.Output())
				if got, want := sent[len(sent)-1], fmt.Sprintf("GOAWAY 0 %v", tt.want); got != want {
					t.Errorf("sent %q (%v), want %q", got, err, want)
				}
				if c.Usable() || c.Room() != 0 {
					t.Error("the connection takes more requests")
				}
				c.End(err)
				if got := c.outcome(st); got != "200" && got != "badResponse" {
					t.Errorf("outcome %q: %v", got, c.ends[st])
				}
				want := "badResponse"
				if strings.HasPrefix(name, "GOAWAYs") || strings.HasSuffix(name, "takes back another") {
					want = "refused" // by the first of them
				}
				if got := c.outcome(other); got != want {
					t.Errorf("outcome of the other %q: %v", got, c.ends[other])
				}
			}
		})
	}
}

func again(one func(*server)) func(*server) {
	return func(s *server) {
		for range flood + 1 {
			one(s)
		}
	}
}

// pingsBesideBody has the client answer while it gets a byte of a body again and again.
func pingsBesideBody(s *server) {
	s.headers(1, false, ":status", "200")
	again(func(s *server) {
		s.must(s.WriteData(1, false, []byte("x")))
		s.must(s.WritePing(false, [8]byte{}))
	})(s)
	s.must(s.WriteData(1, false, []byte("x")))
}

// pieces writes a header block in as many frames as it needs.
func (s *server) pieces(id uint32, b []byte) {
	n := min(len(b), maxFrame)
	s.must(s.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: id, BlockFragment: b[:n], EndStream: true, EndHeaders: n == len(b)}))
	for b = b[n:]; len(b) > 0; b = b[n:] {
		n = min(len(b), maxFrame)
		s.must(s.WriteContinuation(id, n == len(b), b[:n]))
	}
}

// largeHeader is few bytes that name an entry of the table again and again.
func largeHeader(s *server) {
	block := s.fields(":status", "200", "x", strings.Repeat("y", 2000))
	again := s.fields("x", strings.Repeat("y", 2000))
	s.pieces(1, append(block, bytes.Repeat(again, maxBlock/2000)...))
}

func manyFrames(s *server) {
	s.must(s.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1}))
	for range maxBlock/maxFrame + 1 {
		s.must(s.WriteContinuation(1, false, make([]byte, maxFrame)))
	}
}

func TestAServerMustBeginWithSettings(t *testing.T) {
	for name, tt := range map[string]struct{ begin, want string }{
		"HTTP/1":             {"HTTP/1.1 400 Bad Request\r\n\r\n", "HTTP/1"},
		"a ping":             {"\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678", "SETTINGS"},
		"an acknowledgement": {"\x00\x00\x00\x04\x01\x00\x00\x00\x00", "SETTINGS"},
		"SSH":                {"SSH-2.0-OpenSSH_9.2\r\n", "SETTINGS"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t)
			st := c.get()
			err := c.Feed([]byte(tt.begin))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%v, want %s", err, tt.want)
			}
			c.End(err)
			if got := c.outcome(st); got != measure.BadResponse.String() {
				t.Errorf("outcome %s", got)
			}
		})
	}
}
