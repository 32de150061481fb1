package http2

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	xhttp2 "golang.org/x/net/http2"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// What concerns the connection, and not a stream, ends all that is in flight.
func TestErrorsOfTheConnection(t *testing.T) {
	raw := func(kind xhttp2.FrameType, flags xhttp2.Flags, id uint32, n int) func(*server) {
		return func(s *server) { s.must(s.WriteRawFrame(kind, flags, id, make([]byte, n))) }
	}
	setting := func(id xhttp2.SettingID, value uint32) func(*server) {
		return func(s *server) { s.must(s.WriteSettings(xhttp2.Setting{ID: id, Val: value})) }
	}
	type test struct {
		send func(*server)
		want xhttp2.ErrCode
	}
	tests := map[string]test{
		"DATA on stream 0":                  {raw(xhttp2.FrameData, 0, 0, 1), xhttp2.ErrCodeProtocol},
		"DATA on a stream of the server":    {raw(xhttp2.FrameData, 0, 2, 1), xhttp2.ErrCodeProtocol},
		"DATA after the end":                {func(s *server) { s.headers(1, true, ":status", "200"); raw(xhttp2.FrameData, 0, 1, 1)(s) }, xhttp2.ErrCodeStreamClosed},
		"HEADERS after the end":             {func(s *server) { s.headers(1, true, ":status", "200"); s.headers(1, true, ":status", "200") }, xhttp2.ErrCodeStreamClosed},
		"HEADERS on a stream of the server": {func(s *server) { s.headers(2, true, ":status", "200") }, xhttp2.ErrCodeProtocol},
		"HEADERS after a reset": {func(s *server) {
			s.must(s.WriteRSTStream(1, xhttp2.ErrCodeCancel))
			s.headers(1, true, ":status", "200")
		}, xhttp2.ErrCodeStreamClosed},
		"DATA without its padding":         {func(s *server) { s.must(s.WriteRawFrame(xhttp2.FrameData, xhttp2.FlagDataPadded, 1, nil)) }, xhttp2.ErrCodeProtocol},
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
		"a table that changes within a header":        {encoded(0x88, 0x40, 1, 'x', 1, 'y', 0x20), xhttp2.ErrCodeCompression},
		"a field without its value":                   {encoded(0x88, 0x40, 1, 'x'), xhttp2.ErrCodeCompression},
		"a value that is cut short":                   {encoded(0x88, 0x40, 1, 'x', 3, 'y'), xhttp2.ErrCodeCompression},
		"a number without end":                        {encoded(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), xhttp2.ErrCodeCompression},
		"a Huffman code with a whole byte of padding": {encoded(0x88, 0x40, 1, 'x', 0x82, 0x1f, 0xff), xhttp2.ErrCodeCompression},
		"a Huffman code padded with zeros":            {encoded(0x88, 0x40, 1, 'x', 0x81, 0x18), xhttp2.ErrCodeCompression},
		"a header that is too large":                  {largeHeader, xhttp2.ErrCodeEnhanceYourCalm},
		"a field that is too large":                   {func(s *server) { s.pieces(1, s.fields(":status", "200", "x", strings.Repeat("\x01", maxField+1))) }, xhttp2.ErrCodeCompression},
		"a header of many frames":                     {manyFrames, xhttp2.ErrCodeEnhanceYourCalm},
		"CONTINUATION of another stream":              {func(s *server) { raw(xhttp2.FrameHeaders, 0, 1, 0)(s); raw(xhttp2.FrameContinuation, 0, 3, 1)(s) }, xhttp2.ErrCodeProtocol},
		"CONTINUATION after the header": {func(s *server) {
			s.headers(1, false, ":status", "200")
			raw(xhttp2.FrameContinuation, xhttp2.FlagContinuationEndHeaders, 1, 0)(s)
		}, xhttp2.ErrCodeProtocol},
		"CONTINUATION on stream 0":         {func(s *server) { raw(xhttp2.FrameHeaders, 0, 1, 0)(s); raw(xhttp2.FrameContinuation, 0, 0, 1)(s) }, xhttp2.ErrCodeProtocol},
		"HEADERS within a header":          {func(s *server) { raw(xhttp2.FrameHeaders, 0, 1, 0)(s); s.headers(1, true, ":status", "200") }, xhttp2.ErrCodeProtocol},
		"DATA within a header":             {func(s *server) { raw(xhttp2.FrameHeaders, 0, 1, 0)(s); raw(xhttp2.FrameData, 0, 1, 1)(s) }, xhttp2.ErrCodeProtocol},
		"PING within a header":             {func(s *server) { raw(xhttp2.FrameHeaders, 0, 1, 0)(s); s.must(s.WritePing(false, [8]byte{})) }, xhttp2.ErrCodeProtocol},
		"an unknown frame within a header": {func(s *server) { raw(xhttp2.FrameHeaders, 0, 1, 0)(s); raw(99, 0, 0, 1)(s) }, xhttp2.ErrCodeProtocol},
		"PRIORITY on stream 0":             {raw(xhttp2.FramePriority, 0, 0, 5), xhttp2.ErrCodeProtocol},
		"PRIORITY of 4 bytes":              {raw(xhttp2.FramePriority, 0, 1, 4), xhttp2.ErrCodeFrameSize},
		"RST_STREAM on stream 0":           {raw(xhttp2.FrameRSTStream, 0, 0, 4), xhttp2.ErrCodeProtocol},
		"RST_STREAM on an idle stream":     {raw(xhttp2.FrameRSTStream, 0, 5, 4), xhttp2.ErrCodeProtocol},
		"RST_STREAM on the server's own":   {raw(xhttp2.FrameRSTStream, 0, 2, 4), xhttp2.ErrCodeProtocol},
		"RST_STREAM of 5 bytes":            {raw(xhttp2.FrameRSTStream, 0, 1, 5), xhttp2.ErrCodeFrameSize},
		"RST_STREAM of 3 bytes":            {raw(xhttp2.FrameRSTStream, 0, 1, 3), xhttp2.ErrCodeFrameSize},
		"SETTINGS on a stream":             {raw(xhttp2.FrameSettings, 0, 1, 6), xhttp2.ErrCodeProtocol},
		"an acknowledgement of 6 bytes":    {raw(xhttp2.FrameSettings, xhttp2.FlagSettingsAck, 0, 6), xhttp2.ErrCodeFrameSize},
		"ENABLE_PUSH":                      {setting(xhttp2.SettingEnablePush, 1), xhttp2.ErrCodeProtocol},
		"ENABLE_PUSH of 2":                 {setting(xhttp2.SettingEnablePush, 2), xhttp2.ErrCodeProtocol},
		"a window that has others overflow": {func(s *server) {
			s.must(s.WriteWindowUpdate(1, maxWindow-firstWindow))
			setting(xhttp2.SettingInitialWindowSize, firstWindow+1)(s)
		}, xhttp2.ErrCodeFlowControl},
		"frames below 16 KiB":               {setting(xhttp2.SettingMaxFrameSize, maxFrame-1), xhttp2.ErrCodeProtocol},
		"frames beyond 16 MiB":              {setting(xhttp2.SettingMaxFrameSize, 1<<24), xhttp2.ErrCodeProtocol},
		"PUSH_PROMISE on stream 0":          {raw(xhttp2.FramePushPromise, xhttp2.FlagPushPromiseEndHeaders, 0, 5), xhttp2.ErrCodeProtocol},
		"PING of 9 bytes":                   {raw(xhttp2.FramePing, 0, 0, 9), xhttp2.ErrCodeFrameSize},
		"GOAWAY on a stream":                {raw(xhttp2.FrameGoAway, 0, 1, 8), xhttp2.ErrCodeProtocol},
		"GOAWAY of 7 bytes":                 {raw(xhttp2.FrameGoAway, 0, 0, 7), xhttp2.ErrCodeFrameSize},
		"GOAWAY that takes back another":    {func(s *server) { s.must(s.WriteGoAway(1, 0, nil)); s.must(s.WriteGoAway(3, 0, nil)) }, xhttp2.ErrCodeProtocol},
		"WINDOW_UPDATE of 3 bytes":          {raw(xhttp2.FrameWindowUpdate, 0, 0, 3), xhttp2.ErrCodeFrameSize},
		"WINDOW_UPDATE of 5 bytes":          {raw(xhttp2.FrameWindowUpdate, 0, 1, 5), xhttp2.ErrCodeFrameSize},
		"WINDOW_UPDATE on the server's own": {raw(xhttp2.FrameWindowUpdate, 0, 2, 4), xhttp2.ErrCodeProtocol},
		"WINDOW_UPDATE on an idle stream":   {func(s *server) { s.must(s.WriteWindowUpdate(5, 1)) }, xhttp2.ErrCodeProtocol},
		"SETTINGS without end":              {again(func(s *server) { s.must(s.WriteSettings()) }), xhttp2.ErrCodeEnhanceYourCalm},
		"acknowledgements without end":      {again(func(s *server) { s.must(s.WriteSettingsAck()) }), xhttp2.ErrCodeEnhanceYourCalm},
		"PINGs without end":                 {again(func(s *server) { s.must(s.WritePing(false, [8]byte{})) }), xhttp2.ErrCodeEnhanceYourCalm},
		"PINGs beside a body, without end":  {pingsBesideBody, xhttp2.ErrCodeEnhanceYourCalm},
		"empty DATA without end":            {func(s *server) { s.headers(1, false, ":status", "200"); again(raw(xhttp2.FrameData, 0, 1, 0))(s) }, xhttp2.ErrCodeEnhanceYourCalm},
		"padding without end": {func(s *server) {
			s.headers(1, false, ":status", "200")
			again(raw(xhttp2.FrameData, xhttp2.FlagDataPadded, 1, 1))(s)
		}, xhttp2.ErrCodeEnhanceYourCalm},
		"GOAWAYs without end":        {again(func(s *server) { s.must(s.WriteGoAway(1, 0, nil)) }), xhttp2.ErrCodeEnhanceYourCalm},
		"priorities without end":     {again(raw(xhttp2.FramePriority, 0, 1, 5)), xhttp2.ErrCodeEnhanceYourCalm},
		"windows without end":        {again(func(s *server) { s.must(s.WriteWindowUpdate(0, 1)) }), xhttp2.ErrCodeEnhanceYourCalm},
		"unknown frames without end": {again(raw(99, 0, 1, 10)), xhttp2.ErrCodeEnhanceYourCalm},
		"ends of an ended stream without end": {func(s *server) {
			s.headers(1, true, ":status", "200")
			again(raw(xhttp2.FrameData, flagEndStream, 1, 0))(s)
		}, xhttp2.ErrCodeEnhanceYourCalm},
		"resets of an ended stream without end": {func(s *server) { s.headers(1, true, ":status", "200"); again(raw(xhttp2.FrameRSTStream, 0, 1, 4))(s) }, xhttp2.ErrCodeEnhanceYourCalm},
	}
	for _, f := range groundtruth.Frames() {
		if f.Scope == groundtruth.OfConnection {
			tests[f.Name] = test{sending(f), f.Code}
		}
	}
	for name, tt := range tests {
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
				want := []string{"200", "badResponse"}
				if strings.HasSuffix(name, "reset") {
					want = []string{"reset"}
				}
				if got := c.outcome(st); !slices.Contains(want, got) {
					t.Errorf("outcome %q: %v", got, c.ends[st])
				}
				ofOther := "badResponse"
				if strings.HasPrefix(name, "GOAWAYs") || strings.HasSuffix(name, "takes back another") {
					ofOther = "refused" // by the first of them
				}
				if got := c.outcome(other); got != ofOther {
					t.Errorf("outcome of the other %q: %v", got, c.ends[other])
				}
			}
		})
	}
}

