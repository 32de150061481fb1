package groundtruth

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Scope is what an error of HTTP/2 ends.
type Scope uint8

const (
	// OfConnection ends the connection, with all streams on it.
	OfConnection Scope = iota
	// OfStream ends the stream.
	OfStream
	// NoError is what RFC 9113 permits: the server itself ends the stream.
	NoError
)

// Frame is frames of HTTP/2 in the place of a response, which a client must take for an
// error (RFC 9113, 5.4), and RST_STREAM with each code.
type Frame struct {
	Name  string
	Scope Scope
	// Code is that of the error; of RST_STREAM, the one that it has.
	Code  http2.ErrCode
	write func(f *http2.Framer, stream uint32)
}

const (
	// idle is the number of a stream that no client comes to begin.
	idle = 1<<31 - 1
	// floodOf is more frames than any client takes that waits for the end of a header.
	floodOf = 20_000
	// maxPayload is the largest that needs the client's permission.
	maxPayload = 16 << 10
	maxWindow  = 1<<31 - 1
)

// Frames are all of them.
func Frames() []Frame {
	return slices.Concat(framesOfConnection(), framesOfStream(), resets())
}

func framesOfConnection() []Frame {
	raw := func(kind http2.FrameType, size int) func(*http2.Framer, uint32) {
		return func(f *http2.Framer, _ uint32) { _ = f.WriteRawFrame(kind, 0, 0, make([]byte, size)) }
	}
	return []Frame{
		{"data-idle", OfConnection, http2.ErrCodeProtocol, func(f *http2.Framer, _ uint32) { _ = f.WriteData(idle, false, body(1)) }},
		{"data-after-reset", OfConnection, http2.ErrCodeStreamClosed, func(f *http2.Framer, id uint32) {
			_ = f.WriteRSTStream(id, http2.ErrCodeInternal)
			_ = f.WriteData(id, true, body(1))
		}},
		{"data-padding", OfConnection, http2.ErrCodeProtocol, func(f *http2.Framer, id uint32) {
			_ = f.WriteRawFrame(http2.FrameData, http2.FlagDataPadded, id, []byte{1}) // of 1 byte, which is not there
		}},
		{"data-oversized", OfConnection, http2.ErrCodeFrameSize, func(f *http2.Framer, id uint32) { _ = f.WriteData(id, true, body(maxPayload+1)) }},
		{"hpack", OfConnection, http2.ErrCodeCompression, func(f *http2.Framer, id uint32) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte{0x80}, EndHeaders: true, EndStream: true}) // a field of index 0
		}},
		{"continuation", OfConnection, http2.ErrCodeProtocol, func(f *http2.Framer, id uint32) { _ = f.WriteContinuation(id, true, nil) }},
		{"continuation-flood", OfConnection, http2.ErrCodeEnhanceYourCalm, func(f *http2.Framer, id uint32) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id})
			for range floodOf {
				_ = f.WriteContinuation(id, false, nil)
			}
		}},
		{"push", OfConnection, http2.ErrCodeProtocol, func(f *http2.Framer, id uint32) {
			_ = f.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, BlockFragment: fields(":method", "GET"), EndHeaders: true})
		}},
		{"ping-stream", OfConnection, http2.ErrCodeProtocol, func(f *http2.Framer, id uint32) { _ = f.WriteRawFrame(http2.FramePing, 0, id, make([]byte, 8)) }},
		{"ping-size", OfConnection, http2.ErrCodeFrameSize, raw(http2.FramePing, 7)},
		{"settings-size", OfConnection, http2.ErrCodeFrameSize, raw(http2.FrameSettings, 5)},
		{"settings-window", OfConnection, http2.ErrCodeFlowControl, func(f *http2.Framer, _ uint32) {
			_ = f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: maxWindow + 1})
		}},
		{"window-zero", OfConnection, http2.ErrCodeProtocol, raw(http2.FrameWindowUpdate, 4)},
		{"window-overflow", OfConnection, http2.ErrCodeFlowControl, func(f *http2.Framer, _ uint32) { _ = f.WriteWindowUpdate(0, maxWindow) }},
	}
}

func framesOfStream() []Frame {
	header := func(end bool, list ...string) func(*http2.Framer, uint32) {
		return func(f *http2.Framer, id uint32) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: fields(list...), EndHeaders: true, EndStream: end})
		}
	}
	return []Frame{
		{"data-first", OfStream, http2.ErrCodeProtocol, func(f *http2.Framer, id uint32) { _ = f.WriteData(id, true, body(1)) }},
		{"data-beyond-length", OfStream, http2.ErrCodeProtocol, func(f *http2.Framer, id uint32) {
			header(false, ":status", "200", "content-type", "application/grpc", "content-length", "1")(f, id)
			_ = f.WriteData(id, true, body(2))
		}},
		{"no-status", OfStream, http2.ErrCodeProtocol, header(true, "content-type", "application/grpc")},
		{"uppercase", OfStream, http2.ErrCodeProtocol, header(true, ":status", "200", "Content-Type", "application/grpc")},
		{"stream-window-zero", OfStream, http2.ErrCodeProtocol, func(f *http2.Framer, id uint32) { _ = f.WriteWindowUpdate(id, 0) }},
		{"stream-window-overflow", OfStream, http2.ErrCodeFlowControl, func(f *http2.Framer, id uint32) { _ = f.WriteWindowUpdate(id, maxWindow) }},
	}
}

// resets are RST_STREAM with each code of RFC 9113, 7: reset-no-error, reset-cancel, …
func resets() (all []Frame) {
	for code := http2.ErrCodeNo; code <= http2.ErrCodeHTTP11Required; code++ {
		name := "reset-" + strings.ReplaceAll(strings.ToLower(code.String()), "_", "-")
		all = append(all, Frame{name, NoError, code, func(f *http2.Framer, id uint32) { _ = f.WriteRSTStream(id, code) }})
	}
	return all
}

// Bytes are the frames in the place of the response on a stream. They change nothing of the
// state of HPACK.
func (f Frame) Bytes(stream uint32) []byte {
	var b bytes.Buffer // it takes all that is written
	framer := http2.NewFramer(&b, nil)
	framer.AllowIllegalWrites = true
	f.write(framer, stream)
	return b.Bytes()
}

// fields is a header block that enters nothing into the table of the client.
func fields(list ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(list); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: list[i], Value: list[i+1], Sensitive: true})
	}
	return b.Bytes()
}

// frameOf is the one of a name.
func frameOf(name string) (Frame, error) {
	all := Frames()
	if i := slices.IndexFunc(all, func(f Frame) bool { return f.Name == name }); i >= 0 {
		return all[i], nil
	}
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.Name
	}
	return Frame{}, fmt.Errorf("frame %q: must be one of %s", name, strings.Join(names, ", "))
}

// frame is that of the routes; nil: none has one. It refuses one that could not be sent, or
// not be told from what another route answers.
func (c *Config) frame() (*Frame, error) {
	name, aborts := "", 0
	for _, r := range c.Routes {
		name = cmp.Or(name, r.Reply.Frame)
		if r.Reply.aborts() {
			aborts++
		}
	}
	switch {
	case name == "":
		return nil, nil
	case c.Protocol != HTTP2 && c.Protocol != H2C:
		return nil, fmt.Errorf("a frame must not be set for %s", c.Protocol)
	case aborts > 1:
		return nil, errors.New("beside a route with a frame there must be none with another, or with a reset")
	}
	f, err := frameOf(name)
	return &f, err
}
