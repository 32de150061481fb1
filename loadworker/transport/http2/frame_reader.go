package http2

import (
	"bytes"
	"encoding/binary"
)

// frameType is a type of RFC 9113, 6.
type frameType uint8

const (
	frameData         frameType = 0x0
	frameHeaders      frameType = 0x1
	framePriority     frameType = 0x2
	frameReset        frameType = 0x3
	frameSettings     frameType = 0x4
	framePush         frameType = 0x5
	framePing         frameType = 0x6
	frameGoAway       frameType = 0x7
	frameWindow       frameType = 0x8
	frameContinuation frameType = 0x9
)

// Flags of frames. An acknowledgement has the number of the end of a stream.
const (
	flagEndStream  = 0x1
	flagAck        = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20
)

const (
	frameHeader = 9
	// maxFrame is the largest payload that the server may send: that which needs no
	// permission.
	maxFrame = 16 << 10
)

// frame is a frame without its payload.
type frame struct {
	length int
	kind   frameType
	flags  byte
	id     uint32
}

func (f *frame) has(flag byte) bool { return f.flags&flag != 0 }

// isOnlyEnd reports whether it is DATA without data that ends its stream.
func (f *frame) isOnlyEnd() bool {
	return f.kind == frameData && f.length == 0 && f.has(flagEndStream)
}

func parseFrame(b []byte) frame {
	return frame{
		length: int(b[0])<<16 | int(b[1])<<8 | int(b[2]),
		kind:   frameType(b[3]),
		flags:  b[4],
		id:     binary.BigEndian.Uint32(b[5:]) & maxID,
	}
}

// reader finds the frames in what was read. The payload of DATA passes in pieces, as it
// comes; a frame of another type is held until it is whole.
type reader struct {
	held    []byte // the beginning of a frame
	data    frame  // the DATA whose payload is coming
	left    int    // bytes of it, without the padding
	padding int    // bytes that follow them
	after   int    // bytes that were read, after what is being taken
	begun   bool   // the server's first frame has come
	heard   bool   // its settings have
}

// Feed takes what was read; the caller may use in again after that. After an error, the
// connection must be closed once Output was written, and End called.
func (m *Mux) Feed(in []byte) error {
	err := m.feedAll(in)
	m.tell()
	return err
}

func (m *Mux) feedAll(in []byte) error {
	for len(in) > 0 {
		m.after = len(in)
		n, v := m.feed(in)
		if v != nil {
			m.failed = true
			m.out = appendGoAway(m.out, v.code)
			return v
		}
		in = in[n:]
	}
	return nil
}

// Consumed reports whether what is being taken is the last of what was read.
func (m *Mux) Consumed() bool { return m.after == 0 }

// feed takes the first bytes, as many as belong together.
func (m *Mux) feed(in []byte) (taken int, v *violation) {
	if m.left > 0 || m.padding > 0 {
		return m.payload(in), nil
	}
	if len(m.held) > 0 {
		return m.assemble(in)
	}
	n, v := m.frame(in)
	if n == 0 && v == nil {
		m.held = append(m.held, in...) // the beginning of a frame
		n = len(in)
	}
	return n, v
}

// assemble adds to a frame that is not whole, as much as it lacks.
func (m *Mux) assemble(in []byte) (taken int, v *violation) {
	want := frameHeader
	if len(m.held) >= frameHeader {
		f := parseFrame(m.held)
		want = needs(&f)
	}
	taken = min(len(in), want-len(m.held))
	m.held = append(m.held, in[:taken]...)
	if len(m.held) < want {
		return taken, nil
	}
	m.after += len(m.held) - taken // which came before
	n, v := m.frame(m.held)
	if n > 0 {
		m.held = nil // no longer than needed: there are thousands of connections
	}
	return taken, v
}

// needs is how many bytes of a frame must have come before it is taken.
func needs(f *frame) int {
	switch {
	case f.kind != frameData:
		return frameHeader + f.length
	case f.has(flagPadded):
		return frameHeader + min(1, f.length)
	default:
		return frameHeader
	}
}

// frame takes a frame at the beginning of b, of DATA only what precedes the data. It
// returns 0 if that is not there whole.
func (m *Mux) frame(b []byte) (taken int, v *violation) {
	if len(b) < frameHeader {
		return 0, nil
	}
	f := parseFrame(b)
	if v := m.check(&f, b); v != nil {
		return 0, v
	}
	n := needs(&f)
	if len(b) < n {
		return 0, nil
	}
	m.after -= n
	return n, m.dispatch(f, b[frameHeader:n])
}