// sending has the server answer with what the ground-truth server answers with.
func sending(f groundtruth.Frame) func(*server) {
	return func(s *server) { _, _ = s.Write(f.Bytes(1)) }
}

// encoded is a header block of these bytes.
func encoded(b ...byte) func(*server) {
	return func(s *server) {
		s.must(s.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: b, EndHeaders: true, EndStream: true}))
	}
}

// What RFC 9113 has a client ignore changes nothing for the requests in flight.
func TestWhatIsToBeIgnored(t *testing.T) {
	raw := func(s *server, kind xhttp2.FrameType, flags xhttp2.Flags, id uint32, payload ...byte) {
		s.must(s.WriteRawFrame(kind, flags, id, payload))
	}
	const reserved, undefined = 1 << 31, 0xd2 // a bit of the number of a stream, and flags of no type
	for name, tt := range map[string]struct {
		send func(*server)
		rest string // what the client sends
	}{
		"a frame of an unknown type (4.1)":   {func(s *server) { raw(s, 99, 0xff, 1, 1, 2, 3); raw(s, 99, 0, 0); raw(s, 99, 0, 7) }, ""},
		"flags that are not defined (4.1)":   {func(s *server) { raw(s, xhttp2.FramePing, undefined, 0, 1, 2, 3, 4, 5, 6, 7, 8) }, "PING 0 true \x01\x02\x03\x04\x05\x06\a\b"},
		"the reserved bit of a stream (4.1)": {func(s *server) { raw(s, xhttp2.FrameWindowUpdate, 0, reserved|1, 0, 0, 0, 1) }, ""},
		"a priority of any stream (5.3)": {func(s *server) {
			for _, id := range []uint32{1, 2, 3, 99} {
				raw(s, xhttp2.FramePriority, 0, id, 0, 0, 0, byte(id), 9)
			}
		}, ""},
		"a setting that is not known (6.5.2)":            {func(s *server) { raw(s, xhttp2.FrameSettings, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff) }, "SETTINGS 0 true"},
		"the largest header that a server takes (6.5.2)": {func(s *server) { raw(s, xhttp2.FrameSettings, 0, 0, 0, 6, 0, 0, 0, 0) }, "SETTINGS 0 true"},
		"an acknowledgement of no SETTINGS (6.5.3)":      {func(s *server) { s.must(s.WriteSettingsAck()) }, ""},
		"an acknowledgement of no PING (6.7)":            {func(s *server) { s.must(s.WritePing(true, [8]byte{})) }, ""},
		"the reserved bit of a window (6.9)":             {func(s *server) { raw(s, xhttp2.FrameWindowUpdate, 0, 0, 0x80, 0, 0, 1) }, ""},
		"an empty piece of a header (6.10)": {func(s *server) {
			b := s.fields(":status", "103")
			raw(s, xhttp2.FrameHeaders, 0, 1, b...)
			raw(s, xhttp2.FrameContinuation, 0, 1)
			raw(s, xhttp2.FrameContinuation, xhttp2.FlagContinuationEndHeaders, 1)
		}, ""},
		"what comes on a stream that has ended (5.1)": {func(s *server) {
			s.headers(3, true, ":status", "200")
			s.must(s.WriteWindowUpdate(3, 1))
			s.must(s.WriteRSTStream(3, xhttp2.ErrCodeNo))
			raw(s, xhttp2.FramePriority, 0, 3, 0, 0, 0, 0, 0)
		}, ""},
		"the end of a stream, said twice, as Nginx does": {func(s *server) {
			s.headers(3, true, ":status", "200")
			raw(s, xhttp2.FrameData, xhttp2.FlagDataEndStream, 3)
		}, ""},
		"padding and a priority in HEADERS (6.2)": {func(s *server) {
			b := s.fields(":status", "103")
			raw(s, xhttp2.FrameHeaders, xhttp2.FlagHeadersPadded|xhttp2.FlagHeadersPriority|xhttp2.FlagHeadersEndHeaders, 1, append(append([]byte{2, 0, 0, 0, 1, 9}, b...), 0, 0)...)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{everything, 7, 1} {
				c, s := ready(t)
				st, _ := c.get(), c.get()
				c.sent()
				tt.send(s)
				s.headers(1, false, ":status", "200")
				s.must(s.WriteData(1, true, []byte("abc")))
				must.Succeed(t, c.feed(s.take(), size))
				if c.outcome(st) != "200" || st.Response().Size != 3 || !c.Usable() {
					t.Errorf("outcome %q: %v; usable: %t", c.outcome(st), c.ends[st], c.Usable())
				}
				c.want(tt.rest)
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

// However many requests a server refuses, or answers too late, that is no flood: there are no
// more such frames than requests.
func TestOutcomesAreNoFlood(t *testing.T) {
	const requests = flood + 1
	for name, tt := range map[string]struct {
		answer func(s *server, id uint32)
		late   bool
		want   string
	}{
		"refused":            {func(s *server, id uint32) { s.must(s.WriteRSTStream(id, xhttp2.ErrCodeRefusedStream)) }, false, "refused"},
		"malformed":          {func(s *server, id uint32) { s.headers(id, true, "x", "y") }, false, "badResponse"},
		"refused too late":   {func(s *server, id uint32) { s.must(s.WriteRSTStream(id, xhttp2.ErrCodeRefusedStream)) }, true, ""},
		"answered too late":  {func(s *server, id uint32) { s.headers(id, true, ":status", "204") }, true, ""},
		"trailers, too late": {func(s *server, id uint32) { s.headers(id, false, ":status", "200"); s.headers(id, true, "x", "y") }, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := ready(t, xhttp2.Setting{ID: xhttp2.SettingMaxConcurrentStreams, Val: requests})
			first := c.get()
			for n := range uint32(requests) {
				st := c.get()
				if tt.late {
					c.Cancel(st) // before anything is written: the socket has no room
				}
				tt.answer(s, 2*n+3)
			}
			s.headers(1, true, ":status", "200")
			must.Succeed(t, c.Feed(s.take()))
			if got := c.outcome(first); got != "200" || !c.Usable() {
				t.Errorf("outcome of another %q, usable %v", got, c.Usable())
			}
			for _, st := range c.streams[1:] {
				if got := c.outcome(st); got != tt.want {
					t.Fatalf("outcome %q, want %q", got, tt.want)
				}
			}
		})
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