// check checks a frame before its payload has come.
func (m *Mux) check(f *frame, b []byte) *violation {
	switch {
	case !m.begun && bytes.HasPrefix(b, []byte("HTTP/1.")):
		return errNotHTTP2
	case !m.begun && (f.kind != frameSettings || f.has(flagAck)):
		return violated(protocolError, "the first frame is of type %d, and must be SETTINGS", f.kind)
	case f.length > maxFrame:
		return violated(frameSizeError, "a frame of %d bytes, more than the %d that are permitted", f.length, maxFrame)
	case m.block.id != 0 && (f.kind != frameContinuation || f.id != m.block.id):
		return violated(protocolError, "a frame of type %d within a header block", f.kind)
	}
	return nil
}

// dispatch takes a frame, whose payload is whole unless it is DATA.
func (m *Mux) dispatch(f frame, payload []byte) *violation {
	m.begun = true
	if m.idle++; m.idle > flood || m.replies > flood {
		return violated(enhanceYourCalm, "more than %d frames of no use", flood)
	}
	switch f.kind {
	case frameData:
		return m.beginData(f, payload)
	case frameHeaders:
		return m.headersFrame(f, payload)
	case frameContinuation:
		return m.continuation(f, payload)
	case frameReset:
		return m.resetFrame(f, payload)
	case frameWindow:
		return m.windowFrame(f, payload)
	case framePush:
		return violated(protocolError, "PUSH_PROMISE, which was not permitted")
	case framePriority:
		return checkPriority(f)
	case frameSettings, framePing, frameGoAway:
		return m.ofConnection(f, payload)
	default:
		return nil // a frame of an unknown type means nothing (RFC 9113, 5.5)
	}
}

// ofConnection takes a frame that is about no stream.
func (m *Mux) ofConnection(f frame, payload []byte) *violation {
	if f.id != 0 {
		return violated(protocolError, "a frame of type %d on stream %d", f.kind, f.id)
	}
	switch f.kind {
	case frameSettings:
		return m.settingsFrame(f, payload)
	case framePing:
		return m.ping(f, payload)
	default:
		return m.goAwayFrame(payload)
	}
}

func checkPriority(f frame) *violation {
	switch {
	case f.id == 0:
		return violated(protocolError, "PRIORITY on stream 0")
	case f.length != 5:
		return violated(frameSizeError, "PRIORITY of %d bytes", f.length)
	}
	return nil
}

// stream returns the stream of a frame: nil if it has ended here. The server may not have
// known that when it sent the frame; after it ended the stream itself, it may send no more,
// but may say once more that this is the end: Nginx does if a call has no reply and its
// socket had no room for the header.
func (m *Mux) stream(f *frame) (*Stream, *violation) {
	if st, ok := m.find(f.id); ok {
		return st, nil
	}
	switch {
	case f.id%2 == 0 || f.id >= m.next:
		return nil, violated(protocolError, "a frame of type %d on stream %d, which is idle", f.kind, f.id)
	case f.kind == frameReset || f.kind == frameWindow || f.isOnlyEnd() || m.lost.has(f.id):
		return nil, nil
	}
	return nil, violated(streamClosed, "a frame of type %d on stream %d, which had ended", f.kind, f.id)
}

// cancelled are the streams that were ended here while the server might have sent more on
// them.
type cancelled struct {
	ids    []uint32
	oldest int    // the index of the oldest
	below  uint32 // streams up to this one are no more known
}

// maxCancelled bounds how many are known. Of older ones, it is assumed that they are among
// them: nothing is at stake but a complaint about the server.
const maxCancelled = 64

func (c *cancelled) add(id uint32) {
	if len(c.ids) < maxCancelled {
		c.ids = append(c.ids, id)
		return
	}
	c.below = max(c.below, c.ids[c.oldest])
	c.ids[c.oldest] = id
	c.oldest = (c.oldest + 1) % maxCancelled
}

func (c *cancelled) has(id uint32) bool {
	if id <= c.below {
		return true
	}
	for _, other := range c.ids {
		if other == id {
			return true
		}
	}
	return false
}
